import { Problem } from '@tildebase/client'
import type { Link } from './link.ts'

/** Where the log ends now, by the service's own clock: what is followed from here is new. */
export async function lastSeq($: Link['$']): Promise<string> {
  const { cursor } = await $.events.list({ since: 'now', limit: 1 })
  if (cursor === null) throw new Problem('unexpected_answer', 'The change stream gave no cursor.')
  return cursor
}
