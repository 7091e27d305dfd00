import type { JsonObject } from '@tildebase/nouns'
import type { Seal } from '../../ports.ts'
import { chain, type Head, hasOwnValues, isInOrder } from '../../store/log/log.ts'
import type { SealedRow } from '../../store/log/verify.ts'
import { bytesOf } from '../../store/non-log-tables.ts'
import { broken } from './lines.ts'

/** An event of a portable log. */
interface PortableEvent extends SealedRow {
  /** Its data as a value; null where it has none. */
  state: JsonObject | null
}

/** The event that a line of a portable log tells, which must fit the chain after `head`. */
export function sealedEvent(seal: Seal, head: Head, line: JsonObject): PortableEvent {
  const row = sealedOf(line)
  const fits =
    row.seq === head.seq + 1 &&
    isInOrder(head, row) &&
    hasOwnValues(seal, row) &&
    seal.equal(chain(seal, head.hash, row.seq, row, row.digest), row.hash)
  if (!fits) throw broken(`Event ${row.seq} does not match the hash chain after event ${head.seq}.`)
  if (row.data !== null) row.state = stateOf(row.seq, row.data)
  return row
}

/** The value of an event's data. Filters look for texts in the stored JSON, so it must have no other spelling of them. */
function stateOf(seq: number, data: string): JsonObject {
  try {
    const state = JSON.parse(data)
    if (JSON.stringify(state) === data) return state
  } catch {
    // Reported below.
  }
  throw broken(`The data of event ${seq} is not written as JSON.stringify writes it.`)
}

/** Each field by its name: an object of the same shape for every event, which is read faster than a copy of the line. */
function sealedOf(line: JsonObject): PortableEvent {
  const { salt, digest, hash } = line
  if (typeof digest !== 'string' || typeof hash !== 'string') throw broken('An event has no hash.')
  const event = line as unknown as SealedRow
  return {
    seq: event.seq,
    id: event.id,
    at: event.at,
    type: event.type,
    entity: event.entity,
    verb: event.verb,
    event: event.event,
    version: event.version,
    actor: event.actor,
    correlation: event.correlation,
    createdAt: event.createdAt,
    createdBy: event.createdBy,
    data: event.data,
    previous: event.previous,
    // Logs from before events had arguments do not name them; most events have no onBehalfOf and no recordedAt.
    args: event.args ?? null,
    onBehalfOf: event.onBehalfOf ?? null,
    recordedAt: event.recordedAt ?? null,
    salt: typeof salt === 'string' ? bytesOf(salt) : null,
    digest: bytesOf(digest),
    hash: bytesOf(hash),
    state: null,
  }
}
