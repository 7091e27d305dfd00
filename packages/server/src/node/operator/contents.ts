import { type Content, contentsAfter, forgetKey, isField, storeBytes, type Verdict } from '@tildebase/tenant/internal'
import type { BlobStore, Sql } from '@tildebase/tenant/ports'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { contentFault, contentResponse, demandHash, isStored, takeContent } from '../../host/files/contents.ts'
import { systemSeal } from '../../host/ports.ts'
import type { BlobStores } from '../files/blob-stores.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import { openSql } from '../sqlite/sql.ts'
import type { AdminTask } from './admin-tasks.ts'

const PAGE = 1_000
/** How many bytes of a content are in one row of a backup. */
const PIECE = 1_048_576

/** The bytes of contents inside the single file of a backup. */
const BYTES = 'CREATE TABLE content_bytes (hash TEXT, n INTEGER, bytes BLOB, PRIMARY KEY (hash, n))'

/** What the contents of a tenant need of the host. */
interface ContentDeps {
  readonly blobs: BlobStores | null
  readonly files: Pick<TenantFiles, 'demandThere'>
  readonly runTask: (slug: string, task: AdminTask) => Promise<unknown>
}

/** Answers with the bytes of a content. */
export async function readContent(slug: string, hash: string, deps: ContentDeps): Promise<HttpResponse> {
  demandHash(hash)
  const content = (await deps.runTask(slug, { do: 'content', hash })) as Content | null
  return contentResponse(slug, hash, content, deps.blobs?.of(slug))
}

/** Takes in the bytes of a content. Bytes with another hash are refused. */
export async function writeContent(
  slug: string,
  hash: string,
  request: HttpRequest,
  deps: ContentDeps,
): Promise<HttpResponse> {
  deps.files.demandThere(slug)
  return takeContent(
    hash,
    request,
    deps.blobs?.of(slug),
    async (content) => (await deps.runTask(slug, { do: 'takeIn', content })) === true,
  )
}

/** Gives the copy of a tenant at a path the bytes of its origin. */
export async function copyContents(path: string, from: string, to: string, blobs: BlobStores | null): Promise<void> {
  if (blobs === null) return
  await withSql(path, async (sql) => {
    const contents = [...contentsIn(sql)].filter(isStored)
    const missing = new Set(
      await blobs.copy(
        from,
        to,
        contents.map(({ key }) => key),
      ),
    )
    for (const { hash, key } of contents) if (missing.has(key)) forgetKey(sql, hash)
  })
}

/** Adds the bytes of all contents to the file of a backup. */
export async function addBytes(path: string, slug: string, blobs: BlobStores | null): Promise<void> {
  if (blobs === null) return
  await withSql(path, async (sql) => {
    const contents = [...contentsIn(sql)].filter(isStored)
    if (contents.length === 0) return
    sql.run(BYTES)
    for (const { hash, key, size } of contents) {
      for (let n = 0; n * PIECE < size || n === 0; n++) {
        const piece = await bytesOf(blobs.of(slug), key, n * PIECE, Math.min(size, (n + 1) * PIECE))
        sql.run('INSERT INTO content_bytes (hash, n, bytes) VALUES (?, ?, ?)', hash, n, piece)
      }
    }
  })
}

/** Takes the bytes out of the file of a backup. What it does not hold is still to come: these hashes are returned. */
export async function takeBytes(path: string, slug: string, blobs: BlobStores | null): Promise<string[]> {
  return withSql(path, async (sql) => {
    const missing: string[] = []
    const hasBytes = sql.rows(`SELECT 1 FROM sqlite_schema WHERE name = 'content_bytes'`).length > 0
    for (const { hash, key } of [...contentsIn(sql)]) {
      const isThere = hasBytes && blobs !== null && key !== null && (await restored(sql, blobs.of(slug), hash, key))
      if (isThere) continue
      forgetKey(sql, hash)
      missing.push(hash)
    }
    if (hasBytes) sql.run('DROP TABLE content_bytes')
    return missing
  })
}

/** Compares the stored bytes of a copy's contents with their hashes. */
export async function verifyContents(
  path: string,
  slug: string,
  blobs: BlobStores | null,
  verdict: Verdict,
): Promise<Verdict> {
  if (blobs === null) return verdict
  const faults = [...verdict.faults]
  await withSql(path, async (sql) => {
    for (const content of contentsIn(sql)) {
      // Other JSON may look like a file, without content.
      if (content.key === null && !isField(sql, content.hash)) continue
      const fault = await contentFault(blobs.of(slug), content)
      if (fault !== null && faults.length < PAGE) faults.push({ seq: null, message: fault })
    }
  })
  return { ...verdict, ok: faults.length === 0, faults }
}

/** Stores the bytes of a content from a backup, if they are all there. */
async function restored(sql: Sql, blobs: BlobStore, hash: string, key: string): Promise<boolean> {
  const pieces = sql.rows('SELECT n FROM content_bytes WHERE hash = ? ORDER BY n', hash)
  if (pieces.length === 0) return false
  const source = function* () {
    for (const [n] of pieces)
      yield sql.rows('SELECT bytes FROM content_bytes WHERE hash = ? AND n = ?', hash, n)[0]![0] as Uint8Array
  }
  const stored = await storeBytes(blobs, systemSeal, key, source())
  if (stored.hash === hash) return true
  await blobs.remove(key)
  return false
}

async function bytesOf(blobs: BlobStore, key: string, from: number, to: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of blobs.read(key, from, to)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function* contentsIn(sql: Sql): Generator<Content> {
  for (let page = contentsAfter(sql, '', PAGE); page.length > 0; page = contentsAfter(sql, page.at(-1)!.hash, PAGE))
    yield* page
}

async function withSql<T>(path: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openSql(path)
  try {
    return await work(sql)
  } finally {
    sql.close()
  }
}
