import type { Noun } from '@tildebase/nouns'
import type { Budget } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import { readEntry, readEntryOf } from '../../store/log/log.ts'
import { find, withIds } from '../answer/find.ts'
import { readContextOf } from '../read-context.ts'
import { visibilityOf } from './visibility.ts'

/** Whether a grant may read an entity: its type, and it is among the rows that the grant sees now. */
export function isVisible(engine: Engine, grant: Grant, noun: Noun, id: string, budget?: Budget): boolean {
  return visibleAmong(engine, grant, noun, [id], budget).has(id)
}

/** Those of some entities that a grant may read. */
export function visibleAmong(
  engine: Engine,
  grant: Grant,
  noun: Noun,
  ids: readonly string[],
  budget?: Budget,
): ReadonlySet<string> {
  if (!may(grant, 'read', noun)) return NONE
  const query = { type: noun.name, filter: withIds(ids), limit: ids.length, total: false }
  return new Set(find(readContextOf(engine, grant, budget), query).results.map(({ id }) => id))
}

const NONE: ReadonlySet<string> = new Set()

/** Whether an entity exists for a grant, deleted or not: a deleted one is judged by its last record. */
export function isSeen(engine: Engine, grant: Grant, noun: Noun, id: string, budget?: Budget): boolean {
  if (noun.storage === 'entity' && isVisible(engine, grant, noun, id, budget)) return true
  const current = noun.storage === 'log' ? null : currentOf(engine.sql, noun.name, id)
  if (current === undefined || current?.deleted === false) return false
  const record = current ? readEntry(engine.sql, current.seq) : readEntryOf(engine.sql, id)
  return record !== undefined && visibilityOf(engine, grant, null).show(record) !== null
}
