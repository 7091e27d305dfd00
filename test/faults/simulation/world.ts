import { join } from 'node:path'
import { readSettings } from '@tildebase/server'
import type { Body, HttpRequest, HttpResponse } from '../../../packages/server/src/doors/http.ts'
import type { Connection } from '../../../packages/server/src/doors/limits/admission.ts'
import { fetchResponseOf, httpRequestOf, withBody } from '../../../packages/server/src/host/fetch-adapter.ts'
import { openService, type Service } from '../../../packages/server/src/node/service.ts'
import type { Chance } from '../../chance.ts'
import { ROOT } from '../../root-key.ts'
import { SimulatedDisk } from './disk.ts'
import { SimulatedNetwork } from './network.ts'
import type { SimulatedTime } from './time.ts'
// The service loads it with the first request that it sends. Loading takes real time, which the simulation does not have.
import '../../../packages/server/src/node/outbound/outbound-connections.ts'

const PROGRAM = join(import.meta.dirname, 'clients/program.ts')
const ADDRESS = 'http://127.0.0.1:8787'
/** How long a client waits for an answer. */
const PATIENCE = 60_000

export interface Reply {
  readonly status: number
  readonly body: any
  /** A cookie that it sets. */
  readonly cookie?: string
}

/** A message of a live stream. */
export interface Message {
  readonly id: string
  readonly data: any
}

/** What the world has done so far. */
export interface Counts {
  requests: number
  unanswered: number
  refused: number
  kills: number
  powerCuts: number
  diskFaults: number
  restarts: number
}

/** The whole service in one process, on a simulated clock, network and disk. */
export class World {
  readonly time: SimulatedTime
  readonly disk: SimulatedDisk
  readonly network: SimulatedNetwork
  readonly counts: Counts = {
    ...{ requests: 0, unanswered: 0, refused: 0, kills: 0, powerCuts: 0, diskFaults: 0, restarts: 0 },
  }
  /** The tenants that have answered a request. */
  readonly tenants = new Set<string>()
  #service: Service | null = null
  /** Called when the process is killed: no client gets an answer from it. */
  #killed = new Set<() => void>()

  constructor(time: SimulatedTime, root: string, chance: Chance) {
    this.time = time
    this.disk = new SimulatedDisk(root, chance.fork())
    this.network = new SimulatedNetwork(chance.fork())
  }

  /** Whether the process was killed and its last work is not over: nothing that it does counts. */
  get isGhost(): boolean {
    return this.disk.isCrashed
  }

  /** Starts the service. Throws what it says when it refuses to start. */
  async start(): Promise<void> {
    const settings = readSettings(
      { port: '0', workers: '0', data: this.disk.data, config: PROGRAM },
      {
        ...{ TILDE_ROOT_KEY: ROOT, TILDE_WEBHOOKS_INSECURE: '1', TILDE_SCRUB: '0', TILDE_OPEN_TENANTS: '1' },
        ...{ TILDE_BASE_URL: ADDRESS, TILDE_SIGNUP: 'open' },
      },
    )
    const service = await openService(settings)
    service.begin(ADDRESS)
    this.#service = service
  }

  /** Stops the service in an orderly way. */
  async stop(): Promise<void> {
    const service = this.#service!
    this.#service = null
    await service.rest()
    await service.close()
    this.network.reset()
    this.time.forget()
  }

  /** Kills the process, with the power or without. */
  async crash(power: boolean): Promise<void> {
    this.counts[power ? 'powerCuts' : 'kills']++
    this.#service = null
    for (const killed of this.#killed) killed()
    this.#killed.clear()
    this.disk.end()
    this.network.reset()
    this.time.forget()
    // What the killed process would do next finds that all its files fail.
    await this.time.sleep(1)
    this.time.forget()
    this.disk.crash(power)
  }

  /** Sends a request to the gateway; null when the process is killed before the answer, or there is none in time. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply | null> {
    this.counts.requests++
    const service = this.#service
    const client = new Client()
    const answer = service && (await this.#unlessKilled(client.send(service, method, path, body, headers)))
    client.leave(answer !== null)
    // After the operation of the disk at which the process is killed, nothing leaves it.
    const reply = this.isGhost ? null : answer
    const slug = /^\/~([^/]+)/.exec(path)?.[1]
    if (slug !== undefined && reply && reply.status < 300) this.tenants.add(slug)
    if (!reply) this.counts.unanswered++
    else if (reply.status >= 500) this.counts.refused++
    return reply
  }

  /** Reads a live stream for so many milliseconds, or until the process is killed. Returns the messages that came. */
  async listen(path: string, ms: number, headers: Record<string, string> = {}): Promise<Message[]> {
    this.counts.requests++
    const service = this.#service
    if (!service) return []
    const client = new Client()
    const messages: Message[] = []
    const chunks = client.read(service, path, { ...headers, accept: 'text/event-stream' })
    const read = async () => {
      for await (const message of messagesOf(chunks)) if (!this.isGhost) messages.push(message)
    }
    // A disk that fails cuts the connection of a stream.
    const cut = (reason: unknown) => {
      if (this.disk.hits + this.counts.diskFaults === 0) throw reason
    }
    await Promise.race([this.#unlessKilled(read().catch(cut)), this.time.sleep(ms)])
    client.leave(false)
    return [...messages]
  }

  #unlessKilled<T>(work: Promise<T>): Promise<T | null> {
    return new Promise((done, failed) => {
      const killed = () => done(null)
      this.#killed.add(killed)
      void this.time.sleep(PATIENCE).then(killed)
      work.then(done, failed).finally(() => this.#killed.delete(killed))
    })
  }
}

/** A client of the gateway with a connection for one request. */
class Client implements Connection {
  readonly address = '203.0.113.7'
  readonly #endings: (() => void)[] = []
  readonly #closings: (() => void)[] = []
  #request: HttpRequest | null = null

  onEnd(listener: () => void): void {
    this.#endings.push(listener)
  }

  onClose(listener: () => void): void {
    this.#closings.push(listener)
  }

  async readBody(): Promise<Body> {
    return (await withBody(this.#request!, 1_000_000)).body
  }

  /** Sends a request and reads the answer. */
  async send(
    service: Service,
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Reply> {
    const answer = fetchResponseOf(await this.#ask(service, method, path, body, headers), method)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
    const cookie = answer.headers.get('set-cookie')?.split(';')[0]
    return {
      status: answer.status,
      body: isJson && text !== '' ? JSON.parse(text) : text || null,
      ...(cookie && { cookie }),
    }
  }

  /** Reads a live stream until it ends, or the client leaves. */
  async *read(service: Service, path: string, headers: Record<string, string>): AsyncGenerator<string> {
    const { body } = await this.#ask(service, 'GET', path, undefined, headers)
    if (body === null || typeof body === 'string' || body instanceof Uint8Array) return
    const chunks = body[Symbol.asyncIterator]()
    this.#closings.push(() => void chunks.return?.())
    const decoder = new TextDecoder()
    for (let next = await chunks.next(); !next.done; next = await chunks.next())
      yield typeof next.value === 'string' ? next.value : decoder.decode(next.value, { stream: true })
  }

  /** Ends the connection, with the whole answer or before. */
  leave(isAnswered: boolean): void {
    if (!isAnswered) for (const listener of this.#closings) listener()
    for (const listener of this.#endings) listener()
  }

  async #ask(
    service: Service,
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<HttpResponse> {
    const { authorization = `Bearer ${ROOT}`, ...others } = headers
    const request = new Request(`${ADDRESS}${path}`, {
      method,
      headers: { ...(authorization && { authorization }), 'content-type': 'application/json', ...others },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    this.#request = httpRequestOf(request)
    return service.gateway.answer({ ...this.#request, body: null }, this)
  }
}

/** The messages of a live stream. */
async function* messagesOf(chunks: AsyncIterable<string>): AsyncGenerator<Message> {
  let rest = ''
  for await (const chunk of chunks) {
    const blocks = `${rest}${chunk}`.split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const [, id] = /^id: (.*)$/m.exec(block) ?? []
      const [, data] = /^data: (.*)$/m.exec(block) ?? []
      if (id !== undefined && data !== undefined) yield { id, data: JSON.parse(data) }
    }
  }
}
