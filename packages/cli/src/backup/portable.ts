import { Problem, parseInstant } from '@tildebase/nouns'
import { BEGINNING, type Head } from '@tildebase/server/log'
import { UsageError } from '../parse/usage-error.ts'
import { SECRETS } from './archive.ts'
import { type Place, textOf } from './place.ts'
import { eventsOf, linesAfter, tenantOf } from './segments.ts'

/** Where a copy of a log ends, in the form of the service. */
const CUT = 'proof.cut'

/** A moment of a tenant's log: everything, or up to an event, or up to a time. */
type Moment = { readonly seq: number } | { readonly at: number } | null

/** What a restore needs from a backup. */
export interface Found {
  readonly place: Place
  /** The tenant it was taken of. */
  readonly tenant: string
  /** The end of the log at the requested moment. */
  readonly head: Head
  /** Whether there are events after that moment. */
  readonly isCut: boolean
  /** Entities that changed after that moment. */
  readonly changed: ReadonlySet<string>
}

/** The moment that a string names: the seq of an event, or a time. */
export function momentOf(text: string | undefined): Moment {
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) }
  const at = parseInstant(text)
  if (at !== null) return { at }
  throw new UsageError('--as-of is the seq of an event, or a time such as 2026-01-31T12:00:00Z.')
}

/** Tests a whole backup, event by event, and finds its end at a moment. */
export async function examine(place: Place, moment: Moment): Promise<Found> {
  let head: Head = BEGINNING
  let last = head
  const changed = new Set<string>()
  for await (const kept of eventsOf(place)) {
    last = kept.head
    if (moment === null || ('at' in moment ? last.at <= moment.at : last.seq <= moment.seq)) head = last
    else changed.add(String(kept.event.entity))
  }
  const tenant = await tenantOf(place)
  if (tenant === null || last.seq === 0) throw new UsageError(`${place.name} holds no backup.`)
  if (moment !== null && 'seq' in moment && moment.seq > last.seq) {
    throw new Problem('not_found', `The backup ends with event ${last.seq}: it has no event ${moment.seq}.`)
  }
  if (head.seq === 0) throw new Problem('not_found', 'The tenant had no events yet at that moment.')
  return { place, tenant, head, isCut: head.seq < last.seq, changed }
}

/** The events of a backup after one, up to the moment asked for: the seq of each, and its line. */
export async function* sentEvents(
  { place, head }: Found,
  after: number,
): AsyncGenerator<readonly [seq: number, line: string]> {
  for await (const [seq, line] of linesAfter(place, after)) {
    if (seq > head.seq) break
    yield [seq, `${line}\n`]
  }
}

/**
 * The lines that follow the events of a portable log for a new tenant. A tenant of the same name keeps its keys and
 * webhooks, except those that changed after the moment: revoked keys stay revoked. Any other tenant is a copy.
 */
export async function restLines(found: Found, slug: string): Promise<string> {
  const { place, tenant, head, isCut, changed } = found
  const end = `${JSON.stringify({ end: true, seq: head.seq, hash: Buffer.from(head.hash).toString('hex') })}\n`
  if (slug !== tenant) return end
  const all = ((await textOf(place, SECRETS)) ?? '').split('\n')
  const secrets = isCut ? all.filter((line) => !line.includes(`"${CUT}"`)) : all
  const kept = secrets.filter((line) => line !== '' && !changed.has(JSON.parse(line).row[0]))
  // Its next checkpoint states that it does not continue the last one.
  if (isCut) kept.push(JSON.stringify({ beside: 'proof', row: [CUT, String(head.seq)] }))
  return `${kept.map((line) => `${line}\n`).join('')}${end}`
}
