import { readFileSync } from 'node:fs'
import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Sql } from 'postgres'
import type { Address } from './hosts.ts'

type Value = string | number | boolean | null | Uint8Array
/** A row of a result. Each statement knows the types of its own columns. */
// biome-ignore lint/suspicious/noExplicitAny: TypeScript cannot know what a text of SQL selects.
export type Row = { readonly [column: string]: any }

type Run = (text: string, values?: readonly Value[]) => Promise<readonly Row[]>
export type Admit = (run: Run) => Promise<void>

const CONNECT_MS = 3_000
/** States of a connection that is of no further use: it is going down, or it leads to a standby. */
const UNUSABLE = /^(?:08|57P|25006|53300)/

/**
 * One connection to the primary, made when it is needed and again after a failure. A statement that takes too long
 * ends the connection and not the statement: a cancelled commit would count as done before the standby has it.
 */
export class Database {
  readonly #address: Address
  readonly #name: string
  readonly #timeout: number
  readonly #admit: Admit
  #connection: Promise<Sql> | null = null
  /** The host that was the primary last. */
  #next = 0
  #closed = false

  /** `admit` sees a primary before it is used, and throws to refuse it. */
  constructor(address: Address, name: string, timeout: number, admit: Admit = async () => {}) {
    this.#address = address
    this.#name = name
    this.#timeout = timeout
    this.#admit = admit
  }

  /** Runs one statement. When it fails, it may have been done. */
  async query(text: string, values: readonly Value[] = [], timeout = this.#timeout): Promise<readonly Row[]> {
    this.#connection ??= this.#connect()
    const under = this.#connection
    let sql: Sql
    try {
      sql = await under
    } catch (reason) {
      if (this.#connection === under) this.#connection = null
      throw reason
    }
    try {
      return (await inTime(sql.unsafe(text, values as never[], { prepare: true }), timeout)) as unknown as Row[]
    } catch (reason) {
      const { code } = reason as { code?: string }
      if (code === undefined || !/^\d/.test(code) || UNUSABLE.test(code)) this.#drop(under, sql)
      throw reason
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const sql = await this.#connection?.catch(() => null)
    await sql?.end({ timeout: 1 })
  }

  #drop(connection: Promise<Sql>, sql: Sql): void {
    if (this.#connection === connection) this.#connection = null
    void sql.end({ timeout: 0 }).catch(() => {})
  }

  /** Looks for the primary, beginning with the host that was it last. */
  async #connect(): Promise<Sql> {
    if (this.#closed) throw new Error('The connection to the log is closed.')
    const { default: postgres } = await import('postgres')
    const { hosts, database, user, password } = this.#address
    let last: unknown = null
    for (let tries = 0; tries < hosts.length; tries++) {
      const { host, port } = hosts[this.#next]!
      let isUsed = false
      const sql = postgres({
        host,
        port,
        // The driver would connect again, perhaps to a machine that must not be used.
        socket: () => {
          if (isUsed) throw new Error('The connection to the log has ended.')
          isUsed = true
          return openSocket(host, port)
        },
        database,
        user,
        password,
        ssl: encryptionOf(this.#address, host),
        max: 1,
        connect_timeout: CONNECT_MS / 1_000,
        idle_timeout: 0,
        max_lifetime: null,
        fetch_types: false,
        onnotice: () => {},
        connection: { application_name: this.#name, synchronous_commit: 'on' },
      } as never) as Sql
      try {
        const [row] = await inTime(sql.unsafe('SELECT pg_is_in_recovery() AS standby'), this.#timeout)
        if (row?.standby === true) throw new Error(`${host}:${port} is a standby.`)
        await this.#admit(async (text, values) => await inTime(sql.unsafe(text, values as never[]), this.#timeout))
        return sql
      } catch (reason) {
        last = reason
      }
      void sql.end({ timeout: 0 }).catch(() => {})
      this.#next = (this.#next + 1) % hosts.length
    }
    throw last
  }
}

function openSocket(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port })
  const opened = new Promise<Socket>((done, failed) => {
    socket.once('connect', () => done(socket)).once('error', failed)
  })
  return inTime(opened, CONNECT_MS).catch((reason) => {
    socket.destroy()
    throw reason
  })
}

function encryptionOf({ ssl, ca }: Address, host: string): false | ConnectionOptions {
  if (ssl === false) return false
  if (ssl === 'require') return { rejectUnauthorized: false }
  // The driver opens the socket, so Node does not know the name that the certificate must have.
  return { ...(isIP(host) === 0 && { servername: host }), host, ...(ca !== null && { ca: readFileSync(ca) }) }
}

function inTime<T>(work: Promise<T> | PromiseLike<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error(`The log did not answer within ${ms} ms.`)), ms)
  })
  return Promise.race([Promise.resolve(work), late]).finally(() => clearTimeout(timer))
}
