import type { Seal, Sql } from '../../ports.ts'
import { lastSeq } from '../../store/log/log.ts'
import { readSealed } from '../../store/log/verify.ts'
import { nonLogRows } from '../../store/non-log-tables.ts'
import { FORM, line, portable } from './log.ts'

/** After so many events in a row that cannot be read there are no more, if the file does not say how many it has. */
const MOST_UNREADABLE = 1_000

/**
 * All that can still be read of a damaged file after an event, in the form of a log. Its events are not tested: the reader
 * knows the hash that the first one must continue. The end says which events cannot be read, whether the file
 * says how many there were, and whether the secrets can be read.
 */
export function* salvagedLog(sql: Sql, seal: Seal, tenant: string, after: number): Generator<string> {
  yield line({ tildebase: 'log', form: FORM, tenant, after })
  const unreadable: number[] = []
  const last = attempt(() => lastSeq(sql))
  let position = after
  let failures = 0
  while (last === null ? failures < MOST_UNREADABLE : position < last) {
    const rows = attempt(() => readSealed(sql, seal, position, 1))
    const row = rows?.[0]
    if (rows !== null && row === undefined) break
    const next = row?.seq ?? position + 1
    for (let seq = position + 1; seq < next || (row === undefined && seq === next); seq++) unreadable.push(seq)
    failures = row === undefined ? failures + 1 : 0
    if (row !== undefined) yield line(portable(row))
    position = next
  }
  // What comes after the last event that can be read may never have been there.
  if (last === null) unreadable.splice(unreadable.length - failures)
  const secrets = attempt(() => [...nonLogRows(sql, 'secrets')])
  yield (secrets ?? []).map(line).join('')
  yield line({ end: true, unreadable, counted: last !== null, secrets: secrets !== null })
}

/** What the work gives, or null if the file cannot be read there. */
function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
