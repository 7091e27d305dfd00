import { type JsonObject, Problem, parseInstant } from '@tildebase/nouns'
import { BEGINNING, type Head, headAfter } from '@tildebase/server/log'
import { UsageError } from '../parse/usage-error.ts'
import { SECRETS } from './archive/archive.ts'
import { type Place, textOf } from './place.ts'
import { eventsOf, lastSeq, linesAfter, tenantOf } from './segments.ts'

/** Where a copy of a log ends, in the form of the service. */
const CUT = 'proof.cut'

/** A moment of a tenant's log: everything, or up to an event, or up to a time. */
type Moment = { readonly seq: number } | { readonly at: number } | null

/**
 * A backup as of a moment. The events up to it are read as they are: the service tests them, and `examine` does it without
 * one. Those after it are tested here.
 */
export class Backup {
  readonly place: Place
  /** The tenant it was taken of. */
  readonly tenant: string
  readonly moment: Moment
  /** How many events it has up to the moment, if that is known before they are read. */
  readonly expected: number | null
  /** The end of the log at the moment, once all events are read. */
  head: Head = BEGINNING
  /** Whether there are events after the moment. */
  isCut = false
  /** Entities that changed after the moment. */
  readonly changed = new Set<string>()

  constructor(place: Place, tenant: string, moment: Moment, expected: number | null) {
    this.place = place
    this.tenant = tenant
    this.moment = moment
    this.expected = expected
  }

  /** The events after one, up to the moment: the seq of each, and its line. */
  async *events(after: number): AsyncGenerator<readonly [seq: number, line: string]> {
    this.isCut = false
    this.changed.clear()
    let newest: string | null = null
    let last: Head | null = null
    // With the event before, which may be the last one up to the moment.
    for await (const [seq, line] of linesAfter(this.place, Math.max(after - 1, 0))) {
      if (!this.isCut && isAt(this.moment, seq, line)) {
        newest = line
        if (seq > after) yield [seq, `${line}\n`]
        continue
      }
      // More has arrived than there is up to the moment.
      if (newest === null && after > 0) break
      this.isCut = true
      const event = JSON.parse(line) as JsonObject
      last = headAfter(last ?? headOf(newest), event)
      this.changed.add(String(event.entity))
    }
    this.head = headOf(newest)
    if (after === 0) demandEvents(this, last ?? this.head)
  }
}

/** The moment that a string names: the seq of an event, or a time. */
export function momentOf(text: string | undefined): Moment {
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) }
  const at = parseInstant(text)
  if (at !== null) return { at }
  throw new UsageError('--as-of is the seq of an event, or a time such as 2026-01-31T12:00:00Z.')
}

/** The backup at a place as of a moment. Its events are read later. */
export async function openBackup(place: Place, moment: Moment): Promise<Backup> {
  const tenant = await tenantOf(place)
  if (tenant === null) throw noBackup(place)
  if (moment !== null && 'at' in moment) return new Backup(place, tenant, moment, null)
  const last = await lastSeq(place)
  if (moment === null) return new Backup(place, tenant, moment, last)
  // Refused before anything is sent, unless an event was saved twice and is not in the last segment.
  return last !== null && moment.seq > last ? examine(place, moment) : new Backup(place, tenant, moment, moment.seq)
}

/** Tests a whole backup, event by event, and finds its end at a moment. */
export async function examine(place: Place, moment: Moment): Promise<Backup> {
  const backup = new Backup(place, (await tenantOf(place)) ?? '', moment, null)
  let last = BEGINNING
  for await (const { head, line } of eventsOf(place)) {
    last = head
    if (isAt(moment, head.seq, line)) backup.head = head
  }
  demandEvents(backup, last)
  return backup
}

/** Refuses a backup without events up to its moment. `last` is its last event. */
function demandEvents({ place, moment, head }: Backup, last: Head): void {
  if (last.seq === 0) throw noBackup(place)
  if (moment !== null && 'seq' in moment && moment.seq > last.seq) {
    throw new Problem('not_found', `The backup ends with event ${last.seq}: it has no event ${moment.seq}.`)
  }
  if (head.seq === 0) throw new Problem('not_found', 'The tenant had no events yet at that moment.')
}

/** Whether an event was recorded up to a moment. */
function isAt(moment: Moment, seq: number, line: string): boolean {
  return moment === null || ('at' in moment ? headOf(line).at <= moment.at : seq <= moment.seq)
}

/** The end of a log with this event, which was not tested; of an empty one without an event. */
function headOf(line: string | null): Head {
  if (line === null) return BEGINNING
  const { seq, at, recordedAt, hash } = JSON.parse(line) as JsonObject
  return { seq: Number(seq), at: Number(recordedAt ?? at), happenedAt: 0, hash: Buffer.from(String(hash), 'hex') }
}

function noBackup({ name }: Place): UsageError {
  return new UsageError(`${name} holds no backup.`)
}

/**
 * The lines that follow the events of a portable log for a new tenant. A tenant of the same name keeps its keys and
 * webhooks, except those that changed after the moment: revoked keys stay revoked. Any other tenant is a copy.
 */
export async function restLines(backup: Backup, slug: string): Promise<string> {
  const { place, tenant, head, isCut, changed } = backup
  const end = `${JSON.stringify({ end: true, seq: head.seq, hash: Buffer.from(head.hash).toString('hex') })}\n`
  if (slug !== tenant) return end
  const all = ((await textOf(place, SECRETS)) ?? '').split('\n')
  const secrets = isCut ? all.filter((line) => !line.includes(`"${CUT}"`)) : all
  const kept = secrets.filter((line) => line !== '' && !changed.has(JSON.parse(line).row[0]))
  // Its next checkpoint states that it does not continue the last one.
  if (isCut) kept.push(JSON.stringify({ beside: 'proof', row: [CUT, String(head.seq)] }))
  return `${kept.map((line) => `${line}\n`).join('')}${end}`
}
