import type { Entity, Noun, NounMap, VerbArgs, VerbName, Where } from '@tildebase/nouns'
import type { AnyJson } from '../transport/any-json.ts'
import type { Created, FindOptions, GetOptions } from './types.ts'
import type { DraftOf, PatchOf, VerbAnswer } from './verb-types.ts'

declare const VALUE: unique symbol

/** A value that an earlier step of the batch will give: `contact.$id`. */
export interface Ref<V> {
  readonly $ref: string
  readonly path: string
  readonly [VALUE]?: V
}

/** A step of a batch. Its properties are references to those of its result. */
export type Step<R> = { readonly [K in keyof R]-?: Ref<NonNullable<R[K]>> } & { readonly [RESULT]?: R }
declare const RESULT: unique symbol

/** The types of a tenant, as a batch writes them down. */
export type BatchBuilder<C extends NounMap> = { readonly [K in keyof C]: BatchCollection<C[K], C> }

type BatchCollection<T extends Noun, C extends NounMap> = BatchReading<T, C> &
  Omit<BatchVerbs<T, C>, keyof BatchReading<T, C>>

interface BatchReading<T extends Noun, C extends NounMap> {
  find(filter?: Where<T, C>, options?: FindOptions<T, string, string>): Step<{ readonly results: readonly Entity<T>[] }>
  get(id: string | Ref<string>, options?: GetOptions<string, string>): Step<Entity<T>>
}

type BatchVerbs<T extends Noun, C extends NounMap> =
  string extends VerbName<T>
    ? BatchBuiltIn<T, C> & { readonly [verb: string]: (...args: AnyJson[]) => Step<AnyJson> }
    : { readonly [V in VerbName<T>]: V extends keyof BatchBuiltIn<T, C> ? BatchBuiltIn<T, C>[V] : BatchVerb<T, V> }

type BatchVerb<T extends Noun, V extends VerbName<T>> = (
  id: string | Ref<string>,
  args?: Refs<VerbArgs<T, V>>,
) => Step<Entity<T> & VerbAnswer<T['name'], V>>

interface BatchBuiltIn<T extends Noun, C extends NounMap> {
  create(draft: Refs<DraftOf<T, C>>): Step<Created<T>>
  update(id: string | Ref<string>, patch: Refs<PatchOf<T, C>>): Step<Entity<T>>
  delete(id: string | Ref<string>): Step<null>
}

/** The same fields, each also as a reference. */
type Refs<D> = { readonly [K in keyof D]: D[K] | Ref<NonNullable<D[K]>> }

export interface BatchOptions {
  /** All or nothing: on any failure a Problem `batch_failed`, and nothing is written. */
  readonly atomic?: boolean
  readonly signal?: AbortSignal
}

/** What became of a batch. */
export interface BatchAnswer {
  readonly results: readonly { readonly id: string; readonly status: number; readonly body: AnyJson }[]
  /** What everything that the batch wrote shares. */
  readonly correlation: string | undefined
  /** The result of one step; its Problem is thrown when it failed. */
  of<R>(step: Step<R>): R
}
