import type { Engine } from '../../engine/engine.ts'
import { BEGINNING } from '../../store/log/log.ts'
import { readOrigin } from '../../store/log/origin.ts'
import { readSealed, type SealedRow } from '../../store/log/verify.ts'
import { CUT, earliestCut } from '../../store/meta.ts'
import { hexOf, type NonLogRow, type NonLogTables, nonLogRows } from '../../store/non-log-tables.ts'

const FIRST_PAGE = 16
const MOST_ROWS = 500
/** Letters of a page, about: a host may have little memory, and an event may be large. */
const PAGE_LENGTH = 1_048_576

/** The version of the form; another number is another form. */
export const FORM = 1

/** Which part of a log is meant. */
export interface LogPart {
  /** The event that it continues after; 0 for all of it. */
  readonly after: number
  /** The last event of it, when it does not continue to the end. */
  readonly until?: number
  readonly beside: NonLogTables
  /** True for the log of a fork, which records where it comes from. */
  readonly fork?: boolean
}

/**
 * A tenant as lines of JSON that every host can read: a head, its events after a seq with what seals them, then what
 * is stored next to them (hashes of keys, secrets of webhooks, work to be done), and an end that tells it is whole.
 * One string per page, so that a reader may pause in between; what is written meanwhile comes along.
 */
export function* portableLog(engine: Engine, { after, until, beside, fork }: LogPart): Generator<string> {
  yield line({ tildebase: 'log', form: FORM, tenant: engine.slug, after })
  let hash = hashAt(engine, after)
  let position = after
  let size = FIRST_PAGE
  for (;;) {
    const left = (until ?? engine.head.seq) - position
    const rows = readSealed(engine.sql, engine.ports.seal, position, Math.max(Math.min(size, left), 0))
    const last = rows.at(-1)
    if (last === undefined) break
    const page = rows.map((row) => line(portable(row))).join('')
    yield page
    position = last.seq
    hash = last.hash
    size = Math.max(1, Math.min(MOST_ROWS, Math.floor((rows.length * PAGE_LENGTH) / page.length)))
  }
  // In one piece: nothing can be written between the last event and what is stored next to it.
  const rows = [...nonLogRows(engine.sql, beside)]
  const isCut = until !== undefined
  const kept = isCut ? [...rows.filter(({ row }) => row[0] !== CUT), cutRow(engine, position)] : rows
  const origin = fork ? { tenant: engine.slug, seq: position } : readOrigin(engine.sql)
  yield `${kept.map(line).join('')}${line({ end: true, seq: position, hash: hexOf(hash), ...(origin && { origin }) })}`
}

/** The hash of an event, or that of a log without events. */
function hashAt({ sql, ports }: Engine, seq: number): Uint8Array {
  return seq === 0 ? BEGINNING.hash : (readSealed(sql, ports.seal, seq - 1, 1)[0]?.hash ?? BEGINNING.hash)
}

/** Says that the log continues no further, so that its next checkpoint does not continue the last one. */
function cutRow({ sql }: Engine, seq: number): NonLogRow {
  return { beside: 'proof', row: [CUT, earliestCut(sql, seq)] }
}

/** An event with what seals it, as a line has it. */
export function portable({ onBehalfOf, recordedAt, ...row }: SealedRow): object {
  const seals = { salt: row.salt && hexOf(row.salt), digest: hexOf(row.digest), hash: hexOf(row.hash) }
  return { ...row, ...seals, ...(onBehalfOf !== null && { onBehalfOf }), ...(recordedAt !== null && { recordedAt }) }
}

export function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
