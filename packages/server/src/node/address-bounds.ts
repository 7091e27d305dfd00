import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '@tildebase/nouns'
import { BoundedCounts } from './bounded-counts.ts'
import { type ClientAddresses, groupOf, peerOf } from './client-address.ts'
import type { RefusalReason, Refusals } from './watch/refusals.ts'

export interface AddressBoundsOptions {
  readonly addresses: ClientAddresses
  /** Sockets and requests of one address at a time. */
  readonly sockets: number
  readonly requests: number
  readonly refusals: Refusals
}

/** How many requests of one socket may wait for their answers. */
const MOST_PIPELINED = 64

/** Bounds what one address has open at a time. */
export class AddressBounds {
  readonly #options: AddressBoundsOptions
  readonly #sockets: BoundedCounts
  readonly #requests: BoundedCounts
  readonly #pipelined = new WeakMap<Socket, number>()

  constructor(options: AddressBoundsOptions) {
    this.#options = options
    this.#sockets = new BoundedCounts(options.sockets)
    this.#requests = new BoundedCounts(options.requests)
  }

  /** Counts a socket until it closes. Returns the problem when its address has too many. */
  takeSocket(socket: Socket): Problem | null {
    const peer = peerOf(socket)
    // A proxy opens sockets for all of its clients.
    if (this.#options.addresses.isProxy(peer)) return null
    const address = groupOf(peer)
    if (!this.#sockets.take(address)) {
      // What comes over it before it closes is refused, too.
      this.#pipelined.set(socket, MOST_PIPELINED)
      return this.#tooMany('sockets', 'connections', this.#options.sockets)
    }
    socket.once('close', () => this.#sockets.give(address))
    return null
  }

  /** Counts a request until its answer is over, and returns its address. Throws when the address has too many. */
  takeRequest(request: IncomingMessage, response: ServerResponse): string {
    const { socket } = request
    const address = this.#options.addresses.of(request)
    const pipelined = (this.#pipelined.get(socket) ?? 0) + 1
    if (pipelined > MOST_PIPELINED) throw this.#tooMany('pipelined', 'requests of one connection', MOST_PIPELINED)
    if (!this.#requests.take(address)) throw this.#tooMany('address_requests', 'requests', this.#options.requests)
    this.#pipelined.set(socket, pipelined)
    response.once('close', () => {
      this.#pipelined.set(socket, (this.#pipelined.get(socket) ?? 1) - 1)
      this.#requests.give(address)
    })
    return address
  }

  #tooMany(reason: RefusalReason, what: string, limit: number): Problem {
    this.#options.refusals.count(reason)
    const message = `Your address has ${limit} ${what} under way, and may not have more.`
    return new Problem('rate_limited', message, { limit, retryAfter: 1 })
  }
}
