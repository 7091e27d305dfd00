import { Problem } from '@tildebase/nouns'
import type { Follower, LiveSource } from '@tildebase/tenant'
import { type Call, textParam } from '../call.ts'
import { acceptsEvents } from '../http.ts'
import type { Reply } from '../reply.ts'
import { errorBody, problemOf } from '../respond.ts'
import { scheduler } from '../turns.ts'

const BEAT_MS = 15_000
const RETRY_MS = 2_000
const LONGEST_SEQ = 15

type Piece = string | Uint8Array

/** Whether a call accepts a stream of events. */
export function wantsLive(call: Call): boolean {
  return acceptsEvents(call.request.headers)
}

/** The seq that a reader has seen last, by `Last-Event-ID` or `lastEventId`, or null. */
export function lastSeen(call: Call): number | null {
  const text = call.request.headers['last-event-id'] || textParam(call.query, 'lastEventId') || null
  return text === null ? null : reached(call, text, 'Last-Event-ID')
}

/** A seq that was given out as a cursor or an id. */
export function seqOf(text: string, field: string): number {
  if (/^\d+$/.test(text) && text.length <= LONGEST_SEQ) return Number(text)
  throw new Problem('invalid_cursor', `${field} must be the id of a received event, such as 17.`, { field })
}

/** The same of an event that the tenant has. */
export function reached({ tenant }: Call, text: string, field: string): number {
  const given = seqOf(text, field)
  const { seq } = tenant.admin.head
  if (given <= seq) return given
  // After a restore of an older state, the reader would otherwise wait until the log is as long again, and miss all of it.
  throw new Problem(
    'invalid_cursor',
    `${field} is ${text}, but the tenant has ${seq} events. Begin again without it.`,
    {
      field,
      seq,
    },
  )
}

/** Answers with all that a source has and will have, until the reader leaves, the key ends or the tenant closes. */
export function liveReply(call: Call, source: LiveSource): Reply {
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  }
  return { status: 200, headers, content: null, stream: { [Symbol.asyncIterator]: () => new Live(call, source) } }
}

/** Waits until the tenant's log moves, or a time passes; true when it moved. */
export class Waiter {
  readonly #stop: () => void
  #moved = false
  #done: ((moved: boolean) => void) | null = null
  #until = 0
  /** One timer for many waits: it continues when it ends before the wait does. Setting one per event would cost more. */
  #timer: ReturnType<typeof setTimeout> | null = null
  #timerAt = 0

  constructor(follower: Pick<Follower, 'onMove'>) {
    this.#stop = follower.onMove(() => this.stir())
  }

  /** Ends a wait at once. */
  stir(): void {
    if (this.#done === null) this.#moved = true
    else this.#end(true)
  }

  wait(ms: number): Promise<boolean> {
    if (this.#moved) {
      this.#moved = false
      return Promise.resolve(true)
    }
    this.#until = performance.now() + ms
    if (this.#timer === null || this.#timerAt > this.#until) this.#setTimer(ms)
    return new Promise((done) => {
      this.#done = done
    })
  }

  close(): void {
    this.#stop()
    this.stir()
    clearTimeout(this.#timer ?? undefined)
  }

  #end(moved: boolean): void {
    const done = this.#done
    this.#done = null
    done?.(moved)
  }

  #setTimer(ms: number): void {
    clearTimeout(this.#timer ?? undefined)
    this.#timerAt = performance.now() + ms
    this.#timer = setTimeout(() => {
      this.#timer = null
      const left = this.#until - performance.now()
      if (this.#done === null || left <= 0) this.#end(false)
      else this.#setTimer(left)
    }, ms)
  }
}

const DONE: IteratorResult<Piece> = { done: true, value: undefined }

/**
 * Not a generator: that would notice a reader that left only once it has something to send. An event costs each of ten
 * thousand readers one turn and one promise.
 */
class Live implements AsyncIterator<Piece> {
  readonly #call: Call
  readonly #source: LiveSource
  readonly #follower: Follower
  readonly #stop: () => void
  #begun = false
  #ended = false
  /** The reader that waits for the next piece. */
  #reader: ((result: IteratorResult<Piece>) => void) | null = null
  /** Whether the log may have moved since it was read, and whether reading it is scheduled or in progress. */
  #hasMoved = true
  #isReading = false
  /** One timer for many waits: it continues when it ends before the wait does. Setting one per event would cost more. */
  #timer: ReturnType<typeof setTimeout> | null = null
  #until = 0

  constructor(call: Call, source: LiveSource) {
    this.#call = call
    this.#source = source
    this.#follower = call.tenant.follow(call.grant)
    this.#stop = this.#follower.onMove(() => {
      this.#hasMoved = true
      if (this.#reader) this.#schedule()
    })
  }

  next(): Promise<IteratorResult<Piece>> {
    if (this.#ended) return Promise.resolve(DONE)
    if (!this.#begun) {
      this.#begun = true
      return Promise.resolve({ done: false, value: `retry: ${RETRY_MS}\n\n` })
    }
    return new Promise((reader) => {
      this.#reader = reader
      if (this.#hasMoved) this.#schedule()
      else this.#wait()
    })
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.#end()
    this.#answer(DONE)
    return DONE
  }

  #schedule(): void {
    if (this.#isReading) return
    this.#isReading = true
    scheduler.add(this.#call.tenant.slug, this.#read)
  }

  readonly #read = (): void => {
    this.#hasMoved = false
    const piece = this.#ended ? '' : this.#piece()
    if (typeof piece === 'object' && 'then' in piece)
      piece.then(
        (text) => this.#give(text),
        (reason) => this.#give(this.#failed(reason)),
      )
    else this.#give(piece)
  }

  #piece(): Piece | Promise<string> {
    try {
      const grant = this.#follower.grant()
      if (grant !== null) return this.#source.read(grant)
      this.#end()
      return ''
    } catch (reason) {
      return this.#failed(reason)
    }
  }

  #failed(reason: unknown): string {
    this.#end()
    return `event: error\ndata: ${JSON.stringify(errorBody(problemOf(reason), this.#call.requestId))}\n\n`
  }

  #give(piece: Piece): void {
    this.#isReading = false
    if (piece.length > 0) {
      if (this.#source.isBehind?.() ?? true) this.#hasMoved = true
      this.#answer({ done: false, value: piece })
    } else if (this.#ended) this.#answer(DONE)
    else if (this.#hasMoved) this.#schedule()
    else this.#wait()
  }

  #answer(result: IteratorResult<Piece>): void {
    const reader = this.#reader
    this.#reader = null
    reader?.(result)
  }

  #wait(): void {
    this.#until = performance.now() + BEAT_MS
    if (this.#timer === null) this.#setTimer(BEAT_MS)
  }

  #setTimer(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#reader === null || this.#isReading) return
      const left = this.#until - performance.now()
      if (left > 0) this.#setTimer(left)
      else this.#answer({ done: false, value: ': keep-alive\n\n' })
    }, ms)
  }

  #end(): void {
    this.#ended = true
    this.#stop()
    clearTimeout(this.#timer ?? undefined)
  }
}
