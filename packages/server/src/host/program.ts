import { catalogue, extended, type Noun, type NounMap, type Nouns, nounsOf, type WithNouns } from '@tildebase/nouns'
import { type HookRegistry, Hooks, type HooksOn, registryOf } from '@tildebase/tenant/hooks'

/** What an operator adds: types in addition to the built-in ones, and hooks that are typed from both. */
export interface ProgramOf<N extends NounMap = NoNouns> {
  readonly nouns?: N
  readonly hooks?: ((on: HookRegistryOf<N>) => void) | undefined
}

/** The same as a file exports it, whose types are not known: `nouns` may be a list too. */
export interface ProgramFile {
  readonly nouns?: NounMap | readonly Noun[]
  readonly hooks?: ((on: never) => void) | undefined
}

/** What registers hooks of the built-in types and of these. */
export type HookRegistryOf<N extends NounMap = NoNouns> = HooksOn<WithNouns<N>>

/** No types next to the built-in ones. */
export type NoNouns = { readonly [name in never]: Noun }

/** Gives types to the hooks in a file for `--config`: `export default defineProgram({ nouns: { Ship }, hooks(on) { … } })`. */
export function defineProgram<N extends NounMap = NoNouns>(program: ProgramOf<N>): ProgramOf<N> {
  return program
}

/** The types and hooks of every tenant. */
export interface Program {
  readonly nouns: Nouns
  readonly hooks: Hooks
}

const BUILT_IN = nounsOf(Object.values(catalogue) as Noun[])

/** Whether a program has types of its own: one of hooks alone contradicts none of a tenant. */
export function hasTypes({ nouns }: Program): boolean {
  return nouns !== BUILT_IN
}

/** The built-in types, with the operator's own and their hooks. A type with the name of a built-in one adds to it. */
export function programOf({ nouns = [], hooks }: ProgramFile): Program {
  const registered = new Hooks()
  const registry: HookRegistry = registryOf(registered)
  hooks?.(registry as never)
  return {
    nouns: Object.values(nouns).reduce((all, noun) => all.with(declared(all, noun)), BUILT_IN),
    hooks: registered,
  }
}

function declared(nouns: Nouns, noun: Noun): Noun {
  const builtIn = nouns.get(noun.name)
  if (builtIn?.name !== noun.name) return noun
  const { $domain: _, $path: __, ...added } = noun.notation
  return extended(builtIn, added)
}
