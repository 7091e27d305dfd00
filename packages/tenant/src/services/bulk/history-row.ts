import {
  type ForwardField,
  isPlainObject,
  type Json,
  type JsonObject,
  Problem,
  parseInstant,
  SOURCE,
  targetNouns,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { idOfSource } from '../../store/entities.ts'
import { isSource } from '../../write/source.ts'

/** A change of the past, as a row of `import/history` says it. */
export interface PastChange {
  readonly type: string
  readonly id: string | null
  readonly source: string | null
  readonly verb: string
  readonly at: number
  readonly data: JsonObject
  readonly actor: string | null
}

const NAMES: readonly string[] = ['type', 'id', 'source', 'verb', 'timestamp', 'data', 'actor']

/** Reads a row, or refuses it with a sentence. */
export function pastChangeOf(value: unknown): PastChange {
  if (!isPlainObject(value)) throw wrong('A row must be a JSON object.', '')
  const unknown = Object.keys(value).find((name) => !NAMES.includes(name))
  if (unknown !== undefined)
    throw wrong(`${unknown.slice(0, 80)} is not a part of a row. A row has ${NAMES.join(', ')}.`, unknown)
  const { type, verb, timestamp, data = {} } = value
  if (typeof type !== 'string') throw wrong('type must be the name of a type, such as Contact.', 'type')
  if (typeof verb !== 'string') throw wrong('verb must be create, update, delete or another verb of the type.', 'verb')
  const at = typeof timestamp === 'string' ? parseInstant(timestamp) : null
  if (at === null)
    throw wrong('timestamp must be an ISO 8601 time, such as 2024-05-01T09:30:00Z: when it happened.', 'timestamp')
  if (at <= 0) throw wrong('timestamp must be after 1970-01-01T00:00:00Z, where the time of a log begins.', 'timestamp')
  if (!isPlainObject(data)) throw wrong('data must be a JSON object of fields.', 'data')
  const names = { id: nameIn(value, 'id'), source: nameIn(value, 'source'), actor: nameIn(value, 'actor') }
  return { type, verb, at, data: data as JsonObject, ...names }
}

function nameIn(row: { readonly [name: string]: unknown }, field: 'id' | 'source' | 'actor'): string | null {
  const value = row[field] ?? null
  if (value === null) return null
  if (isSource(value)) return value
  throw wrong(`${field} must be a text of 1 to 256 characters in one line.`, field)
}

/** The data of a row with the ids of what it refers to by `{"source": …}`. */
export function withIds(engine: Engine, type: string, data: JsonObject): JsonObject {
  const noun = engine.noun(type)
  const found: { [field: string]: Json } = {}
  for (const [name, value] of Object.entries(data)) {
    const field = Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
    if (field?.kind !== 'forward' || typeof value !== 'object' || value === null) continue
    const idOf = (one: Json) => idOfReference(engine, field, one)
    found[name] = Array.isArray(value) ? value.map(idOf) : idOf(value)
  }
  return { ...data, ...found }
}

function idOfReference(engine: Engine, field: ForwardField, value: Json): Json {
  if (!isPlainObject(value) || Object.keys(value).length !== 1 || !isSource(value.source)) return value
  for (const { name } of targetNouns(field, engine.nouns)) {
    const id = idFrom(engine, name, value.source)
    if (id !== undefined) return id
  }
  throw wrong(`${field.name} refers to the source ${value.source}, which no entity has.`, field.name)
}

/** The id of the entity of a type that came from a source, also when it is deleted. */
export function idFrom(engine: Engine, type: string, source: string): string | undefined {
  const number = engine.fieldNumber(type, SOURCE.name)
  return number === null ? undefined : idOfSource(engine.sql, number, source)
}

export function wrong(message: string, field: string): Problem {
  return new Problem('validation_error', message, { field })
}
