import type { JsonObject } from '@tildebase/nouns'
import { type Head, headAfter as nextHead, sealedEvent } from '@tildebase/tenant/internal'
import { systemSeal } from '../ports.ts'

export { BEGINNING, FORM, type Head } from '@tildebase/tenant/internal'

/** Where a log is after an event, which must fit the chain after `head`. For those who keep logs elsewhere. */
export function headAfter(head: Head, event: JsonObject): Head {
  const row = sealedEvent(systemSeal, head, event)
  return nextHead(head, row, row.hash)
}
