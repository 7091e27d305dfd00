import { Problem } from '@tildebase/nouns'
import { type Engine, feedOf, type Grant, renewGrant, viewKey } from '@tildebase/tenant'
import { type Call, textParam } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import { errorBody, problemOf } from '../respond.ts'

const BEAT_MS = 15_000
const RETRY_MS = 2_000
const LONGEST_SEQ = 15

const MOST_PIECES = 10
/** What is told by who has looked at much and found nothing: others have their turn before it goes on. */
const PAUSE = ':\n\n'

type Told = string | Uint8Array

/** Where a live answer takes what it tells from. */
export interface LiveSource {
  /** What there is to tell now, a bounded piece of it; empty when the log has to move on first. */
  read(grant: Grant): Told
}

/** Makes the piece of the log after a seq, as it is told to a grant. */
type Maker = (after: number, grant: Grant) => { readonly text: string; readonly position: number }

/** Goes along the log from a seq on, in pieces that are made once for all who share a view of it. */
export class Tail {
  readonly #tenant: Engine
  readonly #make: Maker
  readonly #about: string
  #position: number
  #grant: Grant | null = null
  #view = ''

  /** `about` names what is told, whoever it is told to. */
  constructor(tenant: Engine, about: string, position: number, make: Maker) {
    this.#tenant = tenant
    this.#about = about
    this.#position = position
    this.#make = make
  }

  read(grant: Grant): Told {
    if (grant !== this.#grant) this.#view = `${this.#about} ${viewKey(grant)}`
    this.#grant = grant
    const { head } = this.#tenant
    const feed = feedOf(this.#tenant)
    for (let pieces = 0; pieces < MOST_PIECES && this.#position < head.seq; pieces++) {
      const after = this.#position
      const { bytes, position } = feed.piece(this.#view, after, () => this.#make(after, grant))
      this.#position = position
      if (bytes.length > 0) return bytes
    }
    return this.#position < head.seq ? PAUSE : ''
  }
}

/** Whether a call accepts a stream of events. */
export function wantsLive(call: Call): boolean {
  return /\btext\/event-stream\b/i.test(call.ask.headers.accept ?? '')
}

/** The seq that a reader has seen last, by `Last-Event-ID` or `lastEventId`, or null. */
export function lastSeen(call: Call): number | null {
  const text = call.ask.headers['last-event-id'] || textParam(call.query, 'lastEventId') || null
  return text === null ? null : seqOf(text, 'Last-Event-ID')
}

/** A seq that was given out as a cursor or an id. */
export function seqOf(text: string, field: string): number {
  if (/^\d+$/.test(text) && text.length <= LONGEST_SEQ) return Number(text)
  throw new Problem('invalid_cursor', `${field} is the id of an event that was received, such as 17.`, { field })
}

/** One message of a live answer. */
export function frame(seq: number, event: string, data: string): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${data}\n\n`
}

/** Answers with all that a source has and will have, until the reader leaves, the key ends or the tenant rests. */
export function liveAnswer(call: Call, source: LiveSource): HttpResponse {
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  }
  return { status: 200, headers, body: { [Symbol.asyncIterator]: () => new Live(call, source) } }
}

/** Waits until the tenant's log moves, or a time passes; true when it moved. */
export class Waiter {
  readonly #stop: () => void
  #moved = false
  #done: ((moved: boolean) => void) | null = null
  #until = 0
  /** One timer for many waits: it goes on when it ends before the wait does. Setting one per event would cost more. */
  #timer: ReturnType<typeof setTimeout> | null = null
  #timerAt = 0

  constructor(tenant: Engine) {
    this.#stop = feedOf(tenant).follow(() => stirSoon(this))
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

/** How many followers are told in one go: between two of those, requests are answered. */
const AT_ONCE = 64
const soon = globalThis.setImmediate ?? ((run: () => void) => setTimeout(run, 0))
const stirring = new Set<Waiter>()

/** Stirs a waiter once what is at hand is done: whoever wrote has an answer before a thousand followers have theirs. */
function stirSoon(waiter: Waiter): void {
  if (stirring.size === 0) soon(stirSome)
  stirring.add(waiter)
}

function stirSome(): void {
  let told = 0
  for (const waiter of stirring) {
    if (told++ === AT_ONCE) break
    stirring.delete(waiter)
    waiter.stir()
  }
  if (stirring.size > 0) soon(stirSome)
}

/** Not a generator: one of those hears of a reader that left only once it has something to tell. */
class Live implements AsyncIterator<Told> {
  readonly #call: Call
  readonly #source: LiveSource
  readonly #waiter: Waiter
  #grant: Grant
  #begun = false
  #ended = false

  constructor(call: Call, source: LiveSource) {
    this.#call = call
    this.#source = source
    this.#grant = call.grant
    this.#waiter = new Waiter(call.tenant)
  }

  async next(): Promise<IteratorResult<Told>> {
    if (!this.#begun) {
      this.#begun = true
      return { done: false, value: `retry: ${RETRY_MS}\n\n` }
    }
    while (!this.#ended) {
      const told = this.#read()
      if (told.length > 0) return { done: false, value: told }
      if (!this.#ended && !(await this.#waiter.wait(BEAT_MS))) return { done: false, value: ': keep-alive\n\n' }
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Told>> {
    this.#end()
    return { done: true, value: undefined }
  }

  #read(): Told {
    const { tenant, requestId } = this.#call
    const grant = tenant.isResting ? null : renewGrant(tenant, this.#grant)
    if (grant === null) {
      this.#end()
      return ''
    }
    this.#grant = grant
    try {
      return this.#source.read(grant)
    } catch (reason) {
      this.#end()
      return `event: error\ndata: ${JSON.stringify(errorBody(problemOf(reason), requestId))}\n\n`
    }
  }

  #end(): void {
    this.#ended = true
    this.#waiter.close()
  }
}
