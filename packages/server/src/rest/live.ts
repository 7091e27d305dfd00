import { Problem } from '@tildebase/nouns'
import type { Follower, LiveSource } from '@tildebase/tenant'
import { type Call, textParam } from '../call.ts'
import type { Reply } from '../reply.ts'
import { errorBody, problemOf } from '../respond.ts'
import { threadTurns } from '../thread-turns.ts'

const BEAT_MS = 15_000
const RETRY_MS = 2_000
const LONGEST_SEQ = 15

type Piece = string | Uint8Array

/** Whether a call accepts a stream of events. */
export function wantsLive(call: Call): boolean {
  return /\btext\/event-stream\b/i.test(call.request.headers.accept ?? '')
}

/** The seq that a reader has seen last, by `Last-Event-ID` or `lastEventId`, or null. */
export function lastSeen(call: Call): number | null {
  const text = call.request.headers['last-event-id'] || textParam(call.query, 'lastEventId') || null
  return text === null ? null : seqOf(text, 'Last-Event-ID')
}

/** A seq that was given out as a cursor or an id. */
export function seqOf(text: string, field: string): number {
  if (/^\d+$/.test(text) && text.length <= LONGEST_SEQ) return Number(text)
  throw new Problem('invalid_cursor', `${field} must be the id of a received event, such as 17.`, { field })
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

/** Not a generator: that would notice a reader that left only once it has something to send. */
class Live implements AsyncIterator<Piece> {
  readonly #call: Call
  readonly #source: LiveSource
  readonly #follower: Follower
  readonly #waiter: Waiter
  #begun = false
  #ended = false

  constructor(call: Call, source: LiveSource) {
    this.#call = call
    this.#source = source
    this.#follower = call.tenant.follow(call.grant)
    this.#waiter = new Waiter(this.#follower)
  }

  async next(): Promise<IteratorResult<Piece>> {
    if (!this.#begun) {
      this.#begun = true
      return { done: false, value: `retry: ${RETRY_MS}\n\n` }
    }
    while (!this.#ended) {
      const piece = await threadTurns.run(this.#call.tenant.slug, () => this.#read())
      if (piece.length > 0) return { done: false, value: piece }
      if (!this.#ended && !(await this.#waiter.wait(BEAT_MS))) return { done: false, value: ': keep-alive\n\n' }
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.#end()
    return { done: true, value: undefined }
  }

  async #read(): Promise<Piece> {
    if (this.#ended) return ''
    const grant = this.#follower.grant()
    if (grant === null) {
      this.#end()
      return ''
    }
    try {
      return await this.#source.read(grant)
    } catch (reason) {
      this.#end()
      return `event: error\ndata: ${JSON.stringify(errorBody(problemOf(reason), this.#call.requestId))}\n\n`
    }
  }

  #end(): void {
    this.#ended = true
    this.#waiter.close()
  }
}
