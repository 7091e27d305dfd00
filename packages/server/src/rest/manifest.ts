import { isoOf, type Noun } from '@tildebase/nouns'
import { may, Snapshot, typesWithEntities } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'
import { parquetPieces, pause } from './export.ts'
import { filterParam } from './params.ts'

/** What there is to fetch, and whether it has changed. */
export const manifestRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/manifest',
    needs: { action: 'read', on: 'each' },
    mode: 'stream',
    summary: 'List the parquet files of the tenant with their hashes',
    handle: manifest,
  },
]

interface FileEntry {
  readonly hash: string
  readonly size: number
  readonly records: number
}

/** Types with secrets, and the log itself, which never stands still. */
const LEFT_OUT = new Set(['ApiKey', 'Webhook', 'Event'])

async function manifest(call: Call): Promise<HttpResponse> {
  const { tenant, grant } = call
  const generatedAt = isoOf(tenant.ports.clock.now())
  const files: { [name: string]: FileEntry } = {}
  for (const type of typesWithEntities(tenant.sql)) {
    const noun = tenant.nouns.get(type)
    if (noun?.name !== type || LEFT_OUT.has(type) || !may(grant, 'read', noun)) continue
    const entry = await entryOf(call, noun)
    if (entry.records > 0) files[`${type}.parquet`] = entry
  }
  return json(200, { files, generatedAt, head: { seq: tenant.head.seq, hash: `sha256:${hex(tenant.head.hash)}` } })
}

/** The entry of a type: kept until the type changes, and worked out once for all who ask meanwhile. */
async function entryOf(call: Call, noun: Noun): Promise<FileEntry> {
  const { cache } = call.tenant
  const snapshot = new Snapshot(call.tenant, call.grant, noun, filterParam(call, noun))
  const key = `manifest ${snapshot.fingerprint('parquet')}`
  try {
    return await cache.get([noun.name, 'Schema'], key, () => workOut(call, noun, snapshot))
  } catch (reason) {
    cache.forget(noun.name)
    throw reason
  }
}

async function workOut(call: Call, noun: Noun, snapshot: Snapshot): Promise<FileEntry> {
  const hasher = call.tenant.ports.seal.hasher()
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
  for (const piece of parquetPieces(call, noun, counted)) {
    if (piece === null) await pause()
    else {
      hasher.update(piece)
      size += piece.length
    }
  }
  return { hash: `sha256:${hex(hasher.digest())}`, size, records }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
