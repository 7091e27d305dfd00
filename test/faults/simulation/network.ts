import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Duplex } from 'node:stream'
import type { Chance } from '../../chance.ts'

/** How the network and the receivers treat a request. */
export interface Weather {
  /** No connection is opened, and open ones carry nothing. */
  isCut: boolean
  /** The share of requests that fail: with an error, without an answer, or with an answer that is lost. */
  failing: number
}

/** A request that reached a receiver. */
export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly at: number
}

const LATENCY_MS = 40
/** A receiver that never answers would keep its connections. */
const HANG_MS = 120_000

/** What can come of a request that fails. */
const FATES = ['error', 'hang', 'lost'] as const
/** A receiver that always answers with an error. */
const BROKEN = '/broken'

/** The network of the simulation: every connection of this process leads to one receiver. */
export class SimulatedNetwork {
  readonly weather: Weather = { isCut: false, failing: 0 }
  readonly received: Received[] = []
  readonly #chance: Chance
  readonly #sockets = new Set<SimulatedSocket>()
  // The limits of time of the server are those of the machine.
  readonly #server = createServer({ headersTimeout: 0, requestTimeout: 0 }, (request, response) =>
    this.#receive(request, response),
  )

  constructor(chance: Chance) {
    this.#chance = chance
    const net = createRequire(import.meta.url)('node:net')
    net.connect = () => this.#connect()
    syncBuiltinESMExports()
  }

  /** Ends every connection of a process that was killed. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #connect(): SimulatedSocket {
    const [near, far] = [new SimulatedSocket(this), new SimulatedSocket(this)]
    near.peer = far
    far.peer = near
    this.#sockets.add(near)
    near.once('close', () => this.#sockets.delete(near))
    setTimeout(() => {
      if (near.destroyed) return
      if (this.weather.isCut) return void near.destroy(new Error('connect ECONNREFUSED'))
      near.connecting = false
      near.emit('connect')
      this.#server.emit('connection', far)
    }, this.latency())
    return near
  }

  latency(): number {
    return this.#chance.next() * LATENCY_MS
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    const isFailing = this.#chance.next() < this.weather.failing
    const fate = isFailing ? this.#chance.pick(FATES) : request.url === BROKEN ? 'error' : 'ok'
    request.on('error', () => {})
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      if (fate !== 'error') {
        const body = Buffer.concat(chunks).toString()
        this.received.push({ path: request.url!, headers: request.headers, body, at: Date.now() })
      }
      if (fate === 'hang') setTimeout(() => request.destroy(), HANG_MS)
      else if (fate === 'lost') request.destroy()
      else response.writeHead(fate === 'ok' ? 200 : 503, { 'content-type': 'application/json' }).end('{"ok":true}')
    })
  }
}

/** One end of a connection. */
class SimulatedSocket extends Duplex {
  readonly #network: SimulatedNetwork
  peer: SimulatedSocket | null = null
  connecting = true
  readonly remoteAddress = '203.0.113.1'

  constructor(network: SimulatedNetwork) {
    super({ allowHalfOpen: false })
    this.#network = network
    this.on('error', () => {})
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#deliver(chunk)
    done()
  }

  override _final(done: () => void): void {
    this.#deliver(null)
    done()
  }

  override _destroy(reason: Error | null, done: (reason: Error | null) => void): void {
    const peer = this.peer
    this.peer = null
    if (peer) setTimeout(() => peer.destroy(), this.#network.latency())
    done(reason)
  }

  /** What is sent while the network is cut is lost. The order of bytes is kept: all take the same time. */
  #deliver(chunk: Buffer | null): void {
    const { peer } = this
    if (!peer || this.#network.weather.isCut) return
    setTimeout(() => {
      if (!peer.destroyed && !peer.readableEnded) peer.push(chunk)
    }, 5)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
