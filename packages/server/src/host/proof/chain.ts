import type { JsonObject } from '@tildebase/nouns'
import { type Head, sealedEvent } from '@tildebase/tenant/internal'
import { systemSeal } from '../ports.ts'

export { BEGINNING, FORM, type Head } from '@tildebase/tenant/internal'

/** Where a log is after an event, which must fit the chain after `head`. For those who keep logs elsewhere. */
export function headAfter(head: Head, event: JsonObject): Head {
  const { seq, at, hash } = sealedEvent(systemSeal, head, event)
  return { seq, at, hash }
}
