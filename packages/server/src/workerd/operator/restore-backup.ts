import { Problem } from '@tildebase/nouns'
import type { Tenant } from '@tildebase/tenant'
import { FORM } from '@tildebase/tenant/internal'
import type { BlobStore } from '@tildebase/tenant/ports'
import { storeContent } from '../../host/files/contents.ts'
import type { Bucket } from '../env.ts'
import type { BackupSource } from '../object/marks.ts'
import { RequestBody } from '../object/request-body.ts'
import { contentKey, segmentKey } from './backup.ts'

/**
 * Brings a tenant that is being restored a segment of its backup further. Returns where it is then, or null when the tenant
 * is whole. One that was interrupted continues after the last event that the tenant has.
 */
export async function restoreSegment(
  bucket: Bucket,
  tenant: Tenant,
  source: BackupSource,
  pause: () => Promise<void>,
  blobs: BlobStore | undefined,
): Promise<BackupSource | null> {
  const { admin } = tenant
  const segment = await bucket.get(segmentKey(source.prefix, source.first))
  if (segment) {
    const lines = linesOf(segment.body.pipeThrough(new DecompressionStream('gzip') as never))
    const before = admin.head.seq
    const left = { isCut: false }
    await admin.replay(encoded(missingOf(tenant, lines, source.until, left)), pause, { more: true })
    // A segment that grew meanwhile has the same first event; the next one begins after the last event of this.
    if (!left.isCut && (admin.head.seq > before || source.first <= admin.head.seq))
      return { ...source, first: admin.head.seq + 1 }
  }
  if (!segment && (await hasLater(bucket, source)))
    throw new Problem('damaged', `The backup ${source.prefix} lacks the segment of event ${source.first}.`)
  await admin.replay(encoded(restOf(bucket, tenant, source)), pause)
  if (blobs) await restoreContents(bucket, tenant, source, blobs)
  return null
}

/** Brings the bytes of files back, as far as the backup has them. */
async function restoreContents(
  bucket: Bucket,
  { admin }: Tenant,
  { prefix }: BackupSource,
  blobs: BlobStore,
): Promise<void> {
  for (const hash of admin.missingContents()) {
    const found = await bucket.get(contentKey(prefix, hash))
    if (found) await storeContent(hash, new RequestBody(found.body).chunks, blobs, (content) => admin.takeIn(content))
  }
}

/** Whether there are segments after the one that is next. */
async function hasLater(bucket: Bucket, { prefix, first }: BackupSource): Promise<boolean> {
  const { objects } = await bucket.list({ prefix, startAfter: segmentKey(prefix, first) })
  return objects.some(({ key }) => key.endsWith('.ndjson.gz'))
}

/** The events of a segment that the tenant does not have, as a slice of a log. */
async function* missingOf(
  { slug, admin }: Tenant,
  lines: AsyncIterable<string>,
  until: number | null,
  left: { isCut: boolean },
): AsyncGenerator<string> {
  const { seq } = admin.head
  yield opening(slug, seq)
  for await (const line of lines) {
    const event = JSON.parse(line)
    if (event.tildebase !== undefined || event.seq <= seq) continue
    if (until !== null && event.at > until) {
      left.isCut = true
      return
    }
    yield `${line}\n`
  }
}

/** What follows the events: secrets, when the tenant keeps its name, and the end. */
async function* restOf(bucket: Bucket, { slug, admin }: Tenant, source: BackupSource): AsyncGenerator<string> {
  const { seq, hash } = admin.head
  yield opening(slug, seq)
  if (source.secrets) yield (await (await bucket.get(`${source.prefix}secrets.ndjson`))?.text()) ?? ''
  yield `${JSON.stringify({ end: true, seq, hash: Buffer.from(hash).toString('hex') })}\n`
}

function opening(tenant: string, after: number): string {
  return `${JSON.stringify({ tildebase: 'log', form: FORM, tenant, after })}\n`
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const text of texts) if (text !== '') yield encoder.encode(text)
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}
