import type {
  BeforeStep,
  Draft,
  Entity,
  EventOf,
  EventStep,
  Include,
  IsLoose,
  Noun,
  NounMap,
  Patch,
  SortField,
  VerbArgs,
  VerbName,
  Where,
} from '@tildebase/nouns'
import type { HookRegistry } from './hooks.ts'

/** Registers hooks by type and step: `on.Contact.qualifying((contact) => …)`, `on.Contact.qualified(…)`. */
export type HooksOn<C extends NounMap> = string extends keyof C
  ? HookRegistry
  : { readonly [Name in keyof C & string]: StepsOf<C[Name], C, Name> }

type StepsOf<T extends Noun, C extends NounMap, Name extends string> =
  IsLoose<T> extends true
    ? HookRegistry[string]
    : { readonly [V in VerbName<T> as BeforeStep<T, V>]: (hook: TypedBeforeHook<T, C, V>) => void } & {
        readonly [E in EventStep<T>]: (hook: TypedAfterHook<T, C, `${Name}.${E}`>) => void
      }

/** May return fields to change, or throw to refuse. What is created is checked after the hook, so fields may be absent. */
type TypedBeforeHook<T extends Noun, C extends NounMap, V extends VerbName<T>> = (
  entity: V extends 'create' ? Partial<Draft<T>> : Entity<T>,
  $: HookReads<C>,
  args: V extends 'create' ? Partial<Draft<T>> : VerbArgs<T, V>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook may have no return statement.
) => Patch<T> | undefined | void

type TypedAfterHook<T extends Noun, C extends NounMap, Pattern extends string> = (
  entity: Entity<T>,
  $: HookReads<C> & HookWrites<C>,
  event: EventOf<C, Pattern>,
) => unknown

/** The tenant's data, at once: a hook runs inside the engine. */
export type HookReads<C extends NounMap> = {
  readonly [Name in keyof C]: {
    find(filter?: Where<C[Name], C>, options?: HookQuery<C[Name], C>): Entity<C[Name]>[]
    findOne(filter?: Where<C[Name], C>, options?: HookQuery<C[Name], C>): Entity<C[Name]> | null
    get(id: string): Entity<C[Name]> | null
    count(filter?: Where<C[Name], C>): number
  }
}

/** Every verb as a function. It answers at once, or with a promise where a stored hook has to be asked first. */
export type HookWrites<C extends NounMap> = {
  readonly [Name in keyof C]: IsLoose<C[Name]> extends true
    ? { readonly [verb: string]: (...args: unknown[]) => unknown }
    : { readonly [V in VerbName<C[Name]>]: HookVerb<C[Name], V> }
}

type HookVerb<T extends Noun, V extends VerbName<T>> = V extends 'create'
  ? (draft: Draft<T>) => Soon<Entity<T>>
  : V extends 'delete'
    ? (id: string) => Soon<null>
    : V extends 'rollback'
      ? (id: string, to: { readonly asOf: string }) => Soon<Entity<T>>
      : (id: string, args?: VerbArgs<T, V>) => Soon<Entity<T>>

type Soon<V> = V | Promise<V>

interface HookQuery<T extends Noun, C extends NounMap> {
  readonly sort?: { readonly [K in SortField<T>]?: 1 | -1 }
  readonly limit?: number
  readonly offset?: number
  readonly include?: readonly Include<T, C>[]
  readonly asOf?: string
}
