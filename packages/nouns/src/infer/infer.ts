import type { Json, JsonObject, Noun } from '../noun.ts'
import type { FileInput } from '../value/file.ts'
import type { PastTense, PresentParticiple } from './infer-english.ts'
import type {
  HasDefault,
  IsBack,
  IsFile,
  IsJson,
  IsPresent,
  IsRequired,
  IsSecret,
  IsService,
  TargetOf,
  ValueOf,
} from './infer-field.ts'

/** The notation of a type: a string is a field, an object a verb, null turns off a built-in verb. */
export type Notation = {
  readonly [key: string]: string | VerbNotation | null | boolean | undefined | TimersNotation | readonly unknown[]
}

/** The notation of `$timers`. */
type TimersNotation = {
  readonly [name: string]: {
    readonly at: string
    readonly from?: string | readonly string[]
    readonly when?: JsonObject
    readonly run: string
  }
}

/** The notation of a verb; missing names are derived from English. */
export interface VerbNotation {
  readonly event?: string
  readonly before?: string
  readonly from?: string | readonly string[]
  readonly set?: JsonObject
  readonly args?: string | readonly string[]
  readonly order?: readonly string[]
  readonly keeps?: 'event'
}

/** A noun with its name and notation in its type. */
export type NounOf<Name extends string, N extends Notation> = Omit<Noun, 'name' | 'notation'> & {
  readonly name: Name
  readonly notation: N
}

/** A type with the fields and verbs that another declaration of the same name adds. */
export type Extended<T extends Noun, Added extends Noun> =
  IsLoose<T> extends true
    ? T
    : IsLoose<Added> extends true
      ? Added
      : Omit<T, 'notation'> & {
          readonly notation: {
            readonly [K in keyof T['notation'] | keyof Added['notation']]: K extends keyof Added['notation']
              ? Added['notation'][K]
              : T['notation'][K]
          }
        }

/** Types by name, to follow relations. */
export type NounMap = { readonly [name: string]: Noun }

/** The meta-fields of every entity. */
export interface Meta<Name extends string = string> {
  readonly $id: string
  readonly $type: Name
  readonly $context: string
  readonly $version: number
  readonly $createdAt: string
  readonly $updatedAt: string
  readonly $createdBy: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** An entity in an answer: `Entity<typeof Contact>`. Fields that are required or have a default are always there. */
export type Entity<T extends Noun> = Meta<T['name']> &
  (IsLoose<T> extends true
    ? { readonly [field: string]: Json | undefined }
    : Flat<
        { readonly [K in PresentKeys<T>]: Value<T, K> } & {
          readonly [K in Exclude<ReadKeys<T>, PresentKeys<T>>]?: Value<T, K> | null
        }
      >)

/**
 * The input of a create: required fields must be present unless they have a default. An undefined field counts as
 * absent, so that optional fields can be copied from another entity.
 */
export type Draft<T extends Noun> =
  IsLoose<T> extends true
    ? { readonly [field: string]: unknown }
    : Flat<
        { readonly [K in NeededKeys<T>]: Given<T, K> } & {
          readonly [K in Exclude<WriteKeys<T>, NeededKeys<T>>]?: Written<T, K> | undefined
        }
      >

/** The input of an update; null clears a field that is neither required nor has a default. */
export type Patch<T extends Noun> =
  IsLoose<T> extends true
    ? { readonly [field: string]: unknown }
    : { readonly [K in WriteKeys<T>]?: Written<T, K> | undefined }

/** The verbs of a type, including active built-in ones. */
export type VerbName<T extends Noun> = IsLoose<T> extends true ? string : OwnVerb<T> | BuiltInVerb<T>

/** The arguments of a verb: any field, and the declared arguments. */
export type VerbArgs<T extends Noun, V extends VerbName<T>> =
  IsLoose<T> extends true
    ? { readonly [argument: string]: unknown }
    : T['notation'] extends { readonly [K in V]: { readonly keeps: 'event' } }
      ? { readonly [argument: string]: unknown }
      : Patch<T> & (T['notation'] extends { readonly [K in V]: { readonly args: infer A } } ? ArgsOf<A, T> : unknown)

/** An entity after a verb: the fields that the verb sets to a fixed text, such as the state, have that value. */
export type AfterVerb<T extends Noun, V extends string> = Entity<T> &
  (IsLoose<T> extends true
    ? unknown
    : T['notation'] extends { readonly [K in V]: { readonly set: infer S } }
      ? { readonly [K in keyof S as S[K] extends string ? (S[K] extends `$${string}` ? never : K) : never]: S[K] }
      : unknown)

/** The events of a type: `'Contact.created' | 'Contact.qualified' | …`. */
export type EventName<T extends Noun> =
  IsLoose<T> extends true ? `${T['name']}.${string}` : `${T['name']}.${EventStep<T>}`

/** The event names of a type without its name, which are also its AFTER hooks: `'created' | 'qualified' | …`. */
export type EventStep<T extends Noun> = OwnEvent<T> | BuiltInEvents[BuiltInVerb<T>]

/** The name of the BEFORE hook of a verb: `'qualify'` → `'qualifying'`. */
export type BeforeStep<T extends Noun, V extends VerbName<T>> = V extends keyof BuiltInBefores
  ? BuiltInBefores[V]
  : T['notation'] extends { readonly [K in V]: { readonly before: infer B extends string } }
    ? B
    : PresentParticiple<V>

/** The relations of a type in either direction: `'organization' | 'deals'`. */
export type RelationName<T extends Noun> = {
  [K in FieldKeys<T>]: [TargetOf<Text<T, K>>] extends [never] ? never : K
}[FieldKeys<T>]

/** Whether TypeScript does not know the notation, as for a type that a tenant declared at run time. */
export type IsLoose<T extends Noun> = string extends keyof T['notation'] ? true : false
/** The names of the fields, relations of either direction included. */
export type FieldKeys<T extends Noun> = {
  [K in keyof T['notation'] & string]: T['notation'][K] extends string ? (K extends `$${string}` ? never : K) : never
}[keyof T['notation'] & string]
/** The notation of one field. */
export type Text<T extends Noun, K extends string> = T['notation'][K] extends infer F extends string ? F : never
/** The type of one field. */
export type Value<T extends Noun, K extends string> = ValueOf<Text<T, K>>

/** The type of one field in a write: a file is named by its hash, with or without a name. */
type Given<T extends Noun, K extends string> =
  IsFile<Text<T, K>> extends true
    ? Value<T, K> extends readonly unknown[]
      ? readonly FileInput[]
      : FileInput
    : Value<T, K>

/** The names of the file fields of a type. */
export type FileField<T extends Noun> =
  IsLoose<T> extends true ? string : { [K in FieldKeys<T>]: IsFile<Text<T, K>> extends true ? K : never }[FieldKeys<T>]

type ReadKeys<T extends Noun> = {
  [K in FieldKeys<T>]: IsBack<Text<T, K>> extends true ? never : IsSecret<Text<T, K>> extends true ? never : K
}[FieldKeys<T>]
type WriteKeys<T extends Noun> = {
  [K in FieldKeys<T>]: IsBack<Text<T, K>> extends true ? never : IsService<Text<T, K>> extends true ? never : K
}[FieldKeys<T>]
type PresentKeys<T extends Noun> = {
  [K in ReadKeys<T>]: IsPresent<Text<T, K>> extends true ? K : never
}[ReadKeys<T>]

/** A field as it is written: null clears one that an entity can be without. */
type Written<T extends Noun, K extends string> = IsPresent<Text<T, K>> extends true ? Given<T, K> : Given<T, K> | null
type NeededKeys<T extends Noun> = {
  [K in WriteKeys<T>]: IsRequired<Text<T, K>> extends true ? (HasDefault<Text<T, K>> extends true ? never : K) : never
}[WriteKeys<T>]

interface BuiltInEvents {
  readonly create: 'created'
  readonly update: 'updated'
  readonly delete: 'deleted'
  readonly rollback: 'updated'
  readonly restore: 'restored'
}

interface BuiltInBefores {
  readonly create: 'creating'
  readonly update: 'updating'
  readonly delete: 'deleting'
  readonly rollback: 'rollingBack'
  readonly restore: 'restoring'
}

type SwitchedOff<T extends Noun> = {
  [K in keyof BuiltInEvents]: T['notation'] extends { readonly [Verb in K]: null } ? K : never
}[keyof BuiltInEvents]
type BuiltInVerb<T extends Noun> = Exclude<
  keyof BuiltInEvents,
  | SwitchedOff<T>
  | ('update' extends SwitchedOff<T> ? 'rollback' : never)
  | ('delete' extends SwitchedOff<T> ? 'restore' : never)
>
type OwnVerb<T extends Noun> = {
  [K in keyof T['notation'] & string]: T['notation'][K] extends string | null | boolean | undefined
    ? never
    : K extends `$${string}`
      ? never
      : K
}[keyof T['notation'] & string]
type OwnEvent<T extends Noun> = {
  [K in OwnVerb<T>]: T['notation'][K] extends { readonly event: infer E extends string } ? E : PastTense<K>
}[OwnVerb<T>]
type ArgsOf<A, T extends Noun> = A extends readonly (infer Name extends string)[]
  ? { readonly [K in Exclude<Name, FieldKeys<T>>]?: unknown }
  : unknown

type Flat<T> = { [K in keyof T]: T[K] } & {}

export type { IsBack, IsJson, TargetOf }
