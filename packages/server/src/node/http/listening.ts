import type { AddressInfo, Server } from 'node:net'
import { SettingError } from '../../host/settings/setting-error.ts'

/** A socket that another process listens on, or did: connections that come meanwhile wait in it. A number, or a handle. */
export type GivenSocket = { readonly fd: number }

/** The first file descriptor that systemd passes. */
const FIRST_FD = 3

/** The socket that systemd passes to a service (`LISTEN_FDS`); null when it passes none. */
export function activatedSocket(env: NodeJS.ProcessEnv): GivenSocket | null {
  const { LISTEN_FDS: count, LISTEN_PID: pid } = env
  if (count === undefined || (pid !== undefined && Number(pid) !== process.pid)) return null
  // They are meant for this process alone.
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete env[name]
  if (Number(count) === 1) return { fd: FIRST_FD }
  throw new SettingError(`LISTEN_FDS is ${count}: pass one socket, with one ListenStream= in the socket unit.`)
}

/** Listens on a socket that was given, or else on a port; the address for clients. */
export async function listen(server: Server, given: GivenSocket | null, port: number, host: string): Promise<string> {
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    if (given) server.listen(given, done)
    else server.listen(port, host, done)
  })
  const address = server.address() as AddressInfo | string
  if (typeof address === 'string') return 'http://localhost'
  const name = given ? address.address : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`
}
