import type { JsonObject } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { type LogRow, ownBetween, readLog, seqAt } from '../../store/log/log.ts'
import type { Write } from '../../write/write.ts'

/** What happened to an entity in a stretch of the log. */
export interface Touched {
  readonly type: string
  readonly id: string
  readonly fields: Set<string>
  /** Whether it came to be, or came back. */
  born: boolean
}

/** A stretch of the log: the entities touched in it, in order, and the time up to which it tells everything. */
export interface LogStretch {
  readonly touched: Map<string, Touched>
  readonly hasMore: boolean
  /** The time reached; null at the end of the log. */
  readonly until: number | null
}

const CHUNK = 200
/** About how long the states of the touched entities may be together. */
const MOST_BYTES = 8_388_608

/**
 * The entities of some types that events after a seq touched; about `limit` of them, and fewer when they are large. Ends
 * only where time moves on. `recorded` is the last event that was recorded by the time that `after` means: what the
 * service's own types had since then comes with the last page.
 */
export function* stretchAfter(
  { sql, engine, context }: Write,
  after: number,
  recorded: number,
  limit: number,
  wanted: (type: string) => boolean,
): Steps<LogStretch> {
  const touched = new Map<string, Touched>()
  let last: LogRow | null = null
  let bytes = 0
  for (let seq = after; ; ) {
    context.budget.checkTime()
    const rows = readLog(sql, seq, CHUNK)
    for (const row of rows) {
      const isFull = touched.size >= limit || bytes > MOST_BYTES
      // Within an imported past, the time of an event of the service's own types does not tell its place.
      if (isFull && last && row.at > last.at && seqAt(sql, engine.head, last.at) === last.seq)
        return { touched, hasMore: true, until: last.at }
      if (wanted(row.type)) {
        touch(touched, row)
        bytes += row.data?.length ?? 0
      }
      last = row
    }
    if (rows.length === 0) {
      for (const row of ownBetween(sql, recorded, after)) if (wanted(row.type)) touch(touched, row)
      return { touched, hasMore: false, until: null }
    }
    seq = rows.at(-1)!.seq
    yield
  }
}

/** The entry of an entity among those touched. */
export function touchedOf(touched: Map<string, Touched>, type: string, id: string): Touched {
  const known = touched.get(id)
  if (known) return known
  const fresh: Touched = { type, id, fields: new Set(), born: false }
  touched.set(id, fresh)
  return fresh
}

function touch(touched: Map<string, Touched>, row: LogRow): void {
  if (row.verb === 'conflict') return
  const entry = touchedOf(touched, row.type, row.entity)
  if (row.verb === 'create' || row.verb === 'restore') entry.born = true
  else if (row.previous !== null) {
    for (const field of Object.keys(JSON.parse(row.previous) as JsonObject)) entry.fields.add(field)
  }
}
