import type { Entity, EventName, EventStep, IsLoose, NounMap, Patch, VerbName } from './infer/infer.ts'
import type { JsonObject, Noun } from './noun.ts'

/** One record of a tenant's log, as the change stream, SSE and webhooks send it. */
export interface EventRecord {
  /** Its number in the tenant's log: 1, 2, 3 … without gaps. */
  readonly seq: number
  readonly id: string
  /** `Contact.qualified`. */
  readonly type: string
  readonly timestamp: string
  readonly tenant: string
  /** The entity after the event. */
  readonly data: JsonObject
  /** The previous values of the changed fields; absent on create and delete. */
  readonly previous?: JsonObject
  /** The arguments of the verb, if it had any. A create has its `data`. */
  readonly args?: JsonObject
  readonly verb: string
  readonly entityType: string
  readonly entityId: string
  readonly version: number
  readonly actor: string
}

/** The events that a pattern selects, as far as the types are known: of `Contact.qualified`, `data` is a Contact. */
export type EventOf<C extends NounMap, Pattern extends string> = string extends keyof C
  ? EventRecord
  : Pattern extends '*' | '*.*'
    ? { [K in keyof C]: TypedEvent<C[K], AnyEvent<C[K]>> }[keyof C]
    : Pattern extends `*.${infer Step}`
      ? { [K in keyof C]: Step extends AnyStep<C[K]> ? TypedEvent<C[K], `${C[K]['name']}.${Step}`> : never }[keyof C]
      : Pattern extends `${infer Name extends keyof C & string}.${infer Step}`
        ? TypedEvent<C[Name], Step extends '*' ? AnyEvent<C[Name]> : Pattern>
        : Pattern extends keyof C
          ? TypedEvent<C[Pattern], AnyEvent<C[Pattern]>>
          : EventRecord

/** Every event of a type: of its verbs, and of the service. */
type AnyEvent<T extends Noun> = IsLoose<T> extends true ? EventName<T> : `${T['name']}.${AnyStep<T>}`
type AnyStep<T extends Noun> =
  | EventStep<T>
  | 'conflicted'
  | 'erased'
  | (T['name'] extends keyof ServiceEvents ? ServiceEvents[T['name']] : never)

/** Events that no verb of the type has. */
interface ServiceEvents {
  readonly ApiKey: 'expired'
  readonly Changeset: 'proposed' | 'expired'
  readonly Goal: 'achieved'
  readonly Webhook: 'rotated' | 'failing' | 'recovered'
  readonly Workflow: 'succeeded' | 'failed' | 'cancelled'
}

/**
 * What webhooks, streams and workflows can be subscribed to: `*`, `Contact`, `Contact.*`, `*.created`,
 * `Contact.created`. Any text when the types are not known.
 */
export type EventPattern<C extends NounMap> = string extends keyof C
  ? string
  :
      | '*'
      | (keyof C & string)
      | { [K in keyof C & string]: AnyEvent<C[K]> | `${K}.*` }[keyof C & string]
      | `*.${{ [K in keyof C]: AnyStep<C[K]> }[keyof C]}`

interface TypedEvent<T extends Noun, Name extends string>
  extends Omit<EventRecord, 'type' | 'data' | 'previous' | 'verb' | 'entityType'> {
  readonly type: Name
  readonly data: Entity<T>
  readonly previous?: Patch<T>
  readonly verb: VerbName<T>
  readonly entityType: T['name']
}

/** Whether a string can be subscribed to: `*`, `*.created`, `Contact.*` or `Contact.created`. */
export function isPattern(text: string): boolean {
  return PATTERN.test(text)
}

/** Whether the event of a type matches a pattern; not case-sensitive. A bare `Contact` means `Contact.*`. */
export function matchesEvent(pattern: string, type: string, event: string): boolean {
  const dot = pattern.indexOf('.')
  const wantedType = dot < 0 ? pattern : pattern.slice(0, dot)
  const wantedEvent = dot < 0 ? '*' : pattern.slice(dot + 1)
  return matchesWord(wantedType, type) && matchesWord(wantedEvent, event)
}

const PATTERN = /^(?:\*|(?:\*|[A-Za-z][A-Za-z0-9]{0,63})\.(?:\*|[A-Za-z][A-Za-z0-9]{0,63}))$/

function matchesWord(wanted: string, word: string): boolean {
  return wanted === '*' || wanted.toLowerCase() === word.toLowerCase()
}
