import type { Moment } from './reader.ts'

export const PRESENT: Moment = { asOf: null }

/** The present, or the moment right after an event. */
export function momentOf(asOf: number | null | undefined): Moment {
  return asOf === null || asOf === undefined ? PRESENT : { asOf }
}
