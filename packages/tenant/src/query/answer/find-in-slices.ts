import { DEFAULT_LIMIT } from '../parameters/limits.ts'
import type { CursorPosition } from '../plan/order.ts'
import { type ReadContext, within } from '../reader.ts'
import { keptPage, type Page, pageOf, placeFrom, type Query, rowsOf } from './find.ts'
import { Search, SIZES } from './search.ts'

/**
 * Answers a question that reads many rows, a slice at a time: between two slices others may have their turn, and write.
 * All of it is answered as of the moment at which it began.
 */
export function* findInSlices(reader: ReadContext, query: Query, sizes = SIZES): Generator<void, Page> {
  const search = new Search(reader, query, sizes)
  const { limit = DEFAULT_LIMIT, offset = 0, total } = query
  const { order, question } = search.question
  const place = query.cursor ? placeFrom(order, question, query.cursor) : null
  const kept = within(reader, () => keptPage(reader, query, search.question, place))
  if (kept) return kept
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
