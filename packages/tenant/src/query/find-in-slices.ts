import type { Stored } from '../store/entities.ts'
import { lastSeq } from '../store/log.ts'
import { type Page, type Prepared, pageOf, placeFrom, prepared, type Query, remembered, rowsOf } from './find.ts'
import { every, fragment } from './fragment.ts'
import { embed } from './include.ts'
import { DEFAULT_LIMIT } from './limits.ts'
import { tester } from './memory.ts'
import type { CursorPosition, Order } from './order.ts'
import type { Plan } from './plan.ts'
import { queryRows, type ReadContext, within } from './reader.ts'
import { partRows, ticking, toStored } from './select.ts'
import { columns } from './source.ts'

/** How long a slice of a scan takes, about. */
const SLICE_MS = 2
/** Of how many rows the relations are read at once. */
const EMBEDDED = 10
/** Of how many places the first slice is, and how many rows are sorted at once. */
const SIZES = { first: 1_024, sorted: 2_000 }

/**
 * Answers a question that reads many rows, a slice at a time: between two slices others may have their turn, and write.
 * All of it is answered as of the moment at which it began.
 */
export function* findInSlices(reader: ReadContext, query: Query, sizes = SIZES): Generator<void, Page> {
  const search = new Search(reader, query, sizes)
  const { limit = DEFAULT_LIMIT, offset = 0, total } = query
  const { order, question, plan } = search.question
  const place = query.cursor ? placeFrom(plan, order, question, query.cursor) : null
  const inOrder = order.by === 'creation'
  // Without a total, what comes before the page and after it need not be read.
  const isPart = inOrder && total === false
  const enough = isPart ? offset + limit + 1 : Number.POSITIVE_INFINITY
  const found = yield* search.matches(inOrder && !order.descending, isPart ? place : null, enough)
  const numbers = inOrder ? pageNumbers(found, place, order.descending, offset, limit + 1) : found
  const rows = inOrder
    ? within(reader, () => rowsOf(search.bare, order, numbers, null, limit + 1, 0))
    : yield* search.sorted(numbers, place, offset, limit + 1)
  const bare = { ...query, include: [] }
  const page = within(reader, () => pageOf(reader, bare, search.question, rows, () => search.remember(found.length)))
  return query.include?.length ? { ...page, results: yield* search.embedded(page.results) } : page
}

/** Counts the entities that pass a filter, a slice at a time. */
export function* countInSlices(reader: ReadContext, query: Query): Generator<void, number> {
  const search = new Search(reader, { ...query, sort: [] }, SIZES)
  const found = yield* search.matches(true, null, Number.POSITIVE_INFINITY)
  return search.remember(found.length)
}

/** The numbers of a page, of entities in the order of creation. */
function pageNumbers(
  found: readonly number[],
  place: CursorPosition | null,
  descending: boolean,
  offset: number,
  limit: number,
): number[] {
  const ordered = found.toSorted((a, b) => (descending ? b - a : a - b))
  const beyond = place === null ? ordered : ordered.filter((n) => (descending ? n < place[0] : n > place[0]))
  return beyond.slice(offset, offset + limit)
}

/** A question as of the moment at which it was first asked. */
class Search {
  readonly #reader: ReadContext
  readonly #query: Query
  readonly #sizes: typeof SIZES
  readonly #seq: number
  /** The newest event when the question was planned last. */
  #settled: number
  question: Prepared

  constructor(reader: ReadContext, query: Query, sizes: typeof SIZES) {
    this.#sizes = sizes
    this.#reader = reader
    this.#query = query
    this.#seq = lastSeq(reader.sql)
    this.#settled = this.#seq
    this.question = prepared(reader, query)
  }

  /** The plan without conditions, for rows that have met them. */
  get bare(): Plan {
    this.#settle()
    return { ...this.question.plan, conditions: [], residual: [], match: null }
  }

  /** Keeps the total, unless something has been written since. */
  remember(total: number): number {
    if (lastSeq(this.#reader.sql) !== this.#seq) return total
    return remembered(this.#reader, this.#query, this.question.asked, undefined, total)
  }

  /** The numbers of the entities that pass the filter, in the order of creation or against it, until there are enough. */
  *matches(ascending: boolean, place: CursorPosition | null, enough: number): Generator<void, number[]> {
    const reader = this.#reader
    const end = this.#seq + 1
    const found: number[] = []
    let width = this.#sizes.first
    let at = ascending ? (place?.[0] ?? -1) + 1 : (place?.[0] ?? end)
    while ((ascending ? at < end : at > 0) && found.length < enough) {
      const from = ascending ? at : Math.max(0, at - width)
      const to = ascending ? Math.min(end, at + width) : at
      const begun = reader.budget.timer()
      within(reader, () => found.push(...this.#part(from, to)))
      const ms = reader.budget.timer() - begun
      width = ms < SLICE_MS / 2 ? width * 2 : ms > SLICE_MS ? Math.max(64, Math.floor(width / 2)) : width
      at = ascending ? to : from
      yield
    }
    return found
  }

  /** The rows of a page, of entities that passed: the best of each part, and then the best of those. */
  *sorted(
    numbers: readonly number[],
    place: CursorPosition | null,
    offset: number,
    limit: number,
  ): Generator<void, ReturnType<typeof rowsOf>> {
    const { order } = this.question
    // The index would be read as a whole to find them.
    const byValues: Order = order.by === 'index' ? { ...order, by: 'values' } : order
    const part = Math.max(this.#sizes.sorted, 2 * (offset + limit))
    let left = numbers
    while (left.length > part) {
      const best: number[] = []
      for (let start = 0; start < left.length; start += part) {
        const some = left.slice(start, start + part)
        const rows = within(this.#reader, () => rowsOf(this.bare, byValues, some, place, offset + limit, 0))
        for (const [n] of rows) best.push(n)
        yield
      }
      left = best
    }
    return within(this.#reader, () => rowsOf(this.bare, byValues, left, place, limit, offset))
  }

  /** The rows with their relations in them, some rows at a time. */
  *embedded(rows: readonly Stored[]): Generator<void, Stored[]> {
    const results: Stored[] = []
    for (let start = 0; start < rows.length; start += EMBEDDED) {
      yield
      this.#settle()
      const { type, include = [] } = this.#query
      const { moment } = this.question.plan.scope
      const some = rows.slice(start, start + EMBEDDED)
      results.push(...within(this.#reader, () => embed(this.#reader, type, some, include, moment)))
    }
    return results
  }

  #part(from: number, end: number): number[] {
    this.#settle()
    const { plan } = this.question
    const { scope, residual } = plan
    const rows = partRows(plan, from, end)
    const where = every([...rows.where, ...ticking(plan, rows)])
    if (residual.length === 0)
      return queryRows(this.#reader, fragment`SELECT ${rows.n} FROM ${rows.from} WHERE ${where}`).map(([n]) => n)
    const test = tester(scope, residual)
    return queryRows(this.#reader, fragment`SELECT ${columns(scope.source)} FROM ${rows.from} WHERE ${where}`)
      .map((row) => toStored(scope.type, row))
      .filter(test)
      .map(({ ordinal }) => ordinal)
  }

  /** Once something has been written since, the present is no longer what is asked for. */
  #settle(): void {
    const last = lastSeq(this.#reader.sql)
    if (last === this.#settled) return
    this.#settled = last
    const { asked, question } = this.question
    const asOf = this.#query.asOf ?? this.#seq
    this.question = { ...prepared(this.#reader, { ...this.#query, asOf }), asked, question }
  }
}
