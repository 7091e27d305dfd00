import { isoOf, type JsonObject, type Look, Problem } from '@tildebase/nouns'
import { storedFilter } from '../../authorship/reach.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { rowTest } from '../../query/answer/memory.ts'
import { stateOnce } from '../../query/answer/tested-view.ts'
import { readContextOf } from '../../query/read-context.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { orHidden, orTooLong } from '../../query/words/regex.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { EventSubscription } from '../../store/outgoing/event-subscriptions.ts'
import { firstRetry } from '../../store/outgoing/outbox.ts'
import { entityText } from '../../view/entity.ts'
import { stateOf } from '../../view/event.ts'
import { grantOfHolder } from './holder.ts'

/** What an agent receives: which events, and in which form. */
export interface AgentReceiver {
  show(event: LogRow, look?: Look): LogRow | null
  readonly form: EventForm
}

/** The form in which events are sent. */
export interface EventForm {
  readonly headers: { readonly [name: string]: string }
  body(event: LogRow): string
}

/** A subscription of an agent, ready to decide about events with the rights that its holder has now. */
export function agentReceiver(engine: Engine, subscription: EventSubscription): AgentReceiver {
  const { id, name, expiresAt, isEnded } = subscription
  const grant = isEnded ? null : grantOfHolder(engine, subscription)
  const show = grant && visibilityOf(engine, grant, [name]).show
  const passes = grant && filterOf(engine, grant, subscription)
  return {
    show: (event, look) => {
      if (show === null || passes === null || expiresAt <= engine.ports.clock.now()) return null
      const shown = orHidden(() => show(event, look))
      return shown && passes(shown, look) ? shown : null
    },
    form: { headers: headersOf(id), body: (event) => occurrence(engine, id, event) },
  }
}

/** The headers of everything that is sent to a subscription. */
export function headersOf(id: string): { readonly [name: string]: string } {
  return { 'x-mcp-subscription-id': id }
}

/** The test of a subscription's filter; null when it does not fit the type any more, or its holder may not ask so. */
function filterOf(engine: Engine, grant: Grant, { name, arguments: text }: EventSubscription) {
  const { filter } = JSON.parse(text) as JsonObject
  if (filter === undefined || filter === null) return () => true
  try {
    const noun = engine.noun(name.split('.')[0]!)
    const asked = storedFilter(engine, grant, noun, filter)
    const test = orTooLong(rowTest(readContextOf(engine, grant), noun.name, asked))
    return (event: LogRow, look?: Look) => event.data !== null && test(stateOnce(event, event.data), look)
  } catch (reason) {
    if (reason instanceof Problem) return null
    throw reason
  }
}

/** An event as the protocol shows it. */
function occurrence(engine: Engine, id: string, event: LogRow): string {
  const data = event.data === null ? '{}' : entityText(stateOf(event, event.data), engine.context)
  return (
    `{"eventId":"${event.id}","name":"${event.type}.${event.event}","timestamp":"${isoOf(event.at)}",` +
    `"data":${data},"cursor":"${watermark(engine, id, event.seq)}"}`
  )
}

/** The position up to which everything was delivered or given up. Events are sent in order, but for those that are retried. */
function watermark({ sql }: Engine, id: string, seq: number): number {
  const retried = firstRetry(sql, id)
  return retried === null || retried >= seq ? seq : retried - 1
}
