# Does what systemd does for a service with a socket: holds the socket, and passes it to one process after another.
# Each line on standard input restarts the service; the end of the input stops it.
import os
import signal
import socket
import sys

listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(("127.0.0.1", 0))
listening.listen(1024)
print(listening.getsockname()[1], flush=True)


def start():
    pid = os.fork()
    if pid == 0:
        if listening.fileno() == 3:
            os.set_inheritable(3, True)
        else:
            os.dup2(listening.fileno(), 3)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        # The first line of the input is for this process.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execv(sys.argv[1], sys.argv[1:])
    return pid


def stop(pid):
    os.kill(pid, signal.SIGTERM)
    _, status = os.waitpid(pid, 0)
    print("ended", os.waitstatus_to_exitcode(status), flush=True)


running = start()
for _ in sys.stdin:
    stop(running)
    running = start()
stop(running)
