import { spawn } from 'node:child_process'
import type { Server, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { log } from '../log.ts'

const PROGRAM = fileURLToPath(import.meta.resolve('#programs/socket-sender'))
/** What the sender finds its sockets under. */
const CHANNEL_FD = 3
export const LISTENING_FD = 4

/**
 * Sends the socket that a server listens on to the process at the other end of a connection. Both processes then have the
 * same queue of new connections, so that none is lost when one of them closes it. Node sends sockets to children only, over
 * the channel that it starts them with: a child of ours whose channel is this connection sends it to a process that was
 * started with the other end as its channel.
 */
export function sendSocket(server: Server, connection: Socket): void {
  const { _handle: handle } = server as unknown as { readonly _handle: { readonly fd: number } | null }
  if (handle === null) return void connection.destroy()
  const sender = spawn(process.execPath, [PROGRAM], {
    stdio: ['ignore', 'ignore', 'inherit', connection, handle.fd],
    env: { ...process.env, NODE_CHANNEL_FD: String(CHANNEL_FD) },
  })
  sender.once('error', (reason) => log('error', 'The socket could not be handed over', { reason: String(reason) }))
  sender.once('exit', () => connection.destroy())
}
