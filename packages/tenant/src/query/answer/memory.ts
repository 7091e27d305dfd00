import { type Filter, type Follow, type Hop, type JsonObject, type Look, matcher, type Regex } from '@tildebase/nouns'
import type { SqlRow } from '../../ports.ts'
import type { Stored } from '../../store/entities.ts'
import { eachEntry, type LogRow, readEntry } from '../../store/log/log.ts'
import { presence, scopeBehind } from '../plan/compile.ts'
import { eachOf, every, type Fragment, fragment, plain } from '../plan/fragment.ts'
import { PRESENT } from '../plan/moment.ts'
import type { Part, Plan } from '../plan/plan.ts'
import { fieldIndexAt, fieldIndexNumber, jsonPath, type Scope } from '../plan/scope.ts'
import { pageRows, readRows, ticking, toStored } from '../plan/select.ts'
import { columns, isLogged, sourceOf } from '../plan/source.ts'
import { formSince, nameThen, todaysForm } from '../plan/todays-form.ts'
import { queryRows, type ReadContext } from '../reader.ts'
import { regexTest } from '../words/regex.ts'
import { ElementCount } from './elements.ts'
import { asksFields, flat, stateOnce, viewFor } from './tested-view.ts'

const CHUNK = 1_000
/** Data of so many bytes is read row by row. */
const LARGE = 16_384
/** Its place among the columns of a row. */
const DATA = 6

/** Where a scan in memory begins and when it may end, when the order of creation is the order asked for. */
export interface Extent {
  readonly descending: boolean
  readonly after: number | null
  /** Ends after so many matches. */
  readonly enough: number
}

const WHOLE: Extent = { descending: true, after: null, enough: Number.POSITIVE_INFINITY }

/** The places of the entities that pass the parts of a filter which SQL cannot test; null when there are no such parts. */
export function chosen(plan: Plan, extent: Extent = WHOLE): number[] | null {
  if (plan.residual.length === 0) return null
  const passing = partTest(plan)
  const found: number[] = []
  for (const chunk of plan.match === null ? chunksOf(plan, extent) : matchingChunks(plan, extent)) {
    found.push(...passing(chunk))
    plan.scope.reader.budget.checkTime()
    if (found.length >= extent.enough) break
  }
  return found
}

/** The rows that meet what SQL can test, many at a time. */
function* chunksOf(plan: Plan, { descending, after }: Extent): Generator<readonly SqlRow[]> {
  const rows = pageRows(plan, { by: 'creation', descending })
  const read = testedColumns(plan)
  let place = after
  for (;;) {
    const beyond = place === null ? [] : [fragment`${rows.n} ${plain(descending ? '<' : '>')} ${place}`]
    const chunk = readRows(read, rows, beyond, CHUNK, 0)
    yield chunk
    if (chunk.length < CHUNK) return
    place = chunk.at(-1)![0]
  }
}

/** The same of a search: its words are looked up once, and not for each chunk. */
function* matchingChunks(plan: Plan, { descending, after }: Extent): Generator<readonly SqlRow[]> {
  const [words, ...conditions] = plan.conditions
  const order = { by: 'creation', descending } as const
  const isBeyond = (n: number) => after === null || (descending ? n < after : n > after)
  const numbers = matchingPlaces({ ...plan, conditions: [words!] }, descending).filter(isBeyond)
  const read = testedColumns({ ...plan, conditions, match: null })
  for (let start = 0; start < numbers.length; start += CHUNK) {
    const some = numbers.slice(start, start + CHUNK)
    yield readRows(read, pageRows(read, order, some), [], CHUNK, 0)
  }
}

/** The places of all rows that have the words of a search. */
function matchingPlaces(plan: Plan, descending: boolean): number[] {
  const rows = pageRows(plan, { by: 'creation', descending })
  const where = every([...rows.where, ...ticking(plan, rows)])
  const { sql, values } =
    fragment`SELECT ${rows.n} FROM ${rows.from} WHERE ${where} ORDER BY ${rows.n} ${plain(descending ? 'DESC' : 'ASC')}`
  return plan.scope.reader.sql.rows(sql, ...values).map(([n]) => n as number)
}

/**
 * Tests rows that were read with `testedColumns`: the places of those that pass the parts which SQL cannot test. It ends
 * after a row for which `goesOn` says no.
 */
export function partTest(plan: Plan) {
  const { scope, residual } = plan
  const test = fieldTest(scope, residual)
  const isSeen = residual.some((part) => 'records' in part) ? recordTest(scope.reader) : null
  return (rows: readonly SqlRow[], goesOn: (place: number, found: number) => boolean = () => true): number[] => {
    const found: number[] = []
    for (const row of testedRows(plan, rows)) {
      if (test(row)) found.push(row.ordinal)
      if (!goesOn(row.ordinal, found.length)) break
    }
    if (isSeen === null) return found
    const seen = new Set<number>()
    for (const record of eachEntry(scope.reader.sql, found)) if (isSeen(record)) seen.add(record.seq)
    return found.filter((seq) => seen.has(seq))
  }
}

/** The plan with the columns alone that its test in memory looks at: each one more costs as much as the test. */
export function testedColumns(plan: Plan): Plan {
  const { source } = plan.scope
  const { data } = source
  const none = plain('NULL')
  const asksMeta = !plan.residual.every((part) => 'filter' in part && asksFields(part.filter))
  const meta = asksMeta ? {} : { id: none, version: none, createdAt: none, creator: none, updatedAt: none }
  const small = source.isStored ? { data: fragment`CASE WHEN octet_length(${data}) < ${LARGE} THEN ${data} END` } : {}
  return { ...plan, scope: { ...plan.scope, source: { ...source, ...meta, ...small } } }
}

/** Rows that were read with `testedColumns`. Large data is read when its row is reached, so that little is in memory. */
function* testedRows({ scope }: Plan, rows: readonly SqlRow[]): Generator<Stored> {
  const { reader, source, type } = scope
  for (const row of rows) {
    if (row[DATA] !== null) yield toStored(reader, type, row)
    else {
      reader.budget.checkTime()
      const where = every([source.where, fragment`${source.n} = ${row[0] as number}`])
      const [large] = queryRows(reader, fragment`SELECT ${source.data} FROM ${source.from} WHERE ${where}`)
      yield toStored(reader, type, row.with(DATA, large![0]) as SqlRow)
    }
  }
}

/** Tests a row. `look` counts the elements of its lists, where several tests share what they may look at. */
type RowTest = (row: Stored, look?: Look) => boolean

/** Tests rows of a type in memory; what relations lead to is asked of the database as it is now. */
export function rowTest(reader: ReadContext, type: string, filter: Filter): RowTest {
  const scope = { reader, moment: PRESENT, type, source: sourceOf(reader, type, PRESENT, 'e'), narrowed: false }
  return tester(scope, [{ filter, narrowed: false }])
}

/** The reader's narrowing of a type, as a test of its rows in memory. */
export function narrowingTest(scope: Scope): (row: Stored) => boolean {
  const { reader, type } = scope
  const narrowing = reader.narrow?.(type) ?? null
  return tester(scope, [
    ...(narrowing === null ? [] : [{ filter: narrowing, narrowed: false }]),
    ...(isLogged(reader, type) ? [{ records: true } as const] : []),
  ])
}

/**
 * Whether a narrowed reader sees a log record: the state in the record matches the row filter of its type. Relations
 * are followed as they are now. A record without values, because they were erased, is not seen.
 */
export function recordTest(reader: ReadContext): (record: LogRow, look?: Look) => boolean {
  const tests = new Map<string, RowTest | null>()
  return (record, look) => {
    const test = kept(tests, record.type, () => {
      const rows = reader.nouns.get(record.type) ? (reader.narrow?.(record.type) ?? null) : null
      return rows && rowTest(reader, record.type, rows)
    })
    return (
      test === null || (record.data !== null && test(stateOnce(record, todaysData(reader, record, record.data)), look))
    )
  }
}

/** The state in a record in the form of today. */
function todaysData(reader: ReadContext, { type, seq }: LogRow, data: string): string {
  const form = formSince(reader, type, seq)
  return form ? JSON.stringify(form(JSON.parse(data) as JsonObject)) : data
}

/** A test of single rows. */
function tester(scope: Scope, parts: readonly Part[]): RowTest {
  const test = fieldTest(scope, parts)
  if (!parts.some((part) => 'records' in part)) return test
  const isSeen = recordTest(scope.reader)
  return (row, look) => test(row, look) && isSeen(readEntry(scope.reader.sql, row.ordinal)!)
}

/** A test of what rows have in their fields. */
function fieldTest(scope: Scope, parts: readonly Part[]): RowTest {
  const patterns = new Map<string, (text: string) => boolean>()
  const check = () => scope.reader.budget.checkTime()
  const regex: Regex = (pattern, flags) => kept(patterns, `${flags}/${pattern}`, () => regexTest(pattern, flags, check))
  const elements = new ElementCount(check)
  let count: Look = elements.look
  const filters = parts.filter((part) => 'filter' in part)
  const tests = filters.map(({ filter, narrowed }) => {
    const test = matcher(filter, follower({ ...scope, narrowed }), regex, (length) => count(length))
    const form = todaysForm({ ...scope, narrowed })
    return form ? (entity: JsonObject) => test(form(entity)) : test
  })
  const view = viewFor(filters.map(({ filter }) => filter))
  return (row, look = elements.look) => {
    const entity = view(row)
    elements.begin()
    count = look
    return tests.every((test) => test(entity))
  }
}

/** Follows relations by asking the database, each question once. */
function follower(scope: Scope): Follow {
  const answers = new Map<string, readonly JsonObject[]>()
  return (hop, entity) => {
    const from = hop.kind === 'back' ? [entity.$id as string] : idsIn(entity, hop)
    return kept(answers, JSON.stringify([hop.from, hop.field, hop.target, from]), () => related(scope, hop, from))
  }
}

function idsIn(entity: JsonObject, hop: Hop): string[] {
  const value = Object.hasOwn(entity, hop.field) ? entity[hop.field] : null
  const ids = hop.list && Array.isArray(value) ? value : [value]
  return ids.filter((id) => typeof id === 'string')
}

function related(scope: Scope, hop: Hop, from: readonly string[]): JsonObject[] {
  if (from.length === 0) return []
  const behind = scopeBehind(scope, hop, 't')
  const there = presence(behind)
  const read = queryRows(scope.reader, relatedRows(behind, hop, from, there ?? behind.source.where))
  const rows = read.map((row) => toStored(scope.reader, hop.target, row))
  const found = (there === null ? rows.filter(narrowingTest(behind)) : rows).map(flat)
  const form = todaysForm(behind)
  return form ? found.map(form) : found
}

function relatedRows(scope: Scope, hop: Hop, from: readonly string[], there: Fragment): Fragment {
  const { reader, moment, source, type } = scope
  const read = (rows: Fragment, ...where: Fragment[]) =>
    fragment`SELECT ${columns(source)} FROM ${rows} WHERE ${every([...where, there])}`
  if (hop.kind === 'forward')
    return read(fragment`${eachOf(from, 'i')} CROSS JOIN ${source.from}`, fragment`${source.id} = i.value`)
  const via = nameThen(scope, hop.via!)
  const number = fieldIndexNumber(reader, type, via)
  const f = plain('f')
  if (number === null) {
    const way = jsonPath([via])
    return read(
      source.from,
      fragment`EXISTS (SELECT 1 FROM json_each(${source.dataFor(via)}, ${way}) WHERE value = ${from[0]!})`,
    )
  }
  const pointing = fragment`f.field = ${number} AND f.value = ${from[0]!} AND ${fieldIndexAt(moment, f)} AND ${source.n} = f.n`
  return read(fragment`field_index f CROSS JOIN ${source.from}`, pointing)
}

function kept<T>(answers: Map<string, T>, key: string, compute: () => T): T {
  const known = answers.get(key)
  if (known !== undefined) return known
  const answer = compute()
  answers.set(key, answer)
  return answer
}
