import { isoOf, type Noun } from '@tildebase/nouns'
import type { Snapshot } from '@tildebase/tenant'
import type { Call, Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ref } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { scheduler } from '../turns.ts'
import { parquetPieces } from './export.ts'
import { filterParam } from './params.ts'

/** What there is to fetch, and whether it has changed. */
export const manifestRoutes: readonly Route[] = [
  streamRoute('GET /manifest', {
    summary: 'List the Parquet files of the tenant with their hashes',
    needs: 'read on the types involved',
    answers: { 200: answer(ref('Manifest')) },
    handle: manifest,
  }),
]

interface FileEntry {
  readonly hash: string
  readonly size: number
  readonly records: number
}

/** Types with secrets, and the log itself, which always changes. */
const LEFT_OUT = new Set(['ApiKey', 'Webhook', 'Event'])

async function manifest(call: Call): Promise<Reply> {
  const { read } = call
  const generatedAt = isoOf(read.now)
  const files: { [name: string]: FileEntry } = {}
  for (const noun of read.storedTypes()) {
    if (LEFT_OUT.has(noun.name)) continue
    const entry = await entryOf(call, noun)
    if (entry.records > 0) files[`${noun.name}.parquet`] = entry
  }
  const { seq, hash } = read.head
  return json(200, { files, generatedAt, head: { seq, hash: `sha256:${hex(hash)}` } })
}

/** The entry of a type: kept until the type changes, and worked out once for all who ask meanwhile. */
async function entryOf(call: Call, noun: Noun): Promise<FileEntry> {
  const { read } = call
  // The whole type, as the lens shows it: a manifest has no filter.
  const snapshot = read.snapshot(noun, filterParam({ ...call, query: new Map() }, noun))
  const key = `manifest ${snapshot.fingerprint('parquet')}`
  try {
    return await read.cached([noun.name], key, () => workOut(call, noun, snapshot))
  } catch (reason) {
    read.forget(noun.name)
    throw reason
  }
}

async function workOut(call: Call, noun: Noun, snapshot: Snapshot): Promise<FileEntry> {
  const hasher = call.read.hasher()
  let size = 0
  let records = 0
  const counted = {
    *pages() {
      for (const page of snapshot.pages()) {
        records += page.length
        yield page
      }
    },
  }
  for (const piece of await parquetPieces(call, noun, counted)) {
    await scheduler.next(call.tenant.slug)
    if (piece === null) continue
    hasher.update(piece)
    size += piece.length
  }
  return { hash: `sha256:${hex(hasher.digest())}`, size, records }
}

/** Bytes as hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
