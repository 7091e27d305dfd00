import { Problem } from '@tildebase/nouns'
import type { SqlRow } from '../../ports.ts'
import { every, fragment, listOf, plain } from '../plan/fragment.ts'
import type { CursorPosition, Order } from '../plan/order.ts'
import type { Plan } from '../plan/plan.ts'
import type { Scope } from '../plan/scope.ts'
import { pageRows, readRows, ticking, toStored } from '../plan/select.ts'
import { columns, isLogged } from '../plan/source.ts'
import { queryRows, type Ranking, type ReadContext } from '../reader.ts'
import { relevanceOf } from './relevance.ts'
import { searchedText } from './text-index.ts'

/** So many matches come by relevance, and the others after them, newest first. */
const MOST_RANKED = 500
const BY_CREATION = { by: 'creation', descending: true } as const

/**
 * How far a reader has walked through the matches of a search. Every write shifts all ranks, so a place in their order
 * means nothing later: the walk names the matches that it has passed, as long as they come by relevance.
 */
export interface Walk {
  /** The newest event when the walk began: entities created since are not part of it. */
  readonly until: number
  readonly passed: readonly number[]
  /** The last match that came by its creation; null while they come by relevance. */
  readonly last: number | null
}

/** Ranks the matches of a search: the words are looked up once, for the order and for the total. */
export function rank(plan: Plan, order: Order, only: readonly number[] | null): Ranking {
  const { reader } = plan.scope
  const rows = pageRows(plan, order, only)
  const where = every([...rows.where, ...ticking(plan, rows)])
  // The score of the index counts how often a word is in all texts, hidden ones included: an order by it would tell that.
  const score = plain(reader.seesPart ? 'NULL' : 'r.score')
  const { sql, values } =
    fragment`WITH found AS MATERIALIZED (SELECT ${rows.n} AS n, ${score} AS score FROM ${rows.from} WHERE ${where})
  SELECT n, score, (SELECT count(*) FROM found) FROM found ORDER BY score, n DESC LIMIT +${MOST_RANKED}`
  const found = reader.sql.rows(sql, ...values)
  const best = found.map(([n]) => n as number)
  return { best: reader.seesPart ? byOwnTexts(plan, best) : best, total: found[0]?.[2] ?? 0 }
}

/** So many characters are compared, and so many rows read at once. */
const MOST_COMPARED = 1_048_576
const PAGE = 25

/** Matches in the order of a relevance that follows from their own texts alone. Those beyond the bound come last. */
function byOwnTexts({ scope, words }: Plan, numbers: readonly number[]): readonly number[] {
  const { reader, type } = scope
  if (isLogged(reader, type) || numbers.length < 2) return numbers
  const texts: string[] = []
  let length = 0
  for (let at = 0; at < numbers.length && length < MOST_COMPARED; at += PAGE) {
    reader.budget.checkTime()
    for (const row of rankedRows(reader, scope, numbers.slice(at, at + PAGE))) {
      texts.push(searchedText(reader.nouns, type, toStored(reader, type, row).data))
      length += texts.at(-1)!.length
    }
  }
  const relevance = relevanceOf(words, texts)
  const order = texts.map((_, i) => i).sort((a, b) => relevance[b]! - relevance[a]! || a - b)
  return [...order.map((i) => numbers[i]!), ...numbers.slice(texts.length)]
}

/** The next matches of a walk, and where it is after the first `limit` of them. */
export function walkOn(
  plan: Plan,
  { best, total }: Ranking,
  only: readonly number[] | null,
  walk: Walk,
  offset: number,
  limit: number,
): { readonly rows: readonly SqlRow[]; readonly next: Walk } {
  const passed = new Set(walk.passed)
  const room = walk.last === null ? MOST_RANKED - passed.size : 0
  const left = best.filter((n) => n <= walk.until && !passed.has(n))
  const open = left.slice(0, room)
  const ranked = open.slice(offset, offset + limit + 1)
  const isWhole = best.length === total && open.length === left.length
  const missing = isWhole ? 0 : limit + 1 - ranked.length
  const behind = [...walk.passed, ...open]
  const skip = Math.max(0, offset - open.length)
  const later = missing === 0 ? [] : newest(plan, only, walk.last ?? walk.until + 1, behind, missing, skip)
  const rows = [...rankedRows(plan.scope.reader, plan.scope, ranked), ...later]
  const isRanked = offset + limit <= open.length
  const next = isRanked
    ? { ...walk, passed: [...walk.passed, ...open.slice(0, offset + limit)] }
    : { ...walk, passed: behind, last: (rows[limit - 1]?.[0] ?? null) as number | null }
  return { rows, next }
}

/** Matches before a place in the order of creation, newest first, without those that were passed. */
function newest(
  plan: Plan,
  only: readonly number[] | null,
  before: number,
  passed: readonly number[],
  limit: number,
  offset: number,
): SqlRow[] {
  const rows = pageRows(plan, BY_CREATION, only)
  const beyond = fragment`${rows.n} < ${before} AND ${rows.n} NOT IN ${listOf(passed)}`
  return readRows(plan, rows, [beyond], limit, offset)
}

/** The rows of some matches, in the order of the ranking. */
function rankedRows(reader: ReadContext, { source }: Scope, numbers: readonly number[]): SqlRow[] {
  const read = fragment`SELECT ${columns(source)} FROM ${source.from} WHERE ${source.n} IN ${listOf(numbers)}`
  const rows = new Map(queryRows(reader, read).map((row) => [row[0], row]))
  return numbers.map((n) => rows.get(n)!)
}

/** A walk as a cursor holds it: the distances between the matches that were passed are short. */
export function positionOfWalk({ until, passed, last }: Walk): CursorPosition {
  const distances = passed.toSorted((a, b) => a - b).map((n, i, all) => n - (all[i - 1] ?? 0))
  return [last ?? 0, until, distances.map((one) => one.toString(36)).join('.')]
}

/** The walk that a cursor names. */
export function walkAt([last, until, distances]: CursorPosition): Walk {
  const isWalk =
    last >= 0 &&
    Number.isSafeInteger(until) &&
    Number(until) >= 0 &&
    typeof distances === 'string' &&
    /^(?:[1-9a-z][\da-z]{0,10}(?:\.(?!$)|$))*$/.test(distances)
  if (!isWalk)
    throw new Problem('invalid_cursor', 'cursor must be the cursor of the previous page, unchanged.', {
      field: 'cursor',
    })
  let n = 0
  const passed = distances === '' ? [] : distances.split('.').map((one) => (n += Number.parseInt(one, 36)))
  return { until: until as number, passed: passed.slice(0, MOST_RANKED), last: last === 0 ? null : last }
}
