import { Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Tenant } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import type { Reply } from '../reply.ts'

/** A file that is generated for every request, part by part, and always with the same bytes. */
export interface MadeFile {
  /** Names these very bytes. */
  readonly etag: string
  readonly headers: HttpResponse['headers']
  readonly bytes: () => AsyncGenerator<string | Uint8Array>
}

/** Answers with the file, with its length alone to HEAD, or with the part that Range asks for. */
export async function rangedReply(call: Call, file: MadeFile): Promise<Reply> {
  const isHead = call.request.method === 'HEAD'
  const headers = { ...file.headers, 'accept-ranges': 'bytes' }
  const wanted = rangeIn(call, file.etag)
  if (!isHead && wanted === null) return { status: 200, headers, content: null, stream: file.bytes() }
  const { size, bytes } = await measured(call.tenant, file)
  if (isHead)
    return { status: 200, headers: { ...headers, 'content-length': `${size}` }, content: null, stream: all([]) }
  const [start, end] = within(wanted!, size)
  const range = { 'content-range': `bytes ${start}-${end - 1}/${size}`, 'content-length': `${end - start}` }
  const stream = bytes ? all([bytes.subarray(start, end)]) : part(file.bytes(), start, end)
  return { status: 206, headers: { ...headers, ...range }, content: null, stream }
}

/** `bytes=0-99`, `bytes=100-` or `bytes=-8`: from and to, either of which may be absent. */
type Wanted = readonly [from: number | null, to: number | null]

/** The one range that is asked for, of these very bytes. Several at once are answered with the whole. */
export function rangeIn({ request }: Call, etag: string): Wanted | null {
  const condition = request.headers['if-range']
  if (condition !== undefined && condition !== etag) return null
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(request.headers.range?.replaceAll(' ', '') ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  return [from === '' ? null : Number(from), to === '' ? null : Number(to)]
}

export function within([from, to]: Wanted, size: number): readonly [start: number, end: number] {
  const start = from ?? Math.max(0, size - to!)
  const end = from === null || to === null ? size : Math.min(to + 1, size)
  if (start < end) return [start, end]
  throw new Problem('invalid_range', `The file has ${size} bytes; this Range is outside of it.`, {
    field: 'Range',
    size,
  })
}

interface Measured {
  readonly size: number
  /** The file itself, when it is small. */
  readonly bytes: Uint8Array | null
}

/** Readers of Parquet ask for a file in many small parts: it is not made again for each while it is small. */
const MOST_BYTES = 8 * 1_048_576
const MOST_KEPT = 4
const kept = new WeakMap<Tenant, BoundedMap<string, Measured>>()

async function measured(tenant: Tenant, { etag, bytes }: MadeFile): Promise<Measured> {
  const known = kept.get(tenant) ?? new BoundedMap<string, Measured>(MOST_KEPT)
  kept.set(tenant, known)
  const found = known.get(etag)
  if (found) return found
  let size = 0
  let chunks: Uint8Array[] | null = []
  for await (const chunk of bytes()) {
    const piece = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    size += piece.length
    if (size > MOST_BYTES) chunks = null
    chunks?.push(piece.slice())
  }
  const made = { size, bytes: chunks && joined(chunks, size) }
  // One file of a tenant is held at a time, and the sizes of a few.
  for (const [key, { size }] of [...known]) known.set(key, { size, bytes: null })
  known.set(etag, made)
  return made
}

async function* part(source: AsyncGenerator<string | Uint8Array>, start: number, end: number) {
  let at = 0
  for await (const chunk of source) {
    const piece = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    const cut = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += piece.length
    if (cut.length > 0) yield cut
    if (at >= end) return
  }
}

async function* all(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
