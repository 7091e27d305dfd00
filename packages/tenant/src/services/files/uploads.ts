import { Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { randomText } from '../../ids.ts'
import type { Sending } from '../../store/files/contents.ts'
import {
  dropUpload,
  finishUpload,
  offsetOfUpload,
  openUploads,
  partsOfUpload,
  savePart,
  saveUpload,
  type Upload,
  type UploadPart,
  uploadOf,
} from '../../store/files/uploads.ts'
import { senderOf } from '../../write/files.ts'
import { blobsOf, fileOptions, type ReceivedContent, receiveContent, roomFor, settled } from './receive.ts'

/** An upload in several requests, as its sender sees it. */
export interface UploadState extends Upload {
  /** How many bytes have arrived. */
  readonly offset: number
}

/** Bytes that one request brought, before a commit names them. */
export interface ReceivedPart {
  readonly upload: UploadState
  readonly part: UploadPart | null
  /** Why the bytes ended before the end of the request; null when they did not. */
  readonly cut: unknown
  /** The content, when the upload is complete with this part. */
  readonly content: ReceivedContent | null
}

const ID_LENGTH = 32
const MOST_OPEN = 1_000
const MOST_PARTS = 10_000

/** Starts an upload. */
export function beginUpload(
  engine: Engine,
  grant: Grant,
  size: number,
  { type, name }: Sending,
  metadata: string,
): UploadState {
  blobsOf(engine)
  roomFor(engine).demand(size)
  const sender = senderOf(grant)
  if (openUploads(engine.sql, sender) >= MOST_OPEN)
    throw new Problem('busy', `There are ${MOST_OPEN} unfinished uploads of this key. Finish or terminate some.`, {
      retryAfter: 60,
    })
  const id = randomText(engine.ports.random, ID_LENGTH)
  const expiresAt = engine.ports.clock.now() + fileOptions(engine).orphansMs
  const upload: Upload = { id, sender, size, type, name, metadata, expiresAt, hash: null }
  saveUpload(engine.sql, upload)
  return { ...upload, offset: 0 }
}

/** An upload of the caller's own. Those of others do not exist for it. */
export function findUpload(engine: Engine, grant: Grant, id: string): UploadState {
  const upload = uploadOf(engine.sql, id)
  if (upload === null || upload.sender !== senderOf(grant))
    throw new Problem('not_found', 'There is no upload with this id.', { id })
  if (upload.expiresAt <= engine.ports.clock.now())
    throw new Problem('upload_expired', 'The upload has expired. Start a new one.', { id })
  return { ...upload, offset: upload.hash === null ? offsetOfUpload(engine.sql, id) : upload.size }
}

/** A check of the bytes of one request. */
export interface PartCheck {
  update(chunk: Uint8Array): void
  /** Refuses bytes that are not those that the sender meant. */
  demand(): void
}

/** Stores the bytes of one request. Those that came before the sender disconnected are kept, unless they are checked. */
export async function receivePart(
  engine: Engine,
  upload: UploadState,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  check: PartCheck | null,
): Promise<ReceivedPart> {
  const { id, size, offset: start } = upload
  if (partsOfUpload(engine.sql, id).length >= MOST_PARTS)
    throw new Problem('too_large', `An upload may have at most ${MOST_PARTS} parts. Send larger ones.`, {
      limit: MOST_PARTS,
    })
  let cut: unknown = null
  const counted = async function* () {
    let length = 0
    try {
      for await (const chunk of source) {
        length += chunk.length
        if (start + length > size)
          throw new Problem('too_large', `The upload has ${size} bytes; more were sent.`, { limit: size })
        check?.update(chunk)
        yield chunk
      }
    } catch (reason) {
      if (check !== null || isRefusal(reason)) throw reason
      cut = reason
    }
    check?.demand()
  }
  const content = await receiveContent(engine, counted(), upload)
  if (content.size === 0 && size > 0) {
    await blobsOf(engine).remove(content.key)
    settled(engine, content.key)
    return { upload, part: null, cut, content: null }
  }
  const part = { start, size: content.size, key: content.key }
  if (cut !== null || start + part.size < size) return { upload, part, cut, content: null }
  return { upload, part, cut, content: start === 0 ? content : await assembled(engine, upload, part) }
}

/** Notes a part that is durable, in a commit. A part that others were faster than is refused. */
export function admitPart(engine: Engine, { upload, part, content }: ReceivedPart): UploadState {
  const { sql } = engine
  const { id } = upload
  const now = uploadOf(sql, id)
  if (now === null) throw new Problem('not_found', 'There is no upload with this id.', { id })
  if (now.hash !== null || offsetOfUpload(sql, id) !== upload.offset)
    throw new Problem('conflict', 'Another request has continued this upload.', { id, field: 'Upload-Offset' })
  if (part !== null) savePart(sql, id, part)
  if (content === null) return { ...now, offset: offsetOfUpload(sql, id) }
  finishUpload(sql, id, content.hash, content.key)
  return { ...now, hash: content.hash, offset: now.size }
}

export function endUpload(engine: Engine, grant: Grant, id: string): void {
  findUpload(engine, grant, id)
  dropUpload(engine.sql, id)
}

/** All parts as one content. */
async function assembled(engine: Engine, upload: UploadState, last: UploadPart): Promise<ReceivedContent> {
  const blobs = blobsOf(engine)
  const parts = [...partsOfUpload(engine.sql, upload.id), last]
  const all = async function* () {
    for (const { key, size } of parts) yield* blobs.read(key, 0, size)
  }
  return receiveContent(engine, all(), upload)
}

/** Whether bytes were refused, and not cut off. */
function isRefusal(reason: unknown): boolean {
  return reason instanceof Problem && ['too_large', 'checksum_mismatch', 'over_quota'].includes(reason.code)
}
