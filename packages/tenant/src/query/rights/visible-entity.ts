import type { Noun } from '@tildebase/nouns'
import type { Budget } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import { readEntry, readEntryOf } from '../../store/log/log.ts'
import { find, withId } from '../answer/find.ts'
import { readContextOf } from '../read-context.ts'
import { visibilityOf } from './visibility.ts'

/** Whether a grant may read an entity: its type, and it is among the rows that the grant sees now. */
export function isVisible(engine: Engine, grant: Grant, noun: Noun, id: string, budget?: Budget): boolean {
  if (!may(grant, 'read', noun)) return false
  const query = { type: noun.name, filter: withId(id), limit: 1, total: false }
  return find(readContextOf(engine, grant, budget), query).results.length > 0
}

/** Whether an entity exists for a grant, deleted or not: a deleted one is judged by its last record. */
export function isSeen(engine: Engine, grant: Grant, noun: Noun, id: string, budget?: Budget): boolean {
  if (noun.storage === 'entity' && isVisible(engine, grant, noun, id, budget)) return true
  const current = noun.storage === 'log' ? null : currentOf(engine.sql, noun.name, id)
  if (current === undefined || current?.deleted === false) return false
  const record = current ? readEntry(engine.sql, current.seq) : readEntryOf(engine.sql, id)
  return record !== undefined && visibilityOf(engine, grant, null).show(record) !== null
}
