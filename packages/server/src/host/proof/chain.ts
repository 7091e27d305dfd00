import type { JsonObject } from '@tildebase/nouns'
import { chain, type Head, headAfter as nextHead, sealedEvent } from '@tildebase/tenant/internal'
import { systemSeal } from '../ports.ts'

export { BEGINNING, FORM, type Head, isOwnType } from '@tildebase/tenant/internal'

/** Where a log is after an event, which must fit the chain after `head`. For those who keep logs elsewhere. */
export function headAfter(head: Head, event: JsonObject): Head {
  const row = sealedEvent(systemSeal, head, event)
  return nextHead(head, row, row.hash)
}

/** An event at another place of another log: sealed again, with its values and their digest as they are. */
export function sealedAgain(head: Head, event: JsonObject): JsonObject {
  const seq = head.seq + 1
  const { onBehalfOf = null, recordedAt = null, ...row } = { ...event, seq }
  const entry = { ...row, onBehalfOf, recordedAt } as unknown as Parameters<typeof chain>[3]
  const hash = chain(systemSeal, head.hash, seq, entry, Buffer.from(String(event.digest), 'hex'))
  return { ...event, seq, hash: Buffer.from(hash).toString('hex') }
}
