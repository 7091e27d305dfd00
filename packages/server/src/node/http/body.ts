import type { IncomingMessage } from 'node:http'
import { Problem } from '@tildebase/nouns'
import type { Body, BodyWay } from '../../doors/http.ts'
import { followedBy } from '../../host/fetch-adapter.ts'
import type { BodyMemory, HeldBody } from '../limits/bodies.ts'
import { markOwn } from '../own-bytes.ts'
import type { Refusals } from '../watch/refusals.ts'

export interface UploadOptions {
  /** The largest body that is held as a whole. */
  readonly bodyLimit: number
  /** How long a sender may send nothing in the middle of a body, and the time over which its pace is measured. */
  readonly bodyTimeout: number
  readonly bodyMemory: BodyMemory
  readonly refusals: Refusals
}

/** Who is charged for a body that is held. */
export interface BodyOwner {
  readonly tenant: string
  readonly address: string
}

/** Calls the listener when the request is over, and its body no longer held. */
interface Ending {
  onEnd(listener: () => void): void
}

/** A body that is held as a whole may take as many times the longest pause. */
const MOST_PAUSES = 10
/** How long the rest of a refused body is read and thrown away. */
const LINGER_MS = 30_000

/** The body of a request that has one: bit by bit for those who take it so, else as a whole. */
export function bodyOf(
  request: IncomingMessage,
  way: BodyWay,
  owner: BodyOwner,
  ending: Ending,
  options: UploadOptions,
): Body | Promise<Body> {
  const isTooLong = Number(request.headers['content-length']) > options.bodyLimit
  if (way === 'stream' || (way === 'any' && isTooLong)) return flowing(request, options)
  if (isTooLong) throw tooLarge(options.bodyLimit)
  return new Promise((done, failed) => {
    const upload = new HeldUpload(request, owner, options, way === 'any', done, failed)
    ending.onEnd(() => upload.release())
  })
}

/** Whether there is more of the body to come. */
export function isUnfinished(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed && hasBody(request)
}

/**
 * Continues once the body is over that was answered before its end, and throws away what comes: most senders read the
 * answer only then, and a connection that is closed on them loses it.
 */
export function afterBody(request: IncomingMessage, goOn: () => void): void {
  const late = setTimeout(() => request.destroy(), LINGER_MS).unref()
  const over = () => {
    clearTimeout(late)
    request.off('end', over).off('close', over)
    goOn()
  }
  request.on('end', over).on('close', over).resume()
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** A body that is read as a whole. A class, since every write has one: its methods are made once. */
class HeldUpload implements HeldBody {
  readonly #request: IncomingMessage
  readonly #options: UploadOptions
  /** Whether a body that is too large is handed over bit by bit. */
  readonly #mayFlow: boolean
  readonly #done: (body: Body) => void
  readonly #failed: (reason: unknown) => void
  readonly #pace: Pace
  readonly #latest: number
  readonly #chunks: Buffer[] = []
  #length = 0
  #isOver = false
  readonly tenant: string
  readonly address: string
  bytes = 0
  isComplete = false
  place = -1
  heardAt: number

  constructor(
    request: IncomingMessage,
    owner: BodyOwner,
    options: UploadOptions,
    mayFlow: boolean,
    done: (body: Body) => void,
    failed: (reason: unknown) => void,
  ) {
    this.#request = request
    this.#options = options
    this.#mayFlow = mayFlow
    this.#done = done
    this.#failed = failed
    this.heardAt = Date.now()
    this.#latest = this.heardAt + MOST_PAUSES * options.bodyTimeout
    this.#pace = new Pace(options.bodyTimeout)
    this.tenant = owner.tenant
    this.address = owner.address
    options.bodyMemory.hold(this)
    request.on('data', this.#take)
    request.on('end', () => this.#finish())
    request.on('error', () => this.giveUp(endedEarly()))
  }

  stalled(): void {
    this.giveUp(tooSlow(this.#options))
  }

  /** The body is no longer held. */
  release(): void {
    this.#options.bodyMemory.release(this)
  }

  /** Ends the body before its end. */
  giveUp(reason: unknown): void {
    if (!this.#end()) return
    this.#chunks.length = 0
    this.release()
    this.#failed(reason)
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#isOver) return
    try {
      this.#chunks.push(chunk)
      if (this.#mayFlow && this.#length + chunk.length > this.#options.bodyLimit) this.#flow()
      else this.#count(chunk.length)
    } catch (reason) {
      this.giveUp(reason)
    }
  }

  /** Hands over what came so far with the rest to come: it is too much to be held. */
  #flow(): void {
    if (!this.#end()) return
    this.#request.off('data', this.#take).pause()
    this.isComplete = true
    this.#done(followedBy(this.#chunks, flowing(this.#request, this.#options)))
  }

  #count(bytes: number): void {
    const { bodyLimit } = this.#options
    const now = Date.now()
    this.#length += bytes
    if (this.#length > bodyLimit) throw tooLarge(bodyLimit)
    if (now > this.#latest || !this.#pace.allows(bytes, now - this.heardAt)) throw tooSlow(this.#options)
    this.heardAt = now
    this.#options.bodyMemory.add(this, bytes)
  }

  #finish(): void {
    if (!this.#end()) return
    this.isComplete = true
    this.#done(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks))
  }

  /** Whether this is the first end of the body. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    return true
  }
}

/** The chunks as they come. Time is counted only while one is waited for: a reader may take as long as it likes. */
function flowing(request: IncomingMessage, options: UploadOptions): AsyncIterableIterator<Uint8Array> {
  const { bodyTimeout } = options
  // A handler that stops reading early still answers, so the socket must stay open.
  const chunks: AsyncIterator<Uint8Array> = request.iterator({ destroyOnReturn: false })
  const pace = new Pace(bodyTimeout)
  let isStalled = false
  const stalled = () => {
    isStalled = true
    return tooSlow(options)
  }
  return {
    next: () =>
      new Promise((done, failed) => {
        const begun = Date.now()
        const pause = setTimeout(() => failed(stalled()), bodyTimeout)
        const take = (chunk: IteratorResult<Uint8Array>) => {
          if (!chunk.done && !pace.allows(chunk.value.length, Date.now() - begun)) return failed(stalled())
          if (!chunk.done) markOwn(chunk.value)
          done(chunk)
        }
        chunks
          .next()
          .then(take, () => failed(endedEarly()))
          .finally(() => clearTimeout(pause))
      }),
    async return() {
      // One that is stalled would end only after the chunk that does not come.
      if (!isStalled) await chunks.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function endedEarly(): Problem {
  return new Problem('invalid_body', 'The body ended early.')
}

function tooLarge(limit: number): Problem {
  return new Problem('too_large', `The body may have at most ${limit} bytes. Use /import for more.`, { limit })
}

function tooSlow({ bodyTimeout, refusals }: UploadOptions): Problem {
  refusals.count('slow_body')
  const message = `The body was slower than ${SLOWEST} bytes per second for ${bodyTimeout / 1_000} seconds. Send it again.`
  return new Problem('body_timeout', message)
}

/** The least that a client has to send or to read, in bytes per second. */
const SLOWEST = 1_024

/** Watches how fast a body is sent or read. Only time that is spent waiting for the client counts. */
export class Pace {
  readonly #windowMs: number
  #waitedMs = 0
  #bytes = 0

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Counts bytes that came after a wait; false when too few came over the last window. */
  allows(bytes: number, waitedMs: number): boolean {
    this.#waitedMs += waitedMs
    this.#bytes += bytes
    if (this.#waitedMs < this.#windowMs) return true
    const isFastEnough = this.#bytes >= (this.#waitedMs / 1_000) * SLOWEST
    this.#waitedMs = 0
    this.#bytes = 0
    return isFastEnough
  }
}
