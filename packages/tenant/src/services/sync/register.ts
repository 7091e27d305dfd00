import { compareText, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type ClockRow, readClocks } from '../../store/clocks.ts'
import type { Current } from '../../store/entities.ts'
import { type LogRow, readEntries, readEntry } from '../../store/log/log.ts'
import { seqsOf } from '../../store/log/versions.ts'
import type { Change } from './change.ts'
import { covers, SERVER, type VectorClock } from './vector-clock.ts'

/** Who decided a field, and when. */
export interface Register {
  /** The event that wrote it, and the server's time of that event. */
  readonly seq: number
  readonly time: number
  /** What decides against another change: the time at the replica, then its id. */
  readonly at: number
  readonly replica: string
  readonly clock: VectorClock
}

/** The register of an entity's being there at all. No field can have this name. */
export const EXISTENCE = '$exists'

const CHUNK = 20

/** The registers of these fields, and of the entity's existence. What came by other ways is derived from the log. */
export function registersOf(engine: Engine, current: Current, fields: Iterable<string>): Map<string, Register> {
  const kept = readClocks(engine.sql, current.id)
  const registers = new Map<string, Register>()
  const wanted = new Set([...fields, EXISTENCE])
  const seqs = seqsOf(engine.sql, current.ordinal)
  for (let i = 0; i < seqs.length && wanted.size > 0; i += CHUNK) {
    for (const event of readEntries(engine.sql, seqs.slice(i, i + CHUNK))) {
      for (const field of changedBy(event, wanted)) {
        registers.set(field, registerOf(event, kept.get(field)))
        wanted.delete(field)
      }
    }
  }
  // A field that was cleared before it had a value was decided, too: no event has it.
  for (const field of wanted) {
    const row = kept.get(field)
    const event = row && readEntry(engine.sql, row.seq)
    if (event) registers.set(field, registerOf(event, row))
  }
  return registers
}

/** The result of a change against a register: it wins, it loses, or it is the same change. */
export function decide(
  change: Change,
  register: Register | undefined,
  lastSyncAt: number | null,
): 'wins' | 'loses' | 'same' {
  if (!register) return 'wins'
  if (change.clock) {
    if (covers(register.clock, change.clock)) return covers(change.clock, register.clock) ? 'same' : 'loses'
    if (covers(change.clock, register.clock)) return 'wins'
  } else if (lastSyncAt !== null && register.time <= lastSyncAt) return 'wins'
  return isLater(change, register) ? 'wins' : 'loses'
}

/** Whether a change comes after a register by its time, then by the id of its replica. */
export function isLater(change: Pick<Change, 'at' | 'replica'>, register: Register): boolean {
  if (change.at !== register.at) return change.at > register.at
  // Two changes of one replica at one time come in the order they were made.
  return compareText(change.replica, register.replica) >= 0
}

function registerOf(event: LogRow, kept: ClockRow | undefined): Register {
  const { seq, at: time } = event
  const own = { [SERVER]: seq }
  if (kept?.seq !== seq) return { seq, time, at: time, replica: SERVER, clock: own }
  return { seq, time, at: kept.at, replica: kept.replica, clock: kept.clock === null ? own : JSON.parse(kept.clock) }
}

/** The requested fields that an event wrote. */
function changedBy(event: LogRow, wanted: ReadonlySet<string>): string[] {
  if (event.verb === 'create') {
    const fields = Object.keys(JSON.parse(event.data ?? '{}') as JsonObject)
    return [EXISTENCE, ...fields].filter((field) => wanted.has(field))
  }
  if (event.verb === 'delete' || event.verb === 'restore') return wanted.has(EXISTENCE) ? [EXISTENCE] : []
  if (event.previous === null) return []
  return Object.keys(JSON.parse(event.previous) as JsonObject).filter((field) => wanted.has(field))
}
