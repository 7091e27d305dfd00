import { EVERYTHING, type Noun } from '@tildebase/nouns'
import { overBudget } from '../../budget.ts'
import type { SqlRow, SqlValue } from '../../ports.ts'
import { every, type Fragment, fragment, join, plain } from '../plan/fragment.ts'
import type { Scope } from '../plan/scope.ts'
import { among, countRows, partRows, ticking } from '../plan/select.ts'
import { queryRows, type ReadContext } from '../reader.ts'
import {
  type Aggregation,
  type Groups,
  groupValue,
  type Measure,
  MOST_GROUPS,
  measuredValue,
  type Shape,
  shapeOf,
  toGroup,
} from './aggregate.ts'
import { Search, SIZES } from './search.ts'

/** Groups that are held while parts are put together. */
const MOST_HELD = 100_000

/** Groups and measures the entities of a type, a slice at a time, as of the moment at which it began. */
export function* aggregateInSlices(
  reader: ReadContext,
  noun: Noun,
  asked: Aggregation,
  sizes = SIZES,
): Generator<void, Groups> {
  const shape = shapeOf(reader, noun, asked)
  const { filter = EVERYTHING, asOf = null } = asked
  const search = new Search(reader, { type: noun.name, filter, asOf, sort: [] }, sizes)
  const groups = new PartialGroups(shape)
  yield* search.parts(true, null, (from, end) => {
    const { rows, reached } = partGroups(reader, search, shape, from, end)
    for (const row of rows) groups.add(row)
    return reached
  })
  return groups.whole()
}

/** The groups of the entities between two places: their count, their values, and what measures are made from. */
function partGroups(reader: ReadContext, search: Search, shape: Shape, from: number, end: number) {
  const { plan } = search
  const { scope } = plan
  const isInMemory = plan.residual.length > 0
  const rows = isInMemory ? countRows(search.bare, true) : partRows(plan, from, end)
  const part = isInMemory ? search.part(from, end, true) : null
  const only = part ? among(scope, part.numbers) : ticking(plan, rows)
  const keys = shape.groups.map(({ path, period }) => groupValue(scope, path, period))
  const columns = [plain('count(*)'), ...keys, ...shape.measures.flatMap((measure) => partsOf(scope, measure))]
  const grouping = keys.length > 0 ? `GROUP BY ${keys.map((_, index) => index + 2).join(', ')}` : ''
  const read = fragment`SELECT ${join(columns, ', ')} FROM ${rows.from} WHERE ${every([...rows.where, ...only])} ${plain(grouping)}`
  return { rows: queryRows(reader, read), reached: part?.reached ?? end }
}

/** An average cannot be put together from averages: it takes a sum and a count. */
function partsOf(scope: Scope, { name, path }: Measure): Fragment[] {
  const value = measuredValue(scope, name, path)
  if (name === 'min' || name === 'max') return [fragment`${plain(name)}(${value})`]
  return name === 'sum' ? [fragment`total(${value})`] : [fragment`total(${value})`, fragment`count(${value})`]
}

/** Groups that are put together from parts. */
class PartialGroups {
  readonly #shape: Shape
  readonly #rows = new Map<string, SqlValue[]>()

  constructor(shape: Shape) {
    this.#shape = shape
  }

  /** Adds a group of one part. */
  add(row: Readonly<SqlRow>): void {
    const [count] = row
    if (count === 0) return
    const key = row.slice(1, this.#shape.groups.length + 1).join('\n')
    const known = this.#rows.get(key)
    if (!known) this.#rows.set(key, [...row])
    else this.#merge(known, row)
    if (this.#rows.size > MOST_HELD) throw overBudget('rows', `${MOST_HELD} groups`)
  }

  /** The groups of all parts. */
  whole(): Groups {
    const rows = [...this.#rows.values()]
    const total = rows.reduce((sum, [count]) => sum + (count as number), 0)
    if (rows.length === 0 && this.#shape.groups.length === 0) rows.push(this.#empty())
    const largest = rows.sort(([a], [b]) => (b as number) - (a as number)).slice(0, MOST_GROUPS)
    const { groups, measures } = this.#shape
    return { results: largest.map((row) => toGroup(this.#measured(row), groups, measures)), total }
  }

  #merge(known: SqlValue[], row: Readonly<SqlRow>): void {
    known[0] = (known[0] as number) + row[0]
    this.#each((measure, at) => {
      if (measure.name === 'min' || measure.name === 'max') known[at] = extreme(measure.name, known[at]!, row[at])
      else known[at] = (known[at] as number) + row[at]
      if (measure.name === 'avg') known[at + 1] = (known[at + 1] as number) + row[at + 1]
    })
  }

  /** A row whose averages are worked out. */
  #measured(row: readonly SqlValue[]): SqlRow {
    const whole = row.slice(0, this.#shape.groups.length + 1)
    this.#each(({ name }, at) => {
      const count = row[at + 1] as number
      whole.push(name === 'avg' ? (count === 0 ? null : (row[at] as number) / count) : row[at]!)
    })
    return whole as SqlRow
  }

  #empty(): SqlValue[] {
    const parts = { sum: [0], avg: [0, 0], min: [null], max: [null] }
    return [0, ...this.#shape.measures.flatMap(({ name }) => parts[name])]
  }

  /** Calls `visit` with each measure and the column at which its parts begin. */
  #each(visit: (measure: Measure, at: number) => void): void {
    let at = this.#shape.groups.length + 1
    for (const measure of this.#shape.measures) {
      visit(measure, at)
      at += measure.name === 'avg' ? 2 : 1
    }
  }
}

/** The smaller or larger of two values, as SQLite orders them: numbers come before texts, null is ignored. */
function extreme(name: 'min' | 'max', a: SqlValue, b: SqlValue): SqlValue {
  if (a === null || b === null) return a ?? b
  const isLess = typeof a === typeof b ? compare(a, b) < 0 : typeof a === 'number'
  return isLess === (name === 'min') ? a : b
}

function compare(a: SqlValue, b: SqlValue): number {
  if (typeof a === 'string' && typeof b === 'string') return byCodePoints(a, b)
  return (a as number) - (b as number)
}

/** SQLite compares texts by their UTF-8 bytes, which is the order of code points and not that of UTF-16. */
function byCodePoints(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; ) {
    const [x, y] = [a.codePointAt(i)!, b.codePointAt(i)!]
    if (x !== y) return x - y
    i += x > 0xffff ? 2 : 1
  }
  return a.length - b.length
}
