/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** The type of a field. `secret` is stored separately or hashed, and never returned. */
export type Kind = 'string' | 'number' | 'boolean' | 'date' | 'datetime' | 'json' | 'file' | 'secret' | 'enum'

/** The expression of a computed field: numbers, paths, arithmetic, and aggregate functions. */
export type Expression =
  | { readonly op: 'number'; readonly value: number }
  | { readonly op: 'path'; readonly path: string }
  | { readonly op: 'negate'; readonly of: Expression }
  | { readonly op: Arithmetic; readonly left: Expression; readonly right: Expression }
  | { readonly op: Measure; readonly path: string }

export type Arithmetic = '+' | '-' | '*' | '/'
export type Measure = 'sum' | 'count' | 'min' | 'max' | 'avg'

/** A field with values. */
export interface ValueField {
  readonly name: string
  readonly kind: Kind
  /** True for `string[]`: a list of such values. */
  readonly list: boolean
  readonly required: boolean
  /** `#` indexed, `##` unique. */
  readonly index: 'none' | 'indexed' | 'unique'
  /** The values of an enum, in their order. */
  readonly values?: readonly string[]
  /** The default; `now` for a date or datetime is the time of the verb. */
  readonly default?: Json
  /** True for a field that only the service writes: `(set by the service)`. */
  readonly service: boolean
  /** The expression of a computed field: `= sum(items.amount)`. Only the service writes it. */
  readonly computed?: Expression
  /** The bounds of a number: `number 0..100`. */
  readonly min?: number
  readonly max?: number
}

/** A field that refers to other entities: `-> Organization.contacts`, `-> Tag[]`. Stored as one id or a list of ids. */
export interface ForwardField {
  readonly name: string
  readonly kind: 'forward'
  /** The type that it points to; the first of several; `*` for any type. */
  readonly target: string
  /** All types that it may point to, if there are several: `-> User | Contact`. */
  readonly targets?: readonly string[]
  readonly list: boolean
  readonly required: boolean
  /** The name of the inverse relation on the target, if the notation has one. */
  readonly inverse?: string
}

/** The meta-field `$source`: where an entity came from. It is stored with the fields, and indexed for every type. */
export const SOURCE: ValueField = {
  name: '$source',
  kind: 'string',
  list: true,
  required: false,
  index: 'indexed',
  service: true,
}

/** The target of a relation to entities of any type: `-> *`. */
export const ANY_TYPE = '*'

/** Whether a relation may point to entities of a type. */
export function pointsTo({ target, targets }: ForwardField, type: string): boolean {
  return targets === undefined ? target === type || target === ANY_TYPE : targets.includes(type)
}

/** The types that a relation may point to, for messages: `User or Contact`. */
export function targetText({ target, targets }: Pick<ForwardField, 'target' | 'targets'>): string {
  return target === ANY_TYPE ? 'entity' : (targets?.join(' or ') ?? target)
}

/** The inverse of a forward field: `<- Deal.contact[]`. Never stored; always computed. */
export interface BackField {
  readonly name: string
  readonly kind: 'back'
  readonly target: string
  /** The forward field on the target that points here. */
  readonly via: string
  readonly list: boolean
}

export type Field = ValueField | ForwardField | BackField

/** A verb: the names of its three steps, its start states, and the fields that it sets. */
export interface Verb {
  readonly name: string
  /** `qualifying`: the name of its BEFORE hook. */
  readonly before: string
  /** `qualified`: the name of its event and of its AFTER hook. */
  readonly event: string
  /** The states it may start from; absent means any. States are those of `stateField`. */
  readonly from?: readonly string[]
  /**
   * Fields set after the arguments are merged. `$now`, `$args.x`, `$next` and `$computed` are evaluated when it runs.
   */
  readonly set?: JsonObject
  /** Names of its arguments (for documentation; any field is accepted). */
  readonly args?: readonly string[]
  /** The order of states for `$next`, if it differs from the enum. */
  readonly order?: readonly string[]
  /** `event`: the arguments are kept in the event and change no field; `set` still applies. */
  readonly keeps?: 'event'
}

/** Runs a verb at the time in a field. */
export interface Timer {
  readonly name: string
  /** The datetime field with the time. */
  readonly at: string
  /** The states in which it runs; absent means any. */
  readonly from?: readonly string[]
  /** A filter that the entity must match. */
  readonly when?: JsonObject
  /** The verb. */
  readonly run: string
}

/** A type of entity: its fields, relations and verbs. Plain data. */
export interface Noun {
  readonly name: string
  readonly domain: string
  /** Its plural path: `contacts`, `api-keys`. */
  readonly path: string
  /** The prefix of its ids: `contact`, `apiKey`. */
  readonly prefix: string
  readonly fields: { readonly [name: string]: Field }
  /** Every verb, including active built-in ones. */
  readonly verbs: { readonly [name: string]: Verb }
  /** The enum field whose values are the states: the one that the verbs set, else `status`, else `stage`. */
  readonly stateField: string | null
  /** Verbs that run automatically at the time in a field. */
  readonly timers: { readonly [name: string]: Timer }
  /** Fields that are unique together: `$unique: [["a", "b"]]`. */
  readonly unique: readonly (readonly string[])[]
  /** True if only verbs change the state field. */
  readonly guarded: boolean
  /** The states, besides the default, in which an entity of a guarded type may be created. */
  readonly start: readonly string[]
  /** A strict type refuses fields that are not declared. */
  readonly strict: boolean
  /** Where its entities are stored: as rows, or as log records like tracked events. */
  readonly storage: 'entity' | 'log'
  /** The notation it was declared with, for `GET …/schema`. */
  readonly notation: JsonObject
  /** The earlier names of its renamed fields by their new ones: `tilde schema push` renames them in what is stored. */
  readonly renamed?: { readonly [field: string]: string }
}
