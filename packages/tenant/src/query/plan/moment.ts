import type { Moment, ReadContext } from '../reader.ts'

export const PRESENT: Moment = { asOf: null }

/**
 * The present, or the moment right after an event, with the past folded that it is answered from. Call it outside of a
 * question's time, which that may exceed.
 */
export function momentOf(reader: Pick<ReadContext, 'foldPast'>, asOf: number | null | undefined): Moment {
  if (asOf === null || asOf === undefined) return PRESENT
  reader.foldPast()
  return { asOf }
}
