import { Problem, parseInstant } from '@tildebase/nouns'
import { resolve, type Sources } from '../values.ts'
import { durationOf, LONGEST_STEP } from './duration.ts'

/** The last millisecond that a date can be. */
const LAST = 8.64e15
const MOMENT = /^(?<from>.+?)(?:\s+(?<sign>[+-])\s*(?<by>\S+))?$/
const LONGEST = 1_000

/** Why a text is not a moment that a step can wait for; null when it is one. */
export function momentFault(text: unknown): string | null {
  const example = 'until must be a time, or a value such as $event.data.dueAt, with an optional + 2d or - 2d'
  const { from = '', by } =
    (typeof text === 'string' && text.length <= LONGEST ? MOMENT.exec(text)?.groups : undefined) ?? {}
  if (from === '' || (by !== undefined && durationOf(by, LONGEST_STEP) === null)) return example
  return from.startsWith('$') || parseInstant(from) !== null ? null : example
}

/** The moment that a step waits for. */
export function momentOf(text: string, sources: Sources): number {
  const { from = '', sign, by } = MOMENT.exec(text)!.groups!
  const value = from.startsWith('$') ? resolve(from, sources) : from
  const time = typeof value === 'string' ? parseInstant(value) : typeof value === 'number' ? value : null
  const distance = by === undefined ? 0 : durationOf(by, LONGEST_STEP)!
  const moment = time === null ? Number.NaN : sign === '-' ? time - distance : time + distance
  if (!(Math.abs(moment) <= LAST)) {
    throw new Problem('invalid_parameter', `until: ${from} is not a time.`, { field: 'until' })
  }
  return moment
}
