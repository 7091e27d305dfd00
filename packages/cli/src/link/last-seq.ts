import { Problem } from '@tildebase/client'
import type { Link } from './link.ts'

/** The current end of the log. Events after it are new. */
export async function lastSeq($: Link['$']): Promise<string> {
  const { cursor } = await $.events.list({ since: 'now', limit: 1 })
  if (cursor === null) throw new Problem('unexpected_answer', 'The change stream returned no cursor.')
  return cursor
}
