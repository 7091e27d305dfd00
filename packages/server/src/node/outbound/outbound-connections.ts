import { createRequire } from 'node:module'
import type { LookupFunction, Socket } from 'node:net'
import type { OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'
import type { buildConnector, Client } from 'undici'

// Two of its files: its index would replace the dispatcher of `fetch` in the whole process.
const load = createRequire(import.meta.url)
const ClientOfOne: typeof Client = load('undici/lib/dispatcher/client.js')
const connector: typeof buildConnector = load('undici/lib/core/connect.js')

/** As many as the workflows of one tenant use at once: opening one costs more than a request. */
const MOST_KEPT = 64
/** How long a connection waits for its next request, unless the other side names a shorter time. */
const KEPT_MS = 60_000
const MOST_READ = 65_536

type Connect = (...parameters: Parameters<buildConnector.connector>) => Socket

/** Opens connections whose names are looked up by `lookup`, each time. Requests have a time limit of their own. */
export function createConnect(lookup: LookupFunction | undefined): Connect {
  // It returns the socket, which its type leaves out.
  return connector({ allowH2: false, timeout: 0, ...(lookup && { lookup }) } as object) as Connect
}

/** The connections to one origin. Each sends one request at a time; a few are kept for the next requests. */
export class Connections {
  readonly #origin: string
  readonly #connect: Connect
  readonly #emptied: () => void
  readonly #open = new Set<Connection>()
  readonly #kept: Connection[] = []

  /** `emptied` is called when the last connection is closed. */
  constructor(origin: string, connect: Connect, emptied: () => void) {
    this.#origin = origin
    this.#connect = connect
    this.#emptied = emptied
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  send(path: string, headers: readonly string[], asked: OutboundRequest): Promise<OutboundAnswer> {
    const { method = 'POST', body, timeoutMs, answerLimit } = asked
    return new Promise((done) => {
      const started = Date.now()
      const connection = this.#kept.pop() ?? this.#add()
      const chunks: Buffer[] = []
      let [status, length, isLate] = [0, 0, false]
      let answered: { readonly [name: string]: string } = {}
      // One clock over looking up, connecting, sending and waiting.
      const timer = setTimeout(() => {
        isLate = true
        this.#end(connection, new Error(`No answer within ${timeoutMs} ms.`))
      }, timeoutMs)
      connection.client.dispatch(
        { method: method as 'POST', path, headers: headers as string[], body: body === '' ? null : body },
        {
          onRequestStart() {},
          onResponseStart(_, code, given) {
            if (code < 200) return
            status = code
            answered = textsOf(given)
            if (answerLimit === undefined) done({ status })
          },
          // A little of an answer is read, so that its connection can be used again; a long one costs the connection.
          onResponseData: (_, chunk) => {
            length += chunk.length
            if (length > (answerLimit ?? MOST_READ)) this.#end(connection, new Error('The answer is too long.'))
            else if (answerLimit !== undefined) chunks.push(chunk)
          },
          onResponseEnd: () => {
            clearTimeout(timer)
            this.#keep(connection)
            done({ status, text: Buffer.concat(chunks).toString(), headers: answered })
          },
          onResponseError: (_, reason) => {
            clearTimeout(timer)
            const { wasUsed } = connection
            this.#end(connection, reason)
            if (status !== 0) return done({ error: 'The answer ended early, or is too long.' })
            // The other side may close a kept connection just when it is used again: this is not a failure.
            if (!wasUsed || isLate) return done({ error: reason.message || 'The connection failed.' })
            done(this.send(path, headers, { ...asked, timeoutMs: Math.max(timeoutMs - (Date.now() - started), 1) }))
          },
        },
      )
    })
  }

  #add(): Connection {
    const connection = new Connection(this.#origin, this.#connect, () => {
      if (this.#kept.includes(connection)) this.#end(connection, null)
    })
    this.#open.add(connection)
    return connection
  }

  #keep(connection: Connection): void {
    connection.wasUsed = true
    if (this.#kept.length < MOST_KEPT) this.#kept.push(connection)
    else this.#end(connection, null)
  }

  #end(connection: Connection, reason: Error | null): void {
    const place = this.#kept.indexOf(connection)
    if (place !== -1) this.#kept.splice(place, 1)
    connection.end(reason)
    if (this.#open.delete(connection) && this.isEmpty) this.#emptied()
  }
}

/** A client of one connection, which can be ended at any time, also while it connects. */
class Connection {
  readonly client: Client
  wasUsed = false
  #socket: Socket | undefined

  constructor(origin: string, connect: Connect, closed: () => void) {
    this.client = new ClientOfOne(origin, {
      connect: (options, done) => {
        this.#socket = connect(options, done)
      },
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
    })
    this.client.on('disconnect', () => {
      this.wasUsed = false
      closed()
    })
  }

  end(reason: Error | null): void {
    this.client.destroy(reason, () => {})
    this.#socket?.destroy()
  }
}

/** Headers as texts; those that came several times are joined. */
function textsOf(headers: { readonly [name: string]: string | string[] | undefined }): {
  readonly [name: string]: string
} {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}
