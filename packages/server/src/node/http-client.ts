import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AnswerReader } from './http-answer.ts'

/** Idle connections of one address; and for how long, which is less than most servers allow. */
const MOST_IDLE = 8
const IDLE_MS = 4_000
const MOST_SESSIONS = 1_000

/** A request that is sent as a whole. */
interface ClientRequest {
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** What became of a request. */
export interface Exchange {
  readonly answer: AnswerReader
  /** Whether the other side may have closed the connection before it received the request. */
  readonly mayRepeat: boolean
  readonly error: Error | null
}

/**
 * Sends POST requests over connections that are kept: one request at a time on each. Node's own client needs several
 * times as much CPU time for a request as this.
 */
export class HttpClient {
  readonly #lookup: LookupFunction | undefined
  readonly #idle = new Map<string, Connection[]>()
  readonly #sessions = new Map<string, Buffer>()

  constructor(lookup: LookupFunction | undefined) {
    this.#lookup = lookup
  }

  /**
   * Sends a request. `onAnswer` is called when more of the answer has arrived, and when it has ended or failed; the
   * connection is closed if it returns false. Returns how to give up.
   */
  post(request: ClientRequest, fresh: boolean, onAnswer: (exchange: Exchange) => boolean, keepsBody: boolean) {
    const { origin } = request.url
    const bytes = requestBytes(request)
    const connection = (fresh ? undefined : this.#take(origin)) ?? this.#open(request.url)
    connection.send(bytes, keepsBody, onAnswer, () => this.#keep(origin, connection))
    return (reason: Error) => connection.fail(reason)
  }

  #take(origin: string): Connection | undefined {
    const idle = this.#idle.get(origin)
    const connection = idle?.pop()
    if (idle?.length === 0) this.#idle.delete(origin)
    return connection
  }

  #keep(origin: string, connection: Connection): void {
    const idle = this.#idle.get(origin)
    if (idle && idle.length >= MOST_IDLE) return void connection.close()
    if (idle) idle.push(connection)
    else this.#idle.set(origin, [connection])
    connection.rest(() => {
      const others = this.#idle.get(origin)?.filter((other) => other !== connection) ?? []
      if (others.length > 0) this.#idle.set(origin, others)
      else this.#idle.delete(origin)
    })
  }

  #open({ protocol, hostname, port, origin }: URL): Connection {
    const host = hostname.replace(/^\[|\]$/g, '')
    const lookup = this.#lookup
    const isSecure = protocol === 'https:'
    const address = { host, port: Number(port || (isSecure ? 443 : 80)), ...(lookup && { lookup }) }
    if (!isSecure) return new Connection(connect(address))
    const session = this.#sessions.get(origin)
    const name = isIP(host) === 0 ? { servername: host } : {}
    const socket = connectTls({ ...address, ...name, ALPNProtocols: ['http/1.1'], ...(session && { session }) })
    socket.on('session', (next) => {
      if (this.#sessions.size >= MOST_SESSIONS) this.#sessions.clear()
      this.#sessions.set(origin, next)
    })
    return new Connection(socket)
  }
}

/** A connection, with one request at a time. */
class Connection {
  readonly #socket: Socket
  #answer: AnswerReader | null = null
  #onAnswer: (exchange: Exchange) => boolean = () => true
  #onComplete = () => {}
  #onClose = () => {}
  #isReused = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (bytes) => this.#take(bytes as Buffer))
    socket.on('end', () => this.#end())
    socket.on('error', (reason) => this.fail(reason))
    socket.on('timeout', () => this.close())
    socket.on('close', () => this.fail(new Error('The connection was closed before the answer.')))
  }

  send(
    request: readonly [text: string, encoding: 'latin1' | 'utf8'],
    keepsBody: boolean,
    onAnswer: (exchange: Exchange) => boolean,
    onComplete: () => void,
  ): void {
    if (this.#isReused) this.#socket.ref().setTimeout(0)
    this.#answer = new AnswerReader(keepsBody)
    this.#onAnswer = onAnswer
    this.#onComplete = onComplete
    this.#socket.write(...request)
  }

  /** Waits for the next request, and does not keep the process running meanwhile. */
  rest(onClose: () => void): void {
    this.#isReused = true
    this.#onClose = onClose
    this.#socket.setTimeout(IDLE_MS)
    this.#socket.unref()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Ends the connection, and the request that is in progress. */
  fail(error: Error): void {
    const answer = this.#answer
    this.#answer = null
    this.#socket.destroy()
    if (answer) this.#onAnswer({ answer, error, mayRepeat: this.#isReused && !answer.hasBegun })
    else this.#onClose()
  }

  #take(bytes: Buffer): void {
    const answer = this.#answer
    // Nothing was asked.
    if (!answer) return void this.close()
    try {
      answer.take(bytes)
    } catch (reason) {
      return void this.fail(reason as Error)
    }
    if (answer.status > 0) this.#tell(answer)
  }

  #tell(answer: AnswerReader): void {
    if (answer.isComplete) this.#answer = null
    const goesOn = this.#onAnswer({ answer, error: null, mayRepeat: false })
    if (answer.isComplete && answer.isKept && !this.#socket.destroyed) this.#onComplete()
    else if (answer.isComplete || !goesOn) {
      this.#answer = null
      this.close()
    }
  }

  #end(): void {
    const answer = this.#answer
    answer?.end()
    if (answer?.isComplete) this.#tell(answer)
    else this.fail(new Error('The connection was closed before the answer.'))
  }
}

/** The text of a request, and how to write it: plain ASCII need not be encoded. */
function requestBytes({ url, headers, body }: ClientRequest): [text: string, encoding: 'latin1' | 'utf8'] {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`
  if (url.username !== '' || url.password !== '') head += `authorization: Basic ${credentialsOf(url)}\r\n`
  for (const name in headers) {
    const value = headers[name]!
    if (/[^\t\x20-\x7e]/.test(value)) throw new Error(`The header ${name} has a character that is not allowed.`)
    head += `${name}: ${value}\r\n`
  }
  const length = Buffer.byteLength(body)
  return [`${head}content-length: ${length}\r\n\r\n${body}`, length === body.length ? 'latin1' : 'utf8']
}

function credentialsOf({ username, password }: URL): string {
  return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
}
