import { HASH, Problem } from '@tildebase/nouns'
import { type Content, randomText, storeBytes } from '@tildebase/tenant/internal'
import type { BlobStore } from '@tildebase/tenant/ports'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { empty, render } from '../../doors/reply.ts'
import { systemRandom, systemSeal } from '../ports.ts'

const KEY_LENGTH = 24

type StoredContent = Content & { readonly key: string }

export function isStored(content: Content | null): content is StoredContent {
  return content !== null && content.key !== null
}

export function demandHash(hash: string): void {
  if (!HASH.test(hash))
    throw new Problem('invalid_parameter', 'A hash is sha256: and 64 hex digits.', { field: 'hash' })
}

/** Answers the operator with the bytes of a content. */
export function contentResponse(
  slug: string,
  hash: string,
  content: Content | null,
  blobs: BlobStore | undefined,
): HttpResponse {
  if (!blobs) throw noStore()
  if (!isStored(content)) throw new Problem('not_found', `The tenant ${slug} has no content ${hash}.`, { id: hash })
  const { size, key } = content
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size), etag: `"${hash}"` }
  return { status: 200, headers, body: blobs.read(key, 0, size) }
}

/** Takes in the bytes of a content from the operator. Bytes with another hash are refused. */
export async function takeContent(
  hash: string,
  { body }: HttpRequest,
  blobs: BlobStore | undefined,
  takeIn: TakeIn,
): Promise<HttpResponse> {
  demandHash(hash)
  if (!blobs) throw noStore()
  await storeContent(hash, body, blobs, takeIn)
  return render(empty(204))
}

/** Stores the bytes of a content that a tenant misses. */
export async function storeContent(
  hash: string,
  body: HttpRequest['body'],
  blobs: BlobStore,
  takeIn: TakeIn,
): Promise<void> {
  const key = randomText(systemRandom, KEY_LENGTH)
  const source = body === null ? [] : body instanceof Uint8Array ? [body] : body
  const content = await storeBytes(blobs, systemSeal, key, source)
  const isRight = content.hash === hash
  if (!isRight || !(await takeIn(content))) await blobs.remove(key)
  if (!isRight) throw new Problem('validation_error', `The bytes have the hash ${content.hash}.`, { field: 'hash' })
}

/** Makes stored bytes part of a tenant. False when it has them already. */
type TakeIn = (content: Content) => Promise<boolean> | boolean

/** Compares the stored bytes of a content with its hash. */
export async function contentFault(blobs: BlobStore, content: Content): Promise<string | null> {
  const { hash, size } = content
  if (!isStored(content)) return `The bytes of the content ${hash} are missing.`
  const sum = systemSeal.hasher()
  try {
    for await (const chunk of blobs.read(content.key, 0, size)) sum.update(chunk)
  } catch {
    return `The bytes of the content ${hash} cannot be read.`
  }
  const found = `sha256:${Buffer.from(sum.digest()).toString('hex')}`
  return found === hash ? null : `The bytes of the content ${hash} do not match it.`
}

function noStore(): Problem {
  return new Problem('not_supported', 'This host stores no files.')
}
