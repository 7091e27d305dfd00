import type { Kind } from '../../../packages/tenant/src/authorship/stored.ts'
import type { Goal } from './authors.ts'
import type { DependentKind } from './kinds.ts'
import type { Grant, World } from './world.ts'

/** One way to abuse a kind of stored thing. */
export interface Attack {
  readonly kind: Kind | DependentKind
  readonly name: string
  readonly goal: Goal
  readonly ways: readonly string[]
  /** Stores the thing, in one of the ways. */
  run(world: World, author: Grant, way: string): void | Promise<void>
}
