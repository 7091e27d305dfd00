import type { IncomingMessage } from 'node:http'
import { Problem } from '@tildebase/nouns'
import type { Body } from '../http.ts'
import type { BodyMemory } from './body-memory.ts'
import { Pace, SLOWEST } from './pace.ts'
import type { Refusals } from './watch/refusals.ts'

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
  /** Calls the listener when the request is over, and its body no longer held. */
  onEnd(listener: () => void): void
}

/** A body that is held as a whole may take as many times the longest pause. */
const MOST_PAUSES = 10
/** How long the rest of a refused body is read and thrown away. */
const LINGER_MS = 30_000

/** The body of a request: bit by bit for those who take it so, else as a whole. */
export function bodyOf(
  request: IncomingMessage,
  streams: boolean,
  owner: BodyOwner,
  options: UploadOptions,
): Body | Promise<Body> {
  if (!hasBody(request)) return null
  if (streams) return flowing(request, options)
  if (Number(request.headers['content-length']) > options.bodyLimit) throw tooLarge(options.bodyLimit)
  return whole(request, owner, options)
}

/** Whether there is more of the body to come. */
export function isUnfinished(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete && !request.destroyed
}

/**
 * Goes on once the body is over that was answered before its end, and throws away what comes: most senders read the
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

function whole(request: IncomingMessage, owner: BodyOwner, options: UploadOptions): Promise<Body> {
  const { bodyLimit, bodyTimeout, bodyMemory } = options
  return new Promise((done, failed) => {
    const chunks: Buffer[] = []
    let length = 0
    let heardAt = Date.now()
    let isOver = false
    const latest = heardAt + MOST_PAUSES * bodyTimeout
    const pace = new Pace(bodyTimeout)
    const pause = setTimeout(() => fail(tooSlow(options)), bodyTimeout)
    const settle = (work: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(pause)
      work()
    }
    const fail = (reason: unknown) =>
      settle(() => {
        chunks.length = 0
        held.release()
        failed(reason)
      })
    const held = bodyMemory.hold(owner.tenant, owner.address, fail)
    owner.onEnd(() => held.release())
    const take = (chunk: Buffer) => {
      const now = Date.now()
      length += chunk.length
      if (length > bodyLimit) throw tooLarge(bodyLimit)
      if (now > latest || !pace.allows(chunk.length, now - heardAt)) throw tooSlow(options)
      heardAt = now
      held.add(chunk.length)
      chunks.push(chunk)
    }
    request.on('data', (chunk: Buffer) => {
      if (isOver) return
      pause.refresh()
      try {
        take(chunk)
      } catch (reason) {
        fail(reason)
      }
    })
    request.on('end', () =>
      settle(() => {
        held.complete()
        done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      }),
    )
    request.on('error', () => fail(new Problem('invalid_body', 'The body broke off before its end.')))
  })
}

/** The chunks as they come. Time is counted only while one is waited for: a reader may take as long as it likes. */
function flowing(request: IncomingMessage, options: UploadOptions): AsyncIterableIterator<Uint8Array> {
  const { bodyTimeout } = options
  // A reader that stops early still wants to answer: the socket must survive it.
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
        const take = (chunk: IteratorResult<Uint8Array>) =>
          chunk.done || pace.allows(chunk.value.length, Date.now() - begun) ? done(chunk) : failed(stalled())
        chunks
          .next()
          .then(take, failed)
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

function tooLarge(limit: number): Problem {
  return new Problem('too_large', `The body may have ${limit} bytes. Use /import for more.`, { limit })
}

function tooSlow({ bodyTimeout, refusals }: UploadOptions): Problem {
  refusals.count('slow_body')
  const message = `The body came slower than ${SLOWEST} bytes a second, or not at all, for ${bodyTimeout / 1_000} seconds. Send it again.`
  return new Problem('body_timeout', message)
}
