import { Readable } from 'node:stream'
import { Problem, type Wire } from '@tildebase/client'
import type { Place } from './place.ts'

/** The part of a backup with the bytes of files, each under its hash. */
const FILES = 'files/'
/** A file in an event, whose values are JSON inside of JSON. */
const NAMED = /\\?"hash\\?":\\?"sha256:([0-9a-f]{64})\\?"/g
const MOST_KNOWN = 100_000

/** Contents that a backup has: places are asked once for each. */
const known = new WeakMap<Place, Set<string>>()

/** Saves the bytes that a line of a log names, unless they are there. Content that was erased is gone. */
export async function saveContents(wire: Wire, tenant: string, place: Place, line: string): Promise<void> {
  if (!line.includes('sha256:')) return
  const there = known.get(place) ?? new Set()
  known.set(place, there)
  for (const [, digits] of line.matchAll(NAMED)) {
    if (there.has(digits!)) continue
    try {
      if (!(await place.has(`${FILES}${digits}`))) {
        const { body } = await wire.send(`${tenant}/files/sha256:${digits}`)
        await place.put(`${FILES}${digits}`, body ?? [])
      }
      if (there.size < MOST_KNOWN) there.add(digits!)
    } catch (reason) {
      if (!(reason instanceof Problem && reason.about.status === 404)) throw reason
    }
  }
}

/** Sends the bytes that a restored tenant misses and the backup has. Returns how many it does not have. */
export async function sendContents(
  wire: Wire,
  tenant: string,
  place: Place,
  missing: readonly string[] | null,
): Promise<number> {
  const wanted = missing?.map(digitsOf) ?? (await place.list(FILES)).map((name) => name.slice(FILES.length))
  let lost = 0
  for (const digits of wanted) {
    if (!(await place.has(`${FILES}${digits}`))) {
      lost++
      continue
    }
    const source = Readable.from(place.read(`${FILES}${digits}`), { objectMode: false })
    const body = Readable.toWeb(source) as ReadableStream<Uint8Array>
    const raw = { type: 'application/octet-stream', body }
    await wire.send(`${tenant}/files/sha256:${digits}`, { method: 'PUT', raw, once: true })
  }
  return lost
}

/** The digits of a hash. Any other name could lead to another file of this machine. */
function digitsOf(hash: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(hash)) return hash.slice('sha256:'.length)
  throw new Problem('unexpected_answer', `The service misses ${JSON.stringify(hash)}, which is not a hash of content.`)
}
