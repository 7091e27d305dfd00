import { OPEN } from '../../store/layout.ts'
import type { Moment, ReadContext } from '../reader.ts'
import { type Fragment, fragment } from './fragment.ts'
import { isLogged, type Source } from './source.ts'

/** What a filter is compiled about: rows of a type, from a source, at a moment. */
export interface Scope {
  readonly reader: ReadContext
  readonly moment: Moment
  readonly type: string
  readonly source: Source
  /** Whether entities reached through relations must pass the reader's narrowing too. */
  readonly narrowed: boolean
}

/** The way into JSON that SQLite understands, or null for names it would read otherwise. */
export function jsonPath(steps: readonly string[]): string | null {
  return steps.some((step) => /["\\\p{Cc}]/u.test(step)) ? null : `$${steps.map((step) => `."${step}"`).join('')}`
}

/** Whether `alias`'s index over fields speaks for a relation's back side: an Event has no rows there. */
export function fieldIndexNumber(reader: ReadContext, type: string, field: string): number | null {
  return isLogged(reader, type) ? null : reader.fieldNumber(type, field)
}

/** The condition on `field_index` that a row of it speaks of the moment. */
export function fieldIndexAt(moment: Moment, f: Fragment): Fragment {
  if (moment.asOf === null) return fragment`${f}.until = ${OPEN}`
  // An entity's place is the seq of its first event, and the index is in the order of places.
  return fragment`${f}.until > ${moment.asOf} AND ${f}.since <= ${moment.asOf} AND ${f}.n <= ${moment.asOf}`
}
