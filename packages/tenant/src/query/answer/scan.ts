import { EVERYTHING, type Filter } from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'
import { fragment } from '../plan/fragment.ts'
import { momentOf } from '../plan/moment.ts'
import { plan as planOf } from '../plan/plan.ts'
import { pageRows, readRows, toStored } from '../plan/select.ts'
import { type ReadContext, within } from '../reader.ts'
import { indexTextFor } from '../words/text.ts'
import { chosen } from './memory.ts'

/** Entities of a type in the order of their creation: those that come after the place of another. */
export function scan(
  reader: ReadContext,
  question: { readonly type: string; readonly filter?: Filter; readonly asOf: number | null },
  after: number,
  limit: number,
): Stored[] {
  indexTextFor(reader, question.filter)
  const moment = momentOf(reader.sql, question.asOf)
  return within(reader, () => {
    const { type, filter = EVERYTHING } = question
    const plan = planOf(reader, type, filter, moment)
    const order = { by: 'creation', descending: false } as const
    const only = chosen(plan, { descending: false, after, enough: limit })
    const rows = pageRows(plan, order, only)
    return readRows(plan, rows, [fragment`${rows.n} > ${after}`], limit, 0).map((row) => toStored(reader, type, row))
  })
}
