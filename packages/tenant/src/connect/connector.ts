import { isPlainObject, type Json, Problem } from '@tildebase/nouns'

/** How the objects of a provider become entities: `{"contacts": {"type": "Contact", "fields": {"email": "email"}}}`. */
export type Mapping = { readonly [object: string]: ObjectMapping }

export interface ObjectMapping {
  readonly type: string
  /** Their fields, each with ours. Several that have the same are joined by a space. */
  readonly fields: { readonly [field: string]: string }
  /** Their field with the time at which a record was created, for sources that do not say it otherwise. */
  readonly time?: string
}

/** Values of a record by their fields. */
export type Values = { readonly [field: string]: Json }

/** Values that a record got at a time. */
export interface PastValues {
  readonly at: string
  readonly values: Values
  readonly actor?: string
  /** The verb of our type that this was, if it is not `update`. */
  readonly verb?: string
}

/** A record of a provider. */
export interface Found {
  readonly id: string
  readonly createdAt: string
  /** When it changed last, if that is known. */
  readonly updatedAt?: string
  /** When it was deleted; absent while it exists. */
  readonly deletedAt?: string
  /** Its values as it was created, if its past is known, or now. */
  readonly values: Values
  readonly actor?: string
  /** What changed since, in any order. */
  readonly past: readonly PastValues[]
}

/** Asks a provider for a path below its address, and waits as long as it demands. */
export type Ask = (path: string) => Promise<Answer>

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: what a provider answers is read field by field
  readonly body: any
  readonly headers: { readonly [name: string]: string }
}

/** What a run of a connector is about. */
export interface Question {
  readonly object: string
  readonly mapping: ObjectMapping
  /** Only records that changed after this time, as they are now; null for all, with their past. */
  readonly since: string | null
  readonly now: number
  /** Which part of the provider: `owner/name` of a repository; null for all that the credentials read. */
  readonly scope: string | null
}

/** A source of records with their past. */
export interface Connector {
  readonly name: string
  /** Its address, unless another one is given. */
  readonly apiUrl: string
  /** The default. */
  readonly mapping: Mapping
  headers(token: string): { readonly [name: string]: string }
  /** A path that answers with 200 only if the credentials are valid. */
  checkPath(scope: string | null): string
  /** The records of an object. */
  records(ask: Ask, question: Question): AsyncGenerator<Found>
  /** The object that a field refers to by its id: `companies`. */
  refersTo(object: string, field: string): string | null
  /** Their values in our words: `closedwon` is `Won`. Null where a field has no such words. */
  words(object: string, field: string): { readonly [value: string]: string } | null
}

/** The name of an entity by where it came from. */
export function sourceOf(connector: string, object: string, id: string): string {
  return `${connector}:${object}:${id}`
}

/** The records in an answer. An answer without a list of them is not taken for their end. */
// biome-ignore lint/suspicious/noExplicitAny: what a provider answers is read field by field
export function listIn(value: unknown): any[] {
  if (Array.isArray(value) && value.every(isPlainObject)) return value
  throw new Problem('unavailable', 'The provider answered without a list of records.')
}

/** A path with parameters. */
export function pathWith(path: string, params: { readonly [name: string]: string | null }): string {
  const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== null)
  return `${path}?${given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`
}
