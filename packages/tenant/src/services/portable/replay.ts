import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { TURN } from '../../engine/turns.ts'
import { setInherit } from '../../store/automation/authors.ts'
import { forgetTimers } from '../../store/automation/timers.ts'
import { currentOf } from '../../store/entities.ts'
import { headAfter } from '../../store/log/log.ts'
import { type Origin, writeOrigin } from '../../store/log/origin.ts'
import { insertSealed } from '../../store/log/verify.ts'
import { replacedSeq } from '../../store/log/versions.ts'
import { addNonLogRow, clearNonLogTables, hexOf, type NonLogRow } from '../../store/non-log-tables.ts'
import { sealedEvent } from './chain.ts'
import { broken, jsonLines } from './lines.ts'
import { FORM } from './log.ts'
import { changesState, restate } from './restate.ts'

/** Events of one commit: as many as take some milliseconds, since others wait for it. */
const FIRST_EVENTS = 50
const FEWEST_EVENTS = 10
const MOST_EVENTS = 500
/** In a thread without others: more at once, so that pages of the indexes are written less often. */
const MOST_EVENTS_ALONE = 40_000
/** Characters of one commit, about: an event may be large. */
const MOST_LENGTH = 4_194_304
const MOST_LENGTH_ALONE = 33_554_432

/** A part of a log that is sent in several requests. */
export interface Slice {
  /** Whether other slices follow. */
  readonly more?: boolean
  /** Whether nothing else waits for the thread. */
  readonly alone?: boolean
}

/**
 * Brings a tenant to the state of a portable log: from nothing, or from the event that the log continues after. Every event
 * must fit the chain. Hooks do not run and nothing is delivered again. `pause` lets others have their turn. A slice, after
 * which `more` follow, has events only.
 */
export async function replay(
  engine: Engine,
  source: AsyncIterable<Uint8Array>,
  pause: () => Promise<void>,
  { more = false, alone = false }: Slice = {},
): Promise<{ readonly events: number }> {
  const lines = jsonLines(source)
  checkHead(engine, (await lines.next()).value)
  const slice: JsonObject[] = []
  const mostLength = alone ? MOST_LENGTH_ALONE : MOST_LENGTH
  let most = alone ? MOST_EVENTS_ALONE : FIRST_EVENTS
  let length = 0
  let isWhole = false
  for await (const line of lines) {
    if (isWhole) throw broken('There is data after its end.')
    if (more && (line.end === true || line.beside !== undefined))
      throw broken('A slice that others follow has events only.')
    slice.push(line)
    length += lengthOf(line)
    isWhole = line.end === true
    // What is stored next to the events belongs to the last of them: it is not cut.
    if ((slice.length < most && length < mostLength) || line.seq === undefined || isWhole) continue
    const ms = timed(engine, () => apply(engine, slice))
    if (!alone)
      most = Math.max(FEWEST_EVENTS, Math.min(MOST_EVENTS, most * 2, Math.round((slice.length * TURN.short) / ms)))
    slice.length = 0
    length = 0
    await pause()
  }
  if (!isWhole && !more) throw broken('Its end is missing: it is truncated.')
  apply(engine, slice)
  return { events: engine.head.seq }
}

/** About how many characters the values of an event have. */
function lengthOf({ data, previous, args }: JsonObject): number {
  return [data, previous, args].reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}

/** The milliseconds that work takes; none where the thread is not shared. */
function timed({ ports: { turns } }: Engine, work: () => void): number {
  const begun = turns?.now() ?? 0
  work()
  return (turns?.now() ?? 0) - begun
}

function checkHead(engine: Engine, head: JsonObject | undefined): void {
  if (head?.tildebase !== 'log') throw broken('The first line is not the header of a log.')
  if (head.form !== FORM) throw broken(`It has the format ${head.form}; this version reads the format ${FORM}.`)
  const { seq } = engine.head
  if (head.after === seq) return
  throw new Problem(
    'conflict',
    `The tenant has ${seq} events, but the log continues after event ${head.after}. Send the log after event ${seq}.`,
    { id: engine.slug, seq },
  )
}

function apply(engine: Engine, lines: readonly JsonObject[]): void {
  engine.commit(() => {
    let beside = false
    for (const line of lines) {
      if (line.beside !== undefined) {
        if (!beside) clearNonLogTables(engine.sql)
        beside = true
        if (!addNonLogRow(engine.sql, line as unknown as NonLogRow)) throw broken(`It has rows of ${line.beside}.`)
      } else if (line.end === true) {
        if (!beside) clearNonLogTables(engine.sql)
        if (line.origin) writeOrigin(engine.sql, line.origin as unknown as Origin)
        if (line.seq !== engine.head.seq) throw broken(`It ends with event ${line.seq}, but has ${engine.head.seq}.`)
        if (line.hash !== hexOf(engine.head.hash))
          throw broken(`Its last event ${line.seq} has another hash than its end.`)
        // What was due in the origin until now is not run here.
        forgetTimers(engine.sql, engine.ports.clock.now())
        // A log of an earlier version has no authors: they are found when the tenant is next opened.
        setInherit(engine.sql, true)
      } else applyEvent(engine, line)
    }
  })
}

function applyEvent(engine: Engine, line: JsonObject): void {
  const row = sealedEvent(engine.ports.seal, engine.head, line)
  // A first version has nothing before it: an id is taken once.
  const isFirst = row.version === 1 && changesState(row)
  const current = isFirst ? null : (currentOf(engine.sql, row.type, row.entity) ?? null)
  // A conflict is kept in the log and leaves the version as it is.
  const version = (current?.version ?? 0) + (row.verb === 'conflict' ? 0 : 1)
  if (row.type !== 'Event' && row.version !== version)
    throw broken(`Event ${row.seq} skips a version of ${row.entity}.`)
  const replaced = changesState(row) ? replacedSeq(current) : null
  const n = current?.ordinal ?? (changesState(row) ? row.seq : null)
  insertSealed(engine.sql, row, { n, replaced }, current)
  engine.head = headAfter(engine.head, row, row.hash)
  try {
    restate(engine, row, row.state, current)
  } catch (reason) {
    if (isFirst && /UNIQUE constraint failed: entities\.id/.test(String(reason)))
      throw broken(`Event ${row.seq} creates ${row.entity} again.`)
    throw reason
  }
}
