import { Problem } from '@tildebase/nouns'
import { parseQuery, textParam } from './call.ts'

/** The event that a log is asked for from: `after=SEQ`, or from the first on. */
export function afterParam(query: string): number {
  const text = textParam(parseQuery(query), 'after') ?? '0'
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Problem('invalid_parameter', 'after is the seq of an event, a whole number from 0.', { field: 'after' })
}
