import { isPlainObject, type Json, type JsonObject, renameField } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { migrationsOf, since } from '../../engine/migrations.ts'

/**
 * The record of an event, or an entity that a step gave, with the names that fields have got since next to those of its
 * time: a run may have begun before its type was migrated.
 */
export function withTodaysNames<T extends Json | undefined>(engine: Engine, value: T, seq: number): T {
  if (!isPlainObject(value)) return value
  const { $type, entityType } = value as JsonObject
  if (typeof $type === 'string') return bothNames(engine, $type, value as JsonObject, seq) as T
  if (typeof entityType !== 'string') return value
  const parts = ['data', 'previous', 'args'].flatMap((part) => {
    const one = (value as JsonObject)[part]
    return isPlainObject(one) ? [[part, bothNames(engine, entityType, one as JsonObject, seq)]] : []
  })
  return { ...(value as JsonObject), ...Object.fromEntries(parts) } as T
}

function bothNames(engine: Engine, type: string, fields: JsonObject, seq: number): JsonObject {
  const renamed = since(migrationsOf(engine, type), seq).reduce(
    (now, migration) => ('from' in migration ? renameField(now, migration.from, migration.to) : now),
    fields,
  )
  return renamed === fields ? fields : { ...fields, ...renamed }
}
