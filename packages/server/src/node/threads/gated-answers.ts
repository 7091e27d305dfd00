import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from '../../doors/http.ts'
import { type Flows, problemFrom, refusalOf } from './flows.ts'
import type { Gate } from './gate.ts'
import { type Flow, type FromWorker, isFlowing } from './messages.ts'
import type { PendingCalls } from './pending-calls.ts'

type Answer = Extract<FromWorker, { do: 'return' | 'refuse' }>

/** Passes what a thread sends back on to those who wait for it, when the gate of the tenant is open. */
export class GatedAnswers {
  readonly #gate: Gate | undefined
  readonly #calls: PendingCalls
  readonly #flows: Flows
  /** The tenants of streams that the gate looks at. */
  readonly #streams = new Map<number, string>()

  constructor(gate: Gate | undefined, calls: PendingCalls, flows: Flows) {
    this.#gate = gate
    this.#calls = calls
    this.#flows = flows
  }

  /** Passes the answer to a call on. */
  answer(message: Answer): void {
    const { id, ms } = message
    const about = this.#calls.about(id)
    this.#calls.leave(id, ms)
    const refuse = () => this.#calls.fail(id, moved())
    if (message.do === 'refuse') {
      this.pass(about, () => this.#calls.fail(id, problemFrom(message.problem)), refuse)
      return
    }
    // The first chunks may be on the heels of the answer: the stream must be there when they come.
    const value = this.#withBody(id, message.value, about)
    this.pass(about, () => this.#calls.answer(id, value), refuse)
  }

  /** Passes a part of a stream on. The streams that share a chunk are of one tenant. */
  flow(message: Flow & { readonly do: 'chunk' | 'end' | 'break' }): void {
    const ids = message.do === 'chunk' ? message.ids : [message.id]
    const slug = this.#streams.size === 0 ? null : (this.#streams.get(ids[0]!) ?? null)
    if (message.do !== 'chunk') this.#streams.delete(message.id)
    const broken = () => {
      for (const id of ids) this.#flows.receive({ do: 'break', id, problem: refusalOf(moved()) })
    }
    this.pass(slug, () => this.#flows.receive(message), broken)
  }

  /** Lets something out when the gate of its tenant is open. */
  pass(slug: string | null, release: () => void, refuse: () => void): void {
    if (slug === null || !this.#gate) release()
    else this.#gate.pass(slug, release, refuse)
  }

  #withBody(id: number, value: unknown, about: string | null): unknown {
    const { body } = (value ?? {}) as Partial<HttpResponse>
    if (!isFlowing(body)) return value
    if (about !== null && this.#gate) this.#streams.set(id, about)
    return { ...(value as HttpResponse), body: this.#flows.drink(id) }
  }
}

function moved(): Problem {
  return new Problem('unavailable', 'Another node has this tenant now, or the log cannot be reached. Try again.', {
    retryAfter: 1,
  })
}
