import { Problem } from '@tildebase/nouns'
import { feedOf, type Grant, renewed, type Tenant } from '@tildebase/tenant'
import type { Answer } from '../ask.ts'
import { type Call, textParam } from '../call.ts'
import { errorBody, problemOf } from '../respond.ts'

const BEAT_MS = 15_000
const RETRY_MS = 2_000
const LONGEST_SEQ = 15

/** What a source tells that has looked at much and found nothing: others have their turn before it goes on. */
export const PAUSE = ':\n\n'

/** Where a live answer takes what it tells from. */
export interface LiveSource {
  /** What there is to tell now, a bounded piece of it; empty when the log has to move on first. */
  read(grant: Grant): string
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
export function liveAnswer(call: Call, source: LiveSource): Answer {
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
  #wake: (() => void) | null = null

  constructor(tenant: Tenant) {
    this.#stop = feedOf(tenant).follow(() => stirSoon(this))
  }

  /** Ends a wait at once. */
  stir(): void {
    this.#moved = true
    this.#wake?.()
  }

  async wait(ms: number): Promise<boolean> {
    if (!this.#moved) {
      await new Promise<void>((done) => {
        const timer = setTimeout(done, ms)
        this.#wake = () => {
          clearTimeout(timer)
          done()
        }
      })
      this.#wake = null
    }
    const moved = this.#moved
    this.#moved = false
    return moved
  }

  close(): void {
    this.#stop()
    this.stir()
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
class Live implements AsyncIterator<string> {
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

  async next(): Promise<IteratorResult<string>> {
    const opening = this.#begun ? '' : `retry: ${RETRY_MS}\n\n`
    this.#begun = true
    while (!this.#ended) {
      const text = this.#read()
      if (opening + text !== '') return { done: false, value: opening + text }
      if (!this.#ended && !(await this.#waiter.wait(BEAT_MS))) return { done: false, value: ': keep-alive\n\n' }
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<string>> {
    this.#end()
    return { done: true, value: undefined }
  }

  #read(): string {
    const { tenant, requestId } = this.#call
    const grant = tenant.isResting ? null : renewed(tenant, this.#grant)
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
