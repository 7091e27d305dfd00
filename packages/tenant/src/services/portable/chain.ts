import type { JsonObject } from '@tildebase/nouns'
import type { Seal } from '../../ports.ts'
import { chain, type Head, hasOwnValues, isInOrder } from '../../store/log/log.ts'
import type { SealedRow } from '../../store/log/verify.ts'
import { bytesOf } from '../../store/non-log-tables.ts'
import { broken } from './lines.ts'

/** An event of a portable log. */
interface PortableEvent extends SealedRow {
  /** Its data as a value; null where it has none. */
  readonly state: JsonObject | null
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
  return Object.assign(row, { state: row.data === null ? null : stateOf(row.seq, row.data) })
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

function sealedOf(line: JsonObject): SealedRow {
  // Logs from before events had arguments do not name them; most events have no onBehalfOf and no recordedAt.
  const { salt, digest, hash, args = null, onBehalfOf = null, recordedAt = null, ...row } = line
  if (typeof digest !== 'string' || typeof hash !== 'string') throw broken('An event has no hash.')
  return {
    ...(row as unknown as SealedRow),
    args: args as string | null,
    onBehalfOf: onBehalfOf as string | null,
    recordedAt: recordedAt as number | null,
    salt: typeof salt === 'string' ? bytesOf(salt) : null,
    digest: bytesOf(digest),
    hash: bytesOf(hash),
  }
}
