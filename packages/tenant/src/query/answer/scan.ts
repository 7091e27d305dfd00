import { EVERYTHING, type Filter } from '@tildebase/nouns'
import { TURN } from '../../engine/turns.ts'
import type { Stored } from '../../store/entities.ts'
import { lastSeq } from '../../store/log/log.ts'
import { every, type Fragment, fragment } from '../plan/fragment.ts'
import { momentOf } from '../plan/moment.ts'
import { type Plan, plan as planOf } from '../plan/plan.ts'
import { pageRows, partRows, type Rows, readRows, ticking, toStored } from '../plan/select.ts'
import { columns } from '../plan/source.ts'
import { queryRows, type ReadContext, within } from '../reader.ts'
import { indexTextFor } from '../words/text.ts'
import { rowsOf } from './find.ts'
import { partTest, testedColumns } from './memory.ts'
import type { SliceWidth } from './search.ts'

const CREATION = { by: 'creation', descending: false } as const
/** Of how many places with the words of a search the other conditions are looked at together. */
const FOUND = 1_000

/** Some entities, and the place up to which there are no others; null when these are the last. */
interface Part {
  readonly rows: Stored[]
  readonly reached: number | null
}

/**
 * Entities of a type in the order of their creation: those that come after the place of another, as many as one turn
 * finds, which may be none.
 */
export function scan(
  reader: ReadContext,
  question: { readonly type: string; readonly filter?: Filter; readonly asOf: number | null },
  after: number,
  limit: number,
  slice: SliceWidth,
): Part {
  indexTextFor(reader, question.filter)
  const moment = momentOf(reader, question.asOf)
  return within(reader, () => {
    const { type, filter = EVERYTHING } = question
    const plan = planOf(reader, type, filter, moment)
    if (plan.conditions.length + plan.residual.length > 0) return someRows(plan, after, limit, slice)
    const all = pageRows(plan, CREATION)
    const rows = readRows(plan, all, [fragment`${all.n} > ${after}`], limit, 0).map((row) =>
      toStored(reader, type, row),
    )
    return { rows, reached: rows.length < limit ? null : rows.at(-1)!.ordinal }
  })
}

/** Those entities of the next few places that meet the conditions. */
function someRows(plan: Plan, after: number, limit: number, slice: SliceWidth): Part {
  const { reader, type } = plan.scope
  const { rows, end } = plan.match === null ? nextPlaces(plan, after, slice.width) : nextMatches(plan, after)
  const isTested = plan.residual.length > 0
  const { timer } = reader.budget
  const begun = timer()
  const { source } = isTested ? testedColumns(plan).scope : plan.scope
  const read = queryRows(
    reader,
    fragment`SELECT ${columns(source)} FROM ${rows.from} WHERE ${every([...rows.where, ...ticking(plan, rows)])}
  ORDER BY ${rows.n} LIMIT +${isTested ? -1 : limit}`,
  )
  let reached = isTested || read.length < limit ? end : (read.at(-1)![0] as number)
  const tested = () => {
    const numbers = partTest(plan)(read, (place, found) => {
      if ((found < limit && timer() - begun < TURN.longest) || place === read.at(-1)![0]) return true
      reached = place
      return false
    })
    const bare = { ...plan, conditions: [], residual: [], match: null }
    return numbers.length === 0 ? [] : rowsOf(bare, CREATION, numbers, null, numbers.length, 0)
  }
  const found = isTested ? tested() : read
  if (reached === end) slice.took(timer() - begun)
  return { rows: found.map((row) => toStored(reader, type, row)), reached }
}

interface Places {
  readonly rows: Rows
  /** The last of these places; null when no others follow. */
  readonly end: number | null
}

function nextPlaces(plan: Plan, after: number, width: number): Places {
  const { reader, moment } = plan.scope
  const end = after + width
  return { rows: partRows(plan, after + 1, end + 1), end: end < (moment.asOf ?? lastSeq(reader.sql)) ? end : null }
}

/** The next places that have the words of a search: looked for once, and not for each few places. */
function nextMatches(plan: Plan, after: number): Places {
  const [words, ...conditions] = plan.conditions
  const found = pageRows({ ...plan, conditions: [words!], residual: [] }, CREATION)
  const where: Fragment[] = [...found.where, fragment`${found.n} > ${after}`]
  const numbers = queryRows(
    plan.scope.reader,
    fragment`SELECT ${found.n} FROM ${found.from} WHERE ${every(where)} ORDER BY ${found.n} LIMIT +${FOUND}`,
  ).map(([n]) => n as number)
  const rows = pageRows({ ...plan, conditions, match: null }, CREATION, numbers)
  return { rows, end: numbers.length < FOUND ? null : numbers.at(-1)! }
}
