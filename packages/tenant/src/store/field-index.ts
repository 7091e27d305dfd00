import { type Field, type Json, type JsonObject, listed, type Noun, Problem, SOURCE } from '@tildebase/nouns'
import type { Sql, SqlValue } from '../ports.ts'
import { NULL_KEY, OPEN } from './layout.ts'

/** A field that has rows in the index over fields, or several that are unique together. */
export interface IndexedField {
  readonly name: string
  /** The fields whose values together are one value of the index. */
  readonly together?: readonly string[]
  readonly number: number
  readonly unique: boolean
  readonly nulls: boolean
}

/** The fields of a noun that are indexed: `#`, `##`, relations, and where its entities came from. */
function indexedFields(noun: Noun): Field[] {
  const declared = Object.values(noun.fields).filter(
    (field) => field.kind === 'forward' || ('index' in field && field.index !== 'none'),
  )
  return noun.storage === 'entity' ? [...declared, SOURCE] : declared
}

/** Assigns a number to every indexed field of the noun, and returns the numbers. */
export function numberFields(sql: Sql, noun: Noun): IndexedField[] {
  const known = new Map(sql.rows('SELECT name, field FROM fields WHERE type = ?', noun.name) as [string, number][])
  const numberOf = (name: string): number => {
    const number = known.get(name)
    if (number !== undefined) return number
    sql.run('INSERT INTO fields (type, name) VALUES (?, ?)', noun.name, name)
    return sql.rows('SELECT field FROM fields WHERE type = ? AND name = ?', noun.name, name)[0]![0]
  }
  const single = indexedFields(noun).map((field) => {
    const value = 'index' in field ? field : null
    return {
      name: field.name,
      number: numberOf(field.name),
      unique: value?.index === 'unique',
      nulls: value !== null && !value.list,
    }
  })
  const joint = noun.unique.map((together) => {
    // No field has a name with a comma in it.
    const name = together.join(', ')
    return { name, together, number: numberOf(name), unique: true, nulls: false }
  })
  return [...single, ...joint]
}

/** A row of the index over fields that a change ends or begins. */
interface Move {
  readonly statement: typeof CLOSE | typeof INSERT
  readonly field: number
  readonly value: SqlValue
}

/**
 * Brings the index over fields from one state of an entity to the next; null is not a state (not yet, or deleted). What the
 * log says has happened, duplicates included.
 */
export function updateFieldIndex(
  sql: Sql,
  noun: Noun,
  fields: readonly IndexedField[],
  n: number,
  seq: number,
  before: JsonObject | null,
  after: JsonObject | null,
): void {
  writeFieldIndex(sql, fieldIndexChanges(sql, noun, fields, n, before, after, false, false), n, seq)
}

/** What a change moves in the index. A unique value that another entity has is refused here, before anything is written. */
export function fieldIndexChanges(
  sql: Sql,
  noun: Noun,
  fields: readonly IndexedField[],
  n: number,
  before: JsonObject | null,
  after: JsonObject | null,
  namesHolder = true,
  refusesDuplicates = true,
): readonly Move[] {
  const moves: Move[] = []
  for (const field of fields) {
    const olds = before ? valuesIn(field, before) : NONE
    const news = after ? valuesIn(field, after) : NONE
    for (const value of olds) if (!news.includes(value)) moves.push({ statement: CLOSE, field: field.number, value })
    for (const value of news) {
      if (olds.includes(value)) continue
      if (refusesDuplicates && field.unique && value !== NULL_KEY)
        refuseDuplicate(sql, noun, field, n, value, namesHolder)
      moves.push({ statement: INSERT, field: field.number, value })
    }
  }
  return moves
}

export function writeFieldIndex(sql: Sql, moves: readonly Move[], n: number, seq: number): void {
  for (const { statement, field, value } of moves) sql.run(statement, seq, field, value, OPEN, n)
}

/** The values under which an entity is in the index of a field. */
export function valuesIn(field: IndexedField, state: JsonObject): SqlValue[] {
  if (!field.together) return indexValues(field, state[field.name])
  const parts = field.together.map((name) => state[name] ?? null)
  // As with a single field, what is empty repeats nothing.
  return parts.includes(null) ? [] : [JSON.stringify(parts)]
}

/** The values under which a field's content is in the index. */
function indexValues(field: Pick<IndexedField, 'nulls'>, content: Json | undefined): SqlValue[] {
  if (Array.isArray(content)) return [...new Set(content.flatMap((element) => indexValues({ nulls: false }, element)))]
  if (typeof content === 'string' || typeof content === 'number') return [content]
  if (typeof content === 'boolean') return [content ? 1 : 0]
  return field.nulls ? [NULL_KEY] : []
}

const NONE: readonly SqlValue[] = []
const INSERT = 'INSERT INTO field_index (since, field, value, until, n) VALUES (?, ?, ?, ?, ?)'
const CLOSE = 'UPDATE field_index SET until = ? WHERE field = ? AND value = ? AND until = ? AND n = ?'
const HOLDER = 'SELECT n FROM field_index WHERE field = ? AND value = ? AND until = ? AND n <> ? LIMIT 1'

/** `namesHolder` is false for a narrowed grant, which may not see the entity that has the value. */
function refuseDuplicate(
  sql: Sql,
  noun: Noun,
  field: IndexedField,
  n: number,
  value: SqlValue,
  namesHolder: boolean,
): void {
  const holder = sql.rows(HOLDER, field.number, value, OPEN, n)[0]
  if (!holder) return
  const id = namesHolder ? `: ${sql.rows('SELECT id FROM entities WHERE n = ?', holder[0])[0]![0]}` : ''
  throw duplicate(noun, field, id)
}

/** The problem of a unique value that another entity has. */
export function duplicate(noun: Noun, { name, together }: IndexedField, holder: string): Problem {
  const what = together ? `these values of ${listed(together, 'and')}` : `this ${name}`
  const rule = together ? 'They must be unique together.' : 'It must be unique.'
  return new Problem('conflict', `Another ${noun.name} has ${what} already${holder}. ${rule}`, {
    type: noun.name,
    field: name,
    ...(together && { fields: together }),
  })
}
