/** A value as JSON knows it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** What a field holds. `secret` is written, hashed or kept aside, and never read back. */
export type Kind = 'string' | 'number' | 'boolean' | 'date' | 'datetime' | 'json' | 'secret' | 'enum'

/** What a computed field is worked out from: numbers, paths, arithmetic, and measures over many values. */
export type Expression =
  | { readonly op: 'number'; readonly value: number }
  | { readonly op: 'path'; readonly path: string }
  | { readonly op: 'negate'; readonly of: Expression }
  | { readonly op: Arithmetic; readonly left: Expression; readonly right: Expression }
  | { readonly op: Measure; readonly path: string }

export type Arithmetic = '+' | '-' | '*' | '/'
export type Measure = 'sum' | 'count' | 'min' | 'max' | 'avg'

/** A field that holds its own values. */
export interface ValueField {
  readonly name: string
  readonly kind: Kind
  /** True for `string[]`: a list of such values. */
  readonly list: boolean
  readonly required: boolean
  /** `#` indexed, `##` unique. */
  readonly index: 'none' | 'indexed' | 'unique'
  /** The words of an enum, in their order. */
  readonly values?: readonly string[]
  /** What a draft without this field gets; the word `now` of a date or datetime is the verb's time. */
  readonly default?: Json
  /** True for a field that only the service writes: `(set by the service)`. */
  readonly service: boolean
  /** What it is worked out from: `= sum(items.amount)`. Only the service writes it. */
  readonly computed?: Expression
  /** The bounds of a number: `number 0..100`. */
  readonly min?: number
  readonly max?: number
}

/** A field that names other entities: `-> Organization.contacts`, `-> Tag[]`. Stored as one id or a list of ids. */
export interface ForwardField {
  readonly name: string
  readonly kind: 'forward'
  readonly target: string
  readonly list: boolean
  readonly required: boolean
  /** The name of the way back on the target, when the notation gives one. */
  readonly inverse?: string
}

/** The way back of a forward field: `<- Deal.contact[]`. Never stored; always computed. */
export interface BackField {
  readonly name: string
  readonly kind: 'back'
  readonly target: string
  /** The forward field on the target that points here. */
  readonly via: string
  readonly list: boolean
}

export type Field = ValueField | ForwardField | BackField

/** A verb: what it is called in its three steps, from which states it runs, and what it sets. */
export interface Verb {
  readonly name: string
  /** `qualifying`: the name of its BEFORE hook. */
  readonly before: string
  /** `qualified`: the name of its event and of its AFTER hook. */
  readonly event: string
  /** The states it may start from; absent means any. States are those of `stateField`. */
  readonly from?: readonly string[]
  /** Fields set after the arguments are merged. `$now`, `$args.x`, `$next` and `$computed` are worked out at the time. */
  readonly set?: JsonObject
  /** Names of the arguments it is meant to take (for documentation; any field may be given). */
  readonly args?: readonly string[]
  /** The order in which `$next` walks through the states, where it is not that of the enum. */
  readonly order?: readonly string[]
  /** `event`: the arguments are kept in the event and change no field; what `set` declares still applies. */
  readonly keeps?: 'event'
}

/** Runs a verb once the time in a field has come. */
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
  /** What is before the underscore of its ids: `contact`, `apiKey`. */
  readonly prefix: string
  readonly fields: { readonly [name: string]: Field }
  /** Every verb, the built-in ones that are not switched off included. */
  readonly verbs: { readonly [name: string]: Verb }
  /** The enum field whose values are the states: the one that the verbs set, else `status`, else `stage`. */
  readonly stateField: string | null
  /** What runs by itself at the time of a field. */
  readonly timers: { readonly [name: string]: Timer }
  /** Fields whose values together belong to one entity only: `$unique: [["a", "b"]]`. */
  readonly unique: readonly (readonly string[])[]
  /** True when only verbs change the field of states. */
  readonly guarded: boolean
  /** The states that an entity of a guarded type may be created in, next to the default. */
  readonly start: readonly string[]
  /** A strict type refuses fields that are not declared. */
  readonly strict: boolean
  /** Where its entities are: their own row each, or the log record itself, as tracked events are. */
  readonly storage: 'entity' | 'log'
  /** The notation it was declared with, for `GET …/schema`. */
  readonly notation: JsonObject
}
