import type { Tenant } from '@tildebase/tenant'
import { BEGINNING, FORM } from '@tildebase/tenant/internal'
import type { Bucket, FileBucket } from '../env.ts'
import type { BackupMark, ObjectMarks } from '../object/marks.ts'

/** Letters of a segment, about. A longer one is closed, and another begun. */
const SEGMENT = 1_048_576
/** Segments that one alarm writes: its time of computing is limited. */
const MOST_SEGMENTS = 16

/**
 * Adds what a tenant wrote since to its backup, in the files that `tilde backup --to` makes: segments of its log and a file
 * of secrets. A segment that is not full is written again with more in it. Returns whether there is more to add.
 */
export async function backUp(
  bucket: Bucket,
  tenant: Tenant,
  marks: ObjectMarks,
  files: FileBucket | undefined,
): Promise<boolean> {
  let mark = marks.get('backup') ?? begun(tenant.slug)
  for (let i = 0; i < MOST_SEGMENTS && mark.seq < tenant.admin.head.seq; i++) {
    const { text, seq, hash, secrets } = segmentAfter(tenant, mark)
    // The bytes come first: an event in the backup has its files there.
    if (files) await copyContents(bucket, tenant, files, mark.prefix, text)
    await bucket.put(segmentKey(mark.prefix, mark.first), await packed(text))
    if (secrets !== null && secrets !== mark.secrets) await bucket.put(`${mark.prefix}secrets.ndjson`, secrets)
    const isFull = text.length > SEGMENT
    mark = {
      ...mark,
      seq,
      secrets: secrets ?? mark.secrets,
      ...(isFull && { first: seq + 1, before: hash }),
    }
    marks.set('backup', mark)
  }
  return mark.seq < tenant.admin.head.seq
}

/** A file in an event, whose values are JSON inside of JSON. */
const NAMED = /\\?"hash\\?":\\?"(sha256:[0-9a-f]{64})\\?"/g

/** The key of a content in a backup. */
export function contentKey(prefix: string, hash: string): string {
  return `${prefix}files/${hash.slice('sha256:'.length)}`
}

/** Copies the contents that a segment names, unless the backup has them. */
async function copyContents(
  bucket: Bucket,
  { slug, admin }: Tenant,
  files: FileBucket,
  prefix: string,
  text: string,
): Promise<void> {
  for (const hash of new Set(text.matchAll(NAMED).map(([, hash]) => hash!))) {
    const content = admin.content(hash)
    if (content === null || content.key === null || (await bucket.head(contentKey(prefix, hash)))) continue
    const object = await files.get(`${slug}/${content.key}`)
    if (object) await bucket.put(contentKey(prefix, hash), object.body)
  }
}

/** The key of a segment: names sort as events do. */
export function segmentKey(prefix: string, first: number): string {
  return `${prefix}${String(first).padStart(15, '0')}.ndjson.gz`
}

/** Where the newest backup of a tenant is, or null. */
export async function newestBackup(bucket: Bucket, slug: string): Promise<string | null> {
  let newest: string | null = null
  for (let cursor: string | undefined; ; ) {
    const page = await bucket.list({ prefix: `${slug}/`, delimiter: '/', ...(cursor && { cursor }) })
    for (const prefix of page.delimitedPrefixes) if (newest === null || prefix > newest) newest = prefix
    if (!page.truncated) return newest
    cursor = page.cursor
  }
}

/** Its own backup for each time that a tenant is made: one that was restored to a moment continues differently. */
function begun(slug: string): BackupMark {
  const at = new Date().toISOString().replace(/[:.]/g, '-')
  return { prefix: `${slug}/${at}/`, first: 1, before: hex(BEGINNING.hash), seq: 0, secrets: '' }
}

interface Segment {
  readonly text: string
  /** Its last event. */
  readonly seq: number
  readonly hash: string
  /** The lines of secrets, when the segment reaches the end of the log. */
  readonly secrets: string | null
}

/** The segment that begins with `first`, with as many events as fit. */
function segmentAfter(tenant: Tenant, { first, before }: BackupMark): Segment {
  const after = first - 1
  const opening = { tildebase: 'log', form: FORM, tenant: tenant.slug, after, hash: before }
  const texts = [`${JSON.stringify(opening)}\n`]
  let length = texts[0]!.length
  let last = { seq: after, hash: before }
  // The first page is the head of a log, in place of which a segment has its opening.
  for (const page of tenant.admin.log({ after, beside: 'secrets' }).drop(1)) {
    const lastLine = page.slice(page.lastIndexOf('\n', page.length - 2) + 1)
    const told = JSON.parse(lastLine)
    if (told.end === true) return { text: texts.join(''), ...last, secrets: page.slice(0, -lastLine.length) }
    texts.push(page)
    length += page.length
    last = { seq: told.seq, hash: told.hash }
    if (length > SEGMENT) break
  }
  return { text: texts.join(''), ...last, secrets: null }
}

function packed(text: string): Promise<ArrayBuffer> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
