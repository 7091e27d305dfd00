import { spawn } from 'node:child_process'
import { connectToRunning, type GivenSocket } from '@tildebase/server'

/** Says to the new process that it takes the place of a running one. */
const MARK = 'TILDEBASE_REPLACES'
/** The connection to the running service is the channel that Node receives sockets over. */
const CHANNEL_FD = 3
const LATE_MS = 30_000

/**
 * Runs this command again in a process that receives the socket of the service that runs on a data folder, and ends as it
 * ends. False when no service runs there.
 */
export async function replaceRunning(data: string): Promise<boolean> {
  const connection = await connectToRunning(data)
  if (connection === null) return false
  connection.write('socket\n')
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', connection],
    env: { ...process.env, [MARK]: '1', NODE_CHANNEL_FD: String(CHANNEL_FD) },
  })
  connection.destroy()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A terminal sends its Ctrl-C to the child as well: passing it on would stop the child twice.
    process.on(signal, () => void (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)))
  }
  child.once('exit', (status, signal) => process.exit(signal === null ? status : 1))
  return true
}

/** The handle of the socket of the service whose place this process takes; null when it takes none. */
export async function socketOfRunning(): Promise<GivenSocket | null> {
  if (process.env[MARK] !== '1') return null
  delete process.env[MARK]
  return new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error('The running service does not hand over its socket.')), LATE_MS)
    process.once('message', (_, handle) => {
      clearTimeout(late)
      process.disconnect?.()
      done(handle as unknown as GivenSocket)
    })
  })
}
