import type { Noun } from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { find, withId } from './find.ts'
import { readContextOf } from './read-context.ts'

/** Whether an entity is among the rows that a grant sees now. */
export function isVisible(engine: Engine, grant: Grant, noun: Noun, id: string, budget?: Budget): boolean {
  const query = { type: noun.name, filter: withId(id), limit: 1, total: false }
  return find(readContextOf(engine, grant, budget), query).results.length > 0
}
