import { catalogue, type Noun, type Nouns, nounsOf } from '@tildebase/nouns'
import { type HookRegistry, Hooks, registryOf } from '@tildebase/tenant'

/** What an operator adds: `export const nouns = […]`, `export function hooks({ Contact }) { … }`. */
export interface ProgramFile {
  readonly nouns?: readonly Noun[]
  readonly hooks?: (on: HookRegistry) => void
}

/** The types and hooks of every tenant. */
export interface Program {
  readonly nouns: Nouns
  readonly hooks: Hooks
}

/** The built-in types, with the operator's own and their hooks. */
export function programOf({ nouns = [], hooks }: ProgramFile): Program {
  const registered = new Hooks()
  hooks?.(registryOf(registered))
  const builtIn = nounsOf(Object.values(catalogue) as Noun[])
  return { nouns: nouns.reduce((all, noun) => all.with(noun), builtIn), hooks: registered }
}
