import { convert, isPlainObject, type Json, type JsonObject, type Noun, renameField } from '@tildebase/nouns'
import { ownMigrations } from '../store/schema.ts'
import type { Engine } from './engine.ts'

/** A change of a type that converted what was stored: the seq of its last event, and what it did. */
export type Migration = { readonly seq: number } & (
  | { readonly from: string; readonly to: string }
  | { readonly retyped: string }
)

/** The migrations of a type, oldest first. */
export function migrationsOf(engine: Engine, type: string): readonly Migration[] {
  const all = engine.cache.get(['Schema'], 'migrations', () => ownMigrations<Migration>(engine.sql))
  return all.get(type) ?? NONE
}

const NONE: readonly Migration[] = []

/** A state from before migrations as they would have left it: what comes back from the past fits the type of today. */
export function migrated(engine: Engine, noun: Noun, seq: number, state: JsonObject): JsonObject {
  return afterMigrations(noun, since(migrationsOf(engine, noun.name), seq), state)
}

/** The migrations that came after an event. */
export function since(migrations: readonly Migration[], seq: number): readonly Migration[] {
  return migrations.filter((migration) => migration.seq > seq)
}

/** A state as these migrations would have left it. */
export function afterMigrations(noun: Noun, migrations: readonly Migration[], state: JsonObject): JsonObject {
  return migrations.reduce((now, migration) => {
    if ('from' in migration) return renameField(now, migration.from, migration.to)
    return retyped(noun, migration.retyped, now)
  }, state)
}

/** The name that these migrations have given a field. */
export function nameNow(migrations: readonly Migration[], field: string): string {
  return migrations.reduce(
    (name, migration) => ('from' in migration && migration.from === name ? migration.to : name),
    field,
  )
}

/** A value that the field of today cannot hold is left out. */
function retyped(noun: Noun, name: string, state: JsonObject): JsonObject {
  const field = noun.fields[name]
  const value = state[name] ?? null
  if (!field || field.kind === 'back' || value === null) return state
  const converted = convert(field, value)
  const { [name]: _, ...rest } = state
  return 'value' in converted && converted.value !== null ? { ...state, [name]: converted.value } : rest
}

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
