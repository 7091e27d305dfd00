import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type JsonObject, Problem } from '@tildebase/nouns'
import { BEGINNING, FORM, type Head, headAfter } from '@tildebase/server/log'
import { linesOf } from './lines.ts'

/**
 * A file of events, from `first` on, until the next segment begins. A closed segment is compressed and never changes.
 */
export interface Segment {
  readonly first: number
  readonly path: string
  readonly isClosed: boolean
}

/** An event of a backup. */
export interface Kept {
  /** The end of the log after it. */
  readonly head: Head
  readonly event: JsonObject
  /** As it is written, without its line end. */
  readonly line: string
  /** Where in the segment it ends, in bytes. */
  readonly end: number
}

const NAME = /^(\d{15})\.ndjson(\.gz)?$/

/** The path of an open segment. It is named after its first event, so names sort like events. */
export function segmentPath(folder: string, first: number): string {
  return join(folder, `${String(first).padStart(15, '0')}.ndjson`)
}

/**
 * The segments of a folder, oldest first. If a segment exists open and closed, closing was interrupted: the closed one
 * is complete.
 */
export async function segmentsOf(folder: string): Promise<Segment[]> {
  const found = new Map<number, Segment>()
  for (const name of (await readdir(folder)).sort()) {
    const [, first, packed] = NAME.exec(name) ?? []
    if (first === undefined) continue
    found.set(Number(first), { first: Number(first), path: join(folder, name), isClosed: packed !== undefined })
  }
  return [...found.values()]
}

/** All events of a folder, oldest first. Ends with a Problem at the first one that is missing or damaged. */
export async function* eventsOf(folder: string): AsyncGenerator<Kept> {
  let head = BEGINNING
  for (const segment of await segmentsOf(folder)) {
    if (segment.first !== head.seq + 1) throw damaged(head.seq + 1, folder, 'It is missing.')
    for await (const kept of eventsIn(segment, head)) {
      head = kept.head
      yield kept
    }
  }
}

/** The events of a segment. Each must match the hash of the one before it. An unfinished line at the end is ignored. */
export async function* eventsIn(segment: Segment, before?: Head): AsyncGenerator<Kept> {
  let head: Head | undefined
  let seq = segment.first
  let end = 0
  try {
    for await (const line of linesOf(bytesOf(segment))) {
      end += Buffer.byteLength(line) + 1
      const event = JSON.parse(line) as JsonObject
      if (head === undefined) {
        const opening = openingHead(event)
        head = before ?? opening
        continue
      }
      head = headAfter(head, event)
      seq = head.seq + 1
      yield { head, event, line, end }
    }
  } catch (reason) {
    throw damaged(seq, segment.path, (reason as Error).message)
  }
}

/** The tenant that a folder is a backup of. */
export async function tenantOf(folder: string): Promise<string | null> {
  const [first] = await segmentsOf(folder)
  if (first === undefined) return null
  for await (const line of linesOf(bytesOf(first))) return JSON.parse(line).tenant
  return null
}

function bytesOf({ path, isClosed }: Segment): AsyncIterable<Uint8Array> {
  const file = createReadStream(path)
  return isClosed ? pipeline(file, createGunzip(), () => {}) : file
}

/** The end of the log when the segment began. */
function openingHead({ tildebase, form, after, hash }: JsonObject): Head {
  if (tildebase !== 'log' || form !== FORM) throw new Error(`It is not a segment of the format ${FORM}.`)
  return { seq: Number(after), at: 0, happenedAt: 0, hash: Buffer.from(String(hash), 'hex') }
}

function damaged(seq: number, path: string, why: string): Problem {
  return new Problem('damaged', `Event ${seq} cannot be read from ${path}. ${why}`, { seq })
}
