import { TURN } from '../../engine/turns.ts'
import type { Stored } from '../../store/entities.ts'
import { lastSeq } from '../../store/log/log.ts'
import { every, fragment } from '../plan/fragment.ts'
import type { CursorPosition, Order } from '../plan/order.ts'
import type { Plan } from '../plan/plan.ts'
import { partRows, ticking } from '../plan/select.ts'
import { columns } from '../plan/source.ts'
import { queryRows, type ReadContext, within } from '../reader.ts'
import { type Prepared, prepared, type Query, rowsOf } from './find.ts'
import { embed } from './include.ts'
import { keepOrder } from './kept-order.ts'
import { partTest, testedColumns } from './memory.ts'
import { remembered, typesOf } from './totals.ts'

/** Of how many rows the relations are read at once. */
const EMBEDDED = 10
/**
 * Of how many places the first slice is, how many rows are sorted at once, and how many of an order are kept: the next
 * pages need not be sorted for again.
 */
export const SIZES = { first: 128, sorted: 2_000, kept: 200 }

/** A question as of the moment at which it was first asked, answered slice by slice. */
export class Search {
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

  /** The plan, as of the moment of the question. */
  get plan(): Plan {
    this.#settle()
    return this.question.plan
  }

  /** The plan without conditions, for rows that have met them. */
  get bare(): Plan {
    return { ...this.plan, conditions: [], residual: [], match: null }
  }

  /** Keeps the total, unless something has been written since. */
  remember(total: number): number {
    if (lastSeq(this.#reader.sql) !== this.#seq) return total
    return remembered(this.#reader, this.#query, this.question.asked, undefined, total)
  }

  /** The numbers of the entities that pass the filter, in the order of creation or against it, until there are enough. */
  *matches(ascending: boolean, place: CursorPosition | null, enough: number): Generator<void, number[]> {
    const found: number[] = []
    const take = (from: number, end: number) => {
      const { numbers, reached } = this.part(from, end, ascending)
      found.push(...numbers)
      return found.length < enough ? reached : null
    }
    yield* this.parts(ascending, place, take)
    return found
  }

  /** Calls `take` for one part after the other of all places. It returns the place that it reached, or null at the end. */
  *parts(
    ascending: boolean,
    place: CursorPosition | null,
    take: (from: number, end: number) => number | null,
  ): Generator<void, void> {
    const reader = this.#reader
    const last = Math.min(this.#query.asOf ?? this.#seq, this.#seq) + 1
    const slice = new SliceWidth(this.#sizes.first)
    let at = ascending ? (place?.[0] ?? -1) + 1 : (place?.[0] ?? last)
    while (ascending ? at < last : at > 0) {
      const from = ascending ? at : Math.max(0, at - slice.width)
      const end = ascending ? Math.min(last, at + slice.width) : at
      const begun = reader.budget.timer()
      const reached = within(reader, () => take(from, end))
      slice.took(reader.budget.timer() - begun)
      yield
      if (reached === null) return
      at = reached
    }
  }

  /** The rows of a page, of entities that passed: the best of each part, and then the best of those. */
  *sorted(
    numbers: readonly number[],
    place: CursorPosition | null,
    offset: number,
    limit: number,
  ): Generator<void, ReturnType<typeof rowsOf>> {
    const { order } = this.question
    // These entities are few: sorting their values is cheaper than reading the whole index in its order.
    const byValues: Order = order.by === 'index' ? { ...order, by: 'values' } : order
    const most = Math.max(this.#reader.orders ? this.#sizes.kept : 0, offset + limit)
    const part = Math.max(this.#sizes.sorted, 2 * most)
    let left = numbers
    while (left.length > part) {
      const best: number[] = []
      for (let start = 0; start < left.length; start += part) {
        const some = left.slice(start, start + part)
        const rows = within(this.#reader, () => rowsOf(this.bare, byValues, some, place, most, 0))
        for (const [n] of rows) best.push(n)
        yield
      }
      left = best
    }
    const rows = within(this.#reader, () => rowsOf(this.bare, byValues, left, place, most, 0))
    this.#keep(place, rows, rows.length < most)
    return rows.slice(offset, offset + limit)
  }

  /** Keeps what was sorted for the next pages, unless something has been written since. */
  #keep(place: CursorPosition | null, rows: ReturnType<typeof rowsOf>, isWhole: boolean): void {
    if (lastSeq(this.#reader.sql) !== this.#seq) return
    const { asked, order } = this.question
    const numbers = rows.map(([n]) => n as number)
    keepOrder(this.#reader, { asked, order, types: typesOf(this.#query) }, place, numbers, isWhole)
  }

  /** The rows with their relations in them, some rows at a time. */
  *embedded(rows: readonly Stored[]): Generator<void, Stored[]> {
    const results: Stored[] = []
    for (let start = 0; start < rows.length; start += EMBEDDED) {
      yield
      const { type, include = [] } = this.#query
      const { moment } = this.plan.scope
      const some = rows.slice(start, start + EMBEDDED)
      results.push(...within(this.#reader, () => embed(this.#reader, type, some, include, moment)))
    }
    return results
  }

  /**
   * The numbers of the entities between two places that pass the filter, as far as one turn reaches where they are tested
   * in memory.
   */
  part(from: number, end: number, ascending: boolean): { readonly numbers: number[]; readonly reached: number } {
    const plan = this.plan
    const rows = partRows(plan, from, end)
    const read = fragment`FROM ${rows.from} WHERE ${every([...rows.where, ...ticking(plan, rows)])}`
    const whole = ascending ? end : from
    if (plan.residual.length === 0)
      return { numbers: queryRows(this.#reader, fragment`SELECT ${rows.n} ${read}`).map(([n]) => n), reached: whole }
    const { source } = testedColumns(plan).scope
    const found = queryRows(this.#reader, fragment`SELECT ${columns(source)} ${read}`)
    const inOrder = found.sort(([a], [b]) => (ascending ? a - b : b - a))
    const { timer } = this.#reader.budget
    const until = timer() + TURN.longest
    let reached = whole
    const numbers = partTest(plan)(inOrder, (place) => {
      if (timer() < until || place === inOrder.at(-1)![0]) return true
      reached = ascending ? place + 1 : place
      return false
    })
    return { numbers, reached }
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

/** How many places the narrowest slice has, and after how many of them that take too long a wider one is tried. */
const NARROWEST = 64
const PATIENCE = 8

/**
 * Of how many places the next slice is, so that it takes the time of a turn. Each slice also has work that is the same
 * however narrow it is, such as finding what a relation leads to: slices are not made so narrow that they do little else.
 */
export class SliceWidth {
  width: number
  /** How many milliseconds a slice may take. */
  #most: number = TURN.read
  #before = { width: 0, ms: 0 }
  #slow = 0

  constructor(width: number) {
    this.width = width
  }

  took(ms: number): void {
    const slice = { width: this.width, ms }
    const [narrow, wide] = slice.width < this.#before.width ? [slice, this.#before] : [this.#before, slice]
    // The work that both have is what is left when the places that only the wide one has are taken away twice.
    if (wide.width === 2 * narrow.width) this.#most = Math.max(TURN.read, 3 * (2 * narrow.ms - wide.ms))
    this.#before = slice
    if (ms > this.#most && slice.width <= NARROWEST) this.#slow++
    if (ms < this.#most / 2 || this.#slow === PATIENCE) this.#resize(slice.width * 2)
    else if (ms > this.#most) this.#resize(Math.max(NARROWEST, Math.floor(slice.width / 2)))
  }

  #resize(width: number): void {
    if (width !== this.width) this.#slow = 0
    this.width = width
  }
}
