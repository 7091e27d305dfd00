import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Sql } from '../../../ports.ts'
import { isFieldOf } from '../../../store/files/contents.ts'
import type { Sources } from '../values.ts'

const HASH = /sha256:[0-9a-f]{64}/g
const DIGITS = 'sha256:'.length

/**
 * A content in the values of a step that an event names, and that is not a file of its entity; null if there is none.
 * The writer of the event may not be able to read the content, and the step would use it with the rights of its author.
 */
export function foreignContent(sql: Sql, { event, steps }: Sources, input: JsonObject): string | null {
  const named = JSON.stringify(input).match(HASH) ?? []
  if (named.length === 0) return null
  // The result of a step that waited for an event is that event.
  const events = [event, ...steps.filter((one) => isPlainObject(one) && 'entityId' in one)] as readonly JsonObject[]
  const found = named.find((hash) => {
    // A text of the step may put sha256: before digits of the event.
    const naming = events.filter(({ data, args, previous }) =>
      JSON.stringify([data, args, previous]).includes(hash.slice(DIGITS)),
    )
    return naming.length > 0 && !naming.some(({ entityId }) => isFieldOf(sql, hash, String(entityId)))
  })
  return found ?? null
}
