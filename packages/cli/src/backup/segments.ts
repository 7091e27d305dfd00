import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type JsonObject, Problem } from '@tildebase/nouns'
import { BEGINNING, FORM, type Head, headAfter } from '@tildebase/server/log'
import { linesOf } from './lines.ts'
import { type Place, readingAhead } from './place.ts'

/**
 * A file of events, from `first` on, until the next segment begins. A closed segment is compressed and never changes.
 */
export interface Segment {
  readonly first: number
  readonly name: string
  readonly isClosed: boolean
}

/** An event of a backup. */
export interface Kept {
  /** The end of the log after it, and before it. */
  readonly head: Head
  readonly before: Head
  readonly event: JsonObject
  /** As it is written, without its line end. */
  readonly line: string
  /** Where in the segment it ends, in bytes. */
  readonly end: number
}

const NAME = /^(\d{15})\.ndjson(\.gz)?$/

/** The name of an open segment. It is named after its first event, so names sort like events. */
export function segmentName(first: number): string {
  return `${String(first).padStart(15, '0')}.ndjson`
}

/**
 * The segments of a backup, oldest first. If a segment exists open and closed, closing was interrupted: the closed one
 * is complete.
 */
export async function segmentsOf(place: Place): Promise<Segment[]> {
  const found = new Map<number, Segment>()
  // All names begin so, and files of other kinds do not.
  for (const name of await place.list('0')) {
    const [, first, packed] = NAME.exec(name) ?? []
    if (first === undefined) continue
    found.set(Number(first), { first: Number(first), name, isClosed: packed !== undefined })
  }
  return [...found.values()]
}

/** All events of a backup, oldest first. Ends with a Problem at the first one that is missing or damaged. */
export async function* eventsOf(place: Place): AsyncGenerator<Kept> {
  let head = BEGINNING
  const segments = await segmentsOf(place)
  const source = readingAhead(place, namesOf(segments))
  for (const segment of segments) {
    if (segment.first > head.seq + 1) throw damaged(head.seq + 1, place.name, 'It is missing.')
    // A backup that saw an old list of its bucket has written some events twice: the same ones, cut differently.
    const isNext = segment.first === head.seq + 1
    for await (const kept of eventsIn(source, segment, isNext ? head : undefined)) {
      if (kept.head.seq < head.seq) continue
      if (kept.head.seq === head.seq) demandSame(kept.head, head, place)
      else {
        head = kept.head
        yield kept
      }
    }
  }
}

/** The lines of all events after one, each with its number. No event is tested, but none is missing in between. */
export async function* linesAfter(place: Place, after: number): AsyncGenerator<readonly [seq: number, line: string]> {
  const segments = await segmentsOf(place)
  const wanted = segments.filter((_, n) => (segments[n + 1]?.first ?? Number.POSITIVE_INFINITY) > after + 1)
  const source = readingAhead(place, namesOf(wanted))
  let last = after
  let newest: string | null = null
  for (const segment of wanted) {
    if (segment.first > last + 1) throw damaged(last + 1, place.name, 'It is missing.')
    try {
      let isOpened = false
      for await (const line of linesOf(bytesOf(source, segment))) {
        if (!isOpened) openingHead(JSON.parse(line))
        isOpened = true
        const seq = seqIn(line)
        if (seq === last && newest !== null) demandSameHash(newest, line, place)
        if (seq !== last + 1) continue
        last = seq
        newest = line
        yield [seq, line]
      }
    } catch (reason) {
      throw unreadable(last + 1, place, segment, reason)
    }
  }
}

/** The number of the event in a line; 0 for the first line of a segment. */
function seqIn(line: string): number {
  const [, first] = /^\{"seq":(\d{1,15}),/.exec(line) ?? []
  return first === undefined ? Number(JSON.parse(line).seq ?? 0) : Number(first)
}

/** A backup that saw an old list of its bucket has written some events twice. If the last of them is the same, so are those before it. */
function demandSameHash(one: string, other: string, place: Place): void {
  const [{ seq, hash }, again] = [JSON.parse(one), JSON.parse(other)]
  if (hash !== again.hash) throw twoEvents(seq, place)
}

function namesOf(segments: readonly Segment[]): string[] {
  return segments.map(({ name }) => name)
}

/** The number of the last event, as the last segment says; null when that cannot be read. Nothing is tested. */
export async function lastSeq(place: Place): Promise<number | null> {
  const last = (await segmentsOf(place)).at(-1)
  if (last === undefined) return null
  try {
    let newest = ''
    for await (const line of linesOf(bytesOf(place, last))) newest = line
    return Number(JSON.parse(newest).seq ?? last.first - 1)
  } catch {
    return null
  }
}

/** The events of a segment. Each must match the hash of the one before it. An unfinished line at the end is ignored. */
export async function* eventsIn(place: Place, segment: Segment, before?: Head): AsyncGenerator<Kept> {
  let head: Head | undefined
  let seq = segment.first
  let end = 0
  try {
    for await (const line of linesOf(bytesOf(place, segment))) {
      end += Buffer.byteLength(line) + 1
      const event = JSON.parse(line) as JsonObject
      if (head === undefined) {
        const opening = openingHead(event)
        head = before ?? opening
        continue
      }
      const last: Head = head
      head = headAfter(last, event)
      seq = head.seq + 1
      yield { head, before: last, event, line, end }
    }
  } catch (reason) {
    throw unreadable(seq, place, segment, reason)
  }
}

/** The tenant that a place has a backup of. */
export async function tenantOf(place: Place): Promise<string | null> {
  const [first] = await segmentsOf(place)
  if (first === undefined) return null
  try {
    for await (const line of linesOf(bytesOf(place, first))) return JSON.parse(line).tenant
  } catch (reason) {
    throw unreadable(first.first, place, first, reason)
  }
  return null
}

function bytesOf(place: Place, { name, isClosed }: Segment): AsyncIterable<Uint8Array> {
  const bytes = place.read(name)
  return isClosed ? pipeline(Readable.from(bytes, { objectMode: false }), createGunzip(), () => {}) : bytes
}

function demandSame(one: Head, other: Head, place: Place): void {
  if (Buffer.compare(one.hash, other.hash) !== 0) throw twoEvents(one.seq, place)
}

function twoEvents(seq: number, { name }: Place): Problem {
  return damaged(seq, name, 'Two segments have different events with this number.')
}

/** The end of the log when the segment began. */
function openingHead({ tildebase, form, after, hash }: JsonObject): Head {
  if (tildebase !== 'log' || form !== FORM) throw new Error(`It is not a segment of the format ${FORM}.`)
  return { seq: Number(after), at: 0, happenedAt: 0, hash: Buffer.from(String(hash), 'hex') }
}

/** The problem of an event that could not be read from a segment. */
function unreadable(seq: number, place: Place, { name }: Segment, reason: unknown): Problem {
  // The place could not be read; the event may be whole.
  if (reason instanceof Problem && reason.code !== 'validation_error') return reason
  return damaged(seq, `${place.name}/${name}`, (reason as Error).message)
}

function damaged(seq: number, path: string, why: string): Problem {
  return new Problem('damaged', `Event ${seq} cannot be read from ${path}. ${why}`, { seq })
}
