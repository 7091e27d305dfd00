import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { JsonLines } from './json-lines.ts'
import type { FromSuccessor } from './messages.ts'

/** The longest path of a socket that every system takes. */
const LONGEST = 100

/** Where a running service listens for the one that takes its place; null where that cannot be. */
function controlPath(data: string): string | null {
  const path = join(data, 'serve.sock')
  return process.platform === 'win32' || Buffer.byteLength(path) > LONGEST ? null : path
}

/** Connects to the service that runs on a data folder; null when none does. */
export function connectToRunning(data: string): Promise<Socket | null> {
  const path = controlPath(data)
  if (path === null) return Promise.resolve(null)
  return new Promise((done) => {
    const socket = connect(path, () => done(socket))
    socket.once('error', () => done(null))
  })
}

/** What a newcomer may ask for. */
export interface Asked {
  /** Sends the socket that is listened on over the connection. */
  readonly sendSocket: (connection: Socket) => void
  /** Hands everything over. */
  readonly succeed: (line: JsonLines<FromSuccessor>) => void
}

/** Waits for a service that takes the place of this one. Only the owner of the data folder can connect. */
export async function listenForSuccessor(data: string, asked: Asked): Promise<Server | null> {
  const path = controlPath(data)
  if (path === null) return null
  // Left by a service that was killed: two that run have different files open, and the second fails before this.
  rmSync(path, { force: true })
  const server = createServer((connection) => {
    connection.on('error', () => connection.destroy())
    connection.once('data', (bytes) => {
      connection.pause()
      const word = bytes.toString('utf8').trim()
      if (word === 'socket') asked.sendSocket(connection)
      else if (word === 'succeed') asked.succeed(new JsonLines(connection))
      else connection.destroy()
    })
  })
  await new Promise<void>((done, failed) => server.once('error', failed).listen(path, done))
  chmodSync(path, 0o600)
  server.unref()
  return server
}
