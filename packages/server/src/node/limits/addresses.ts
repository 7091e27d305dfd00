import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '@tildebase/nouns'
import { TokenBuckets } from '../../doors/limits/token-buckets.ts'
import { type ClientAddresses, groupOf, peerOf } from '../http/client-address.ts'
import type { RefusalReason, Refusals } from '../watch/refusals.ts'

interface AddressBoundsOptions {
  readonly addresses: ClientAddresses
  /** Sockets and requests of one address at a time. */
  readonly sockets: number
  readonly requests: number
  readonly refusals: Refusals
}

/** How many requests of one socket may wait for their answers. */
const MOST_PIPELINED = 64

/** What is known of a socket. */
export interface SocketState {
  /** The address of its requests. Null behind a proxy, which names another with each request. */
  readonly address: string | null
  pipelined: number
  /** Nothing that comes over it is answered any more: what was sent after the request in progress is not looked at. */
  isOver: boolean
}

/** A request that counts for its address until it is released. */
export class CountedRequest {
  readonly address: string
  /** Whether others of its connection are in progress. */
  readonly isPipelined: boolean
  readonly #socket: SocketState
  readonly #count: Count

  constructor(address: string, socket: SocketState, count: Count) {
    this.address = address
    this.isPipelined = ++socket.pipelined > 1
    this.#socket = socket
    this.#count = count
  }

  release(): void {
    this.#socket.pipelined--
    this.#count.value--
  }
}

/** Bounds what one address has open at a time. */
export class AddressBounds {
  readonly #options: AddressBoundsOptions
  readonly #sockets: BoundedCounts
  readonly #requests: BoundedCounts
  readonly #states = new WeakMap<Socket, SocketState>()

  constructor(options: AddressBoundsOptions) {
    this.#options = options
    this.#sockets = new BoundedCounts(options.sockets)
    this.#requests = new BoundedCounts(options.requests)
  }

  /** Counts a socket until it closes. Returns the problem when its address has too many. */
  takeSocket(socket: Socket): Problem | null {
    const { address } = this.stateOf(socket)
    // A proxy opens sockets for all of its clients.
    if (address === null) return null
    const count = this.#sockets.take(address)
    if (count === null) {
      // What comes over it before it closes is refused, too.
      this.stateOf(socket).pipelined = MOST_PIPELINED
      return this.#tooMany('sockets', 'connections', this.#options.sockets)
    }
    socket.once('close', () => void count.value--)
    return null
  }

  /** Counts a request until it is released, and removes what it must not say. Throws when its address has too many. */
  takeRequest(request: IncomingMessage, state: SocketState): CountedRequest {
    const { addresses } = this.#options
    // Another node of ours believes what we pass on.
    if (request.headers['x-forwarded-proto'] !== undefined && !addresses.isTrusted(request))
      delete request.headers['x-forwarded-proto']
    const address = addresses.isNode?.(request)
      ? addresses.namedByNode(request)
      : (state.address ?? addresses.of(request))
    if (state.pipelined >= MOST_PIPELINED)
      throw this.#tooMany('pipelined', 'requests of one connection', MOST_PIPELINED)
    const count = this.#requests.take(address)
    if (count === null) throw this.#tooMany('address_requests', 'requests', this.#options.requests)
    return new CountedRequest(address, state, count)
  }

  stateOf(socket: Socket): SocketState {
    const known = this.#states.get(socket)
    if (known) return known
    const peer = peerOf(socket)
    const state = { address: this.#options.addresses.isProxy(peer) ? null : groupOf(peer), pipelined: 0, isOver: false }
    this.#states.set(socket, state)
    return state
  }

  #tooMany(reason: RefusalReason, what: string, limit: number): Problem {
    this.#options.refusals.count(reason)
    const message = `Your address has ${limit} open ${what}, which is the limit.`
    return new Problem('rate_limited', message, { limit, retryAfter: 1 })
  }
}

const MINUTE = 60_000
const HOUR = 3_600_000
/** Requests without a key that one address may make in a minute: to sign in, to register a client, to get tokens. */
const OPEN_PER_ADDRESS = 120
/** How many times as many sign-ups as one address has all of them have together. */
const ADDRESSES = 100

/** Bounds the requests of an address that need no key, before a tenant is asked. */
export class AddressRates {
  readonly #signupLimit: number
  readonly #open: TokenBuckets
  readonly #signups: TokenBuckets
  readonly #allSignups: TokenBuckets
  readonly #refusals: Refusals

  /** `signupLimit` is the number of sign-ups per hour and address; 0 turns it off. */
  constructor(signupLimit: number, refusals: Refusals, now: () => number) {
    this.#signupLimit = signupLimit
    this.#open = new TokenBuckets(OPEN_PER_ADDRESS, MINUTE, now)
    this.#signups = new TokenBuckets(signupLimit, HOUR, now)
    this.#allSignups = new TokenBuckets(signupLimit * ADDRESSES, HOUR, now)
    this.#refusals = refusals
  }

  /** Refuses a request without a key that is one too many. */
  admitOpen(address: string): void {
    const message = `Your address may send at most ${OPEN_PER_ADDRESS} requests per minute without a key.`
    this.#take(this.#open, address, 'open_paths', message, OPEN_PER_ADDRESS)
  }

  /** Refuses a sign-up that is one too many. */
  admitSignup(address: string): void {
    const perAddress = this.#signupLimit
    if (perAddress === 0) return
    const message = (subject: string, limit: number) => `${subject} may sign up at most ${limit} times per hour.`
    this.#take(this.#signups, address, 'signups', message('Your address', perAddress), perAddress)
    const all = perAddress * ADDRESSES
    this.#take(this.#allSignups, '', 'signups', message('This service', all), all)
  }

  #take(buckets: TokenBuckets, key: string, reason: RefusalReason, message: string, limit: number): void {
    const left = buckets.take(key)
    if (left >= 0) return
    this.#refusals.count(reason)
    const retryAfter = Math.max(1, Math.ceil(buckets.secondsTo(-left)))
    throw new Problem('rate_limited', message, { limit, retryAfter })
  }
}

/** What one key has in progress. */
interface Count {
  value: number
}

/** Keys without anything in progress are forgotten when there are more than this. */
const MOST_KEPT = 1_000

/** What each key has in progress. A key that has nothing is kept for a while: most come again at once. */
export class Counts {
  readonly #counts = new Map<string, Count>()

  of(key: string): Count {
    return this.#counts.get(key) ?? this.#begin(key)
  }

  #begin(key: string): Count {
    if (this.#counts.size >= MOST_KEPT)
      for (const [old, { value }] of this.#counts) if (value === 0) this.#counts.delete(old)
    const count = { value: 0 }
    this.#counts.set(key, count)
    return count
  }
}

/** Counts what is in progress for each key, and allows so many at once. */
export class BoundedCounts {
  readonly #most: number
  readonly #counts = new Counts()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts one more, until the count is released. Null when there are as many as are allowed. */
  take(key: string): Count | null {
    const count = this.#counts.of(key)
    if (count.value >= this.#most) return null
    count.value++
    return count
  }
}
