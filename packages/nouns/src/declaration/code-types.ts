import type { Catalogue } from '../catalogue/index.ts'
import type { EventOf, EventRecord } from '../event.ts'
import type {
  BeforeStep,
  Draft,
  Entity,
  EventStep,
  Extended,
  IsLoose,
  NounMap,
  Patch,
  VerbArgs,
  VerbName,
} from '../infer/infer.ts'
import type { Include, SortField, Where } from '../infer/infer-where.ts'
import type { Json, Noun } from '../noun.ts'

/**
 * The types of your tenant. It is empty: the file that `tilde types` writes adds them, and then clients, hooks and workflows
 * know them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the file of `tilde types` adds the types.
export interface TenantNouns {}

/** The types that `tilde types` has written down. */
export type RegisteredNouns = {
  readonly [Name in keyof TenantNouns]: TenantNouns[Name] extends Noun ? TenantNouns[Name] : never
}

/** The built-in types with these next to them, or added to one of the same name. */
export type WithNouns<N extends NounMap> = Omit<Catalogue, keyof N> & {
  readonly [Name in keyof N]: Name extends keyof Catalogue ? Extended<Catalogue[Name], N[Name]> : N[Name]
}

/** A declared type with the fields and verbs of the built-in type of its name. */
export type WithBuiltIn<T extends Noun> = T['name'] extends keyof Catalogue ? Extended<Catalogue[T['name']], T> : T

/** All types that stored code knows. */
export type KnownNouns = WithNouns<RegisteredNouns>

/** The data of a tenant as stored code reads it. */
export type CodeReads<C extends NounMap = KnownNouns> = {
  readonly [Name in keyof C]: {
    find(filter?: Where<C[Name], C>, options?: CodeQuery<C[Name], C>): Promise<Entity<C[Name]>[]>
    findOne(filter?: Where<C[Name], C>, options?: CodeQuery<C[Name], C>): Promise<Entity<C[Name]> | null>
    get(id: string): Promise<Entity<C[Name]> | null>
    count(filter?: Where<C[Name], C>): Promise<number>
  }
}

/** The same, and every verb as a function. */
export type CodeWrites<C extends NounMap = KnownNouns> = CodeReads<C> & {
  readonly [Name in keyof C]: IsLoose<C[Name]> extends true
    ? { readonly [verb: string]: (...args: never[]) => Promise<never> }
    : { readonly [V in VerbName<C[Name]>]: CodeVerb<C[Name], V> }
}

/** The hooks of a type, by step. */
export type HooksOf<T extends Noun> =
  IsLoose<T> extends true
    ? { readonly [step: string]: Code<(entity: Json, $: CodeWrites, more: Json) => unknown> }
    : { readonly [V in VerbName<T> as BeforeStep<T, V>]?: Code<StoredBefore<T, V>> } & {
        readonly [E in EventStep<T>]?: Code<StoredAfter<T, E>>
      }

/** A step of a workflow that runs code. */
export type WorkflowCode<Pattern extends string> = (
  event: EventOf<KnownNouns, Pattern>,
  $: CodeWrites,
  steps: readonly Json[],
) => unknown

/** Code as a function, or as its text. */
export type Code<F> = F | string

type StoredBefore<T extends Noun, V extends VerbName<T>> = (
  entity: V extends 'create' ? Partial<Draft<T>> : Entity<T>,
  $: CodeReads,
  args: V extends 'create' ? Partial<Draft<T>> : VerbArgs<T, V>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook may have no return statement.
) => Patch<T> | undefined | void | Promise<Patch<T> | undefined | void>

type StoredAfter<T extends Noun, E extends string> = (
  entity: Entity<T>,
  $: CodeWrites,
  event: Omit<EventRecord, 'type' | 'data'> & { readonly type: `${T['name']}.${E}`; readonly data: Entity<T> },
) => unknown

type CodeVerb<T extends Noun, V extends VerbName<T>> = V extends 'create'
  ? (draft: Draft<T>) => Promise<Entity<T>>
  : V extends 'delete'
    ? (id: string) => Promise<null>
    : V extends 'rollback'
      ? (id: string, to: { readonly asOf: string }) => Promise<Entity<T>>
      : (id: string, args?: VerbArgs<T, V>) => Promise<Entity<T>>

interface CodeQuery<T extends Noun, C extends NounMap> {
  readonly sort?: { readonly [K in SortField<T>]?: 1 | -1 }
  readonly limit?: number
  readonly offset?: number
  readonly include?: readonly Include<T, C>[]
  readonly asOf?: string
}
