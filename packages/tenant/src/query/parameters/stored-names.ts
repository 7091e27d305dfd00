import { type Filter, type Noun, Problem } from '@tildebase/nouns'
import { Budget } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, isNarrowed } from '../../grant/grant.ts'
import { find } from '../answer/find.ts'
import { readContextOf } from '../read-context.ts'

/** What the search for one name may use. It is a courtesy: a request must not become slow by it. */
const LIMITS = { ms: 250, rows: 200_000, bytes: 1_048_576 }

/** Names that were found once. They are not looked for again, though their last entity may be gone by now. */
const found = new WeakMap<Engine, Set<string>>()

/** Whether some entity of a type that the grant sees has a field of this name. What cannot be found out counts as yes. */
export function isStored(engine: Engine, grant: Grant, noun: Noun, name: string, timer: () => number): boolean {
  if (isNarrowed(grant)) return search(engine, grant, noun, name, timer)
  const known = found.get(engine) ?? new Set<string>()
  found.set(engine, known)
  const key = `${noun.name}.${name}`
  if (known.has(key)) return true
  const there = engine.cache.get([noun.name], `stored ${key}`, () => search(engine, grant, noun, name, timer))
  if (there) known.add(key)
  return there
}

function search(engine: Engine, grant: Grant, noun: Noun, name: string, timer: () => number): boolean {
  const path = { text: name, hops: [], field: name, into: [] }
  const filter: Filter = { op: 'exists', path, value: true }
  const reader = readContextOf(engine, grant, new Budget(LIMITS, timer))
  try {
    return find(reader, { type: noun.name, filter, limit: 1, total: false }).results.length > 0
  } catch (reason) {
    if (reason instanceof Problem && reason.code === 'over_budget') return true
    throw reason
  }
}
