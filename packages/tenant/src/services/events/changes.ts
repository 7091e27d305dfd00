import { matchesEvent } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Steps, sliceOf } from '../../engine/turns.ts'
import type { Grant } from '../../grant/grant.ts'
import { mayReadEvents } from '../../query/read-context.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { type LogRow, readLog } from '../../store/log/log.ts'
import { countWanted, loggedTypes, readWanted, type Wanted } from '../../store/log/stream.ts'

/** A stretch of the change stream. */
export interface Changes {
  readonly rows: readonly LogRow[]
  readonly hasMore: boolean
  /** The seq to continue after. */
  readonly position: number
}

/** The requested events; null for all. */
export type Patterns = readonly string[] | null

/** Where events are looked at one by one, so many are read together. */
const PAGE = 100
const MOST_PAGES = 200
/** A page that is looked for in so many steps may have fewer events than were asked for, and a next one. */
const MOST_STEPS = 200
/** A page of large events ends after so many letters: it has fewer than were asked for, and a next one. */
const MOST_LENGTH = 8_388_608
/** Above this many events, those of a name are not counted: the index knows types only. */
const MOST_COUNTED = 100_000

/**
 * The requested and visible events after a seq, oldest first: at most `limit`. Where events have to be looked at one by
 * one, it ends earlier once `isOver` says so.
 */
export function changesAfter(
  engine: Engine,
  grant: Grant,
  patterns: Patterns,
  after: number,
  limit: number,
  isOver = () => false,
): Changes {
  return look(engine, grant, patterns, after, limit, isOver).next().value
}

/** The same in steps, for a grant that has to be shown events one by one. */
export function* changesInSteps(
  engine: Engine,
  grant: Grant,
  patterns: Patterns,
  after: number,
  limit: number,
): Steps<Changes> {
  let isOver = sliceOf(engine.ports)
  const looking = look(engine, grant, patterns, after, limit, () => isOver())
  for (let step = 1; ; step++) {
    const { value, done } = looking.next()
    if (done || step === MOST_STEPS) return value
    yield
    isOver = sliceOf(engine.ports)
  }
}

/** Looks for events. Whenever its time is over it yields those that it has found until then. */
function* look(
  engine: Engine,
  grant: Grant,
  patterns: Patterns,
  after: number,
  limit: number,
  isOver: () => boolean,
): Generator<Changes, Changes> {
  const head = engine.head.seq
  const wanted = wantedOf(engine, grant, patterns)
  const visibility = visibilityOf(engine, grant, patterns)
  const rows: LogRow[] = []
  let position = after
  let length = 0
  for (let page = 0; page < MOST_PAGES; page++) {
    const most = visibility.byName ? limit + 1 - rows.length : PAGE
    const part = wanted === null ? nextPart(engine, position, most) : readWanted(engine.sql, wanted, position, most)
    for (const record of part.rows) {
      const row = visibility.show(record)
      if (row !== null) {
        if (rows.length === limit || length > MOST_LENGTH) return { rows, hasMore: true, position: rows.at(-1)!.seq }
        rows.push(row)
        length += (row.data?.length ?? 0) + (row.previous?.length ?? 0)
      }
      if (!visibility.byName && isOver()) yield { rows, hasMore: record.seq < head, position: record.seq }
    }
    // No requested event is left up to the head, so the next page may begin there.
    if (part.isLast) return { rows, hasMore: false, position: Math.max(head, after) }
    position = part.rows.at(-1)!.seq
  }
  return { rows, hasMore: true, position }
}

function nextPart({ sql, head }: Engine, after: number, limit: number) {
  const rows = readLog(sql, after, limit)
  return { rows, isLast: (rows.at(-1)?.seq ?? after) >= head.seq }
}

/** How many there are after a seq; null where counting would mean reading them all. */
export function countAfter(engine: Engine, grant: Grant, patterns: Patterns, after: number): number | null {
  if (!visibilityOf(engine, grant, patterns).byName) return null
  const left = Math.max(engine.head.seq - after, 0)
  const wanted = wantedOf(engine, grant, patterns)
  if (wanted === null) return left
  if (left > MOST_COUNTED && wanted.some(({ event }) => event !== null)) return null
  return countWanted(engine.sql, wanted, after)
}

/** The kinds of events in the log that are requested and readable; null for all. */
function wantedOf(engine: Engine, grant: Grant, patterns: Patterns): readonly Wanted[] | null {
  const types = loggedTypes(engine.sql)
  const shown = types.filter((type) => mayReadEvents(engine, grant, type))
  if (shown.length === types.length && (patterns === null || patterns.includes('*'))) return null
  return shown.flatMap((type) => kindsOf(type, patterns))
}

function kindsOf(type: string, patterns: Patterns): Wanted[] {
  if (patterns === null) return [{ type, event: null }]
  const names = patterns.map((pattern) => pattern.split('.')).filter(([of]) => matchesEvent(of!, type, ''))
  const events = new Set(names.map(([, event = '*']) => event.toLowerCase()))
  return events.has('*') ? [{ type, event: null }] : [...events].map((event) => ({ type, event }))
}
