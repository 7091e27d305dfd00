import { type JsonObject, type Noun, SOURCE } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
import { allOf } from './entities.ts'
import { duplicate, type IndexedField, numberFields, updateFieldIndex } from './field-index.ts'
import { NULL_KEY, OPEN } from './layout.ts'
import { fixedNumber, nameNumber } from './names.ts'

/** Names and notations of the tenant's own types, in the order they were declared. */
export function ownTypes(sql: Sql): [string, JsonObject][] {
  return allOf(sql, 'Schema').map(({ data }) => {
    const { name, notation } = JSON.parse(data)
    return [name, notation]
  })
}

/** The migrations that the tenant's own types keep, by type; also of types that were taken back. */
export function ownMigrations<T>(sql: Sql): Map<string, readonly T[]> {
  const rows = sql.rows(
    `SELECT l.data ->> '$.name', l.data -> '$.migrations'
    FROM entities e JOIN log l ON l.seq = e.seq
    WHERE e.type IS ? AND l.data -> '$.migrations' IS NOT NULL`,
    nameNumber(sql, 'Schema'),
  )
  return new Map(rows.map(([name, migrations]) => [name, JSON.parse(migrations)]))
}

/** Names of the tenant's own roles, in the order they were defined. */
export function ownRoles(sql: Sql): string[] {
  return allOf(sql, 'AccessRole').map(({ data }) => JSON.parse(data).name)
}

/** Indexes what a new form of a type indexes and the old did not, the past included, and forgets what it no longer does. */
export function* rebuildFieldIndex(
  sql: Sql,
  noun: Noun,
  before: Noun | null,
  namesHolders = true,
): Generator<void, void> {
  const kept = new Set(before ? indexable(before) : [])
  const wanted = numberFields(sql, noun)
  for (const [name, number] of sql.rows('SELECT name, field FROM fields WHERE type = ?', noun.name)) {
    if (wanted.some((field) => field.name === name)) continue
    yield* emptyIndex(sql, number)
    sql.run('DELETE FROM fields WHERE field = ?', number)
  }
  const added = wanted.filter((field) => !kept.has(signature(noun, field.name)))
  for (const field of added) yield* emptyIndex(sql, field.number)
  if (added.length === 0) return
  yield* replayFacts(sql, noun, added)
  for (const field of added) if (field.unique) yield* refuseDuplicates(sql, noun, field, namesHolders)
}

/** Refuses a unique field whose values repeat among the entities that there are now; the past may have had them. */
function* refuseDuplicates(sql: Sql, noun: Noun, field: IndexedField, namesHolders: boolean): Generator<void, void> {
  let [from] = sql.rows('SELECT value FROM field_index WHERE field = ? ORDER BY value LIMIT 1', field.number)
  while (from !== undefined) {
    const [to] = sql.rows(NEXT_VALUES, field.number, from[0], PAGE)
    const range = [field.number, OPEN, NULL_KEY, from[0]]
    const [repeated] = to
      ? sql.rows(repeatedIn('AND f.value < ?'), ...range, to[0])
      : sql.rows(repeatedIn(''), ...range)
    if (repeated) throw duplicate(noun, field, namesHolders ? `: ${repeated[0]} and ${repeated[1]}` : '')
    from = to
    yield
  }
}

const NEXT_VALUES = `
  SELECT value
  FROM field_index
  WHERE field = ? AND value > ?
  ORDER BY value
  LIMIT 1 OFFSET ?`

const repeatedIn = (end: string) => `
  SELECT min(e.id), max(e.id), count(*)
  FROM field_index f JOIN entities e ON e.n = f.n
  WHERE f.field = ? AND f.until = ? AND f.value <> ? AND f.value >= ? ${end}
  GROUP BY f.value
  HAVING count(*) > 1
  LIMIT 1`

/** Forgets all indexed fields of a type. */
export function dropFields(sql: Sql, type: string): void {
  sql.run('DELETE FROM field_index WHERE field IN (SELECT field FROM fields WHERE type = ?)', type)
  sql.run('DELETE FROM fields WHERE type = ?', type)
}

/** Removes the rows of a field, some at a time. */
function* emptyIndex(sql: Sql, field: number): Generator<void, void> {
  while (sql.rows('SELECT 1 FROM field_index WHERE field = ? LIMIT 1', field).length > 0) {
    sql.run(
      `DELETE FROM field_index
      WHERE (field, value, until, n) IN (SELECT field, value, until, n FROM field_index WHERE field = ? LIMIT ${PAGE})`,
      field,
    )
    yield
  }
}

/** Writes the rows of new indexed fields by going through the versions of every entity of the type, oldest first. */
function* replayFacts(sql: Sql, noun: Noun, fields: readonly IndexedField[]): Generator<void, void> {
  const states = new Map<number, JsonObject | null>()
  for (let after = 0; ; ) {
    const versions = sql.rows(VERSIONS, nameNumber(sql, noun.name), after, PAGE)
    for (const [seq, n, verb, data] of versions) {
      // What lost in a sync changed nothing.
      if (verb === fixedNumber('conflict')) continue
      const state = verb === fixedNumber('delete') || data === null ? null : indexedPart(fields, JSON.parse(data))
      updateFieldIndex(sql, noun, fields, n, seq, states.get(n) ?? null, state)
      states.set(n, state)
    }
    if (versions.length < PAGE) return
    after = versions.at(-1)![0]
    yield
  }
}

const PAGE = 200
const VERSIONS = `
  SELECT seq, n, verb, data
  FROM log
  WHERE type IS ? AND seq > ? AND n IS NOT NULL
  ORDER BY seq
  LIMIT +?`

/** What the index needs of a state: the rest of all entities would fill the memory. */
function indexedPart(fields: readonly IndexedField[], state: JsonObject): JsonObject {
  const names = fields.flatMap(({ name, together }) => together ?? [name])
  return Object.fromEntries(names.filter((name) => state[name] !== undefined).map((name) => [name, state[name]!]))
}

function indexable(noun: Noun): string[] {
  return [...Object.keys(noun.fields), SOURCE.name, ...noun.unique.map((names) => names.join(', '))].map((name) =>
    signature(noun, name),
  )
}

/** Fields with the same signature have the same rows in the index. */
function signature(noun: Noun, name: string): string {
  const field = noun.fields[name]
  if (!field) return name
  return JSON.stringify([name, field.kind, 'index' in field ? field.index : '', 'list' in field && field.list])
}
