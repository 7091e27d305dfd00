import { Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { FILE_DEFAULTS, type FileOptions } from '../../engine/options.ts'
import { randomText } from '../../ids.ts'
import type { BlobStore, Seal } from '../../ports.ts'
import { type Content, keptBytes, type Sending } from '../../store/files/contents.ts'
import { hexOf } from '../../store/non-log-tables.ts'
import { HEAD_LENGTH, imageSize } from './image-size.ts'

/** Content whose bytes are durable, but which no commit names yet. */
export interface ReceivedContent extends Content, Sending {
  readonly key: string
}

const KEY_LENGTH = 24

/** The store of the host, or the problem of having none. */
export function blobsOf({ ports }: Engine): BlobStore {
  if (ports.blobs) return ports.blobs
  throw new Problem('not_supported', 'This service stores no files. A cluster needs TILDE_FILES=s3://bucket/prefix.')
}

export function fileOptions({ options }: Engine): FileOptions {
  return options.files ?? FILE_DEFAULTS
}

/** Stores content for a write that will name it. */
export async function receiveContent(
  engine: Engine,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  sending: Sending,
  declared: number | null = null,
): Promise<ReceivedContent> {
  const room = roomFor(engine)
  if (declared !== null) room.demand(declared)
  const key = randomText(engine.ports.random, KEY_LENGTH)
  uncommitted(engine).add(key)
  try {
    return { ...(await storeBytes(blobsOf(engine), engine.ports.seal, key, source, room.demand)), ...kindOf(sending) }
  } catch (reason) {
    settled(engine, key)
    throw reason
  }
}

function kindOf({ type, name }: Sending): Sending {
  return { type, name }
}

/** Stores bytes under a key, and works out their hash on the way. Memory does not grow with them. */
export async function storeBytes(
  blobs: BlobStore,
  seal: Pick<Seal, 'hasher'>,
  key: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  demand: (size: number) => void = () => {},
): Promise<Content & { readonly key: string }> {
  const hasher = seal.hasher()
  const head: Uint8Array[] = []
  let headLength = 0
  let size = 0
  const counted = async function* () {
    for await (const chunk of source) {
      if (chunk.length === 0) continue
      size += chunk.length
      demand(size)
      hasher.update(chunk)
      if (headLength < HEAD_LENGTH) {
        // A copy: the store may free the bytes once they are written, and slice of a Buffer copies nothing.
        head.push(new Uint8Array(chunk.subarray(0, HEAD_LENGTH - headLength)))
        headLength += head.at(-1)!.length
      }
      yield chunk
    }
  }
  await blobs.put(key, counted())
  const image = imageSize(joined(head, headLength))
  const hash = `sha256:${hexOf(hasher.digest())}`
  return { hash, key, size, width: image?.width ?? null, height: image?.height ?? null }
}

const receiving = new WeakMap<Engine, Set<string>>()

/** Keys whose bytes may be there before a commit names them. */
function uncommitted(engine: Engine): Set<string> {
  const known = receiving.get(engine) ?? new Set<string>()
  receiving.set(engine, known)
  return known
}

/** Whether bytes belong to a request that has not been committed or refused yet. */
export function isUncommitted(engine: Engine, key: string): boolean {
  return uncommitted(engine).has(key)
}

/** The bytes of a key were committed or removed. */
export function settled(engine: Engine, key: string): void {
  uncommitted(engine).delete(key)
}

/** Refuses more bytes than a file may have, or than there is room for. */
export function roomFor(engine: Engine): { demand(size: number): void } {
  const { limit, total } = fileOptions(engine)
  const kept = total === null ? null : keptBytes(engine.sql)
  // Content that the tenant has already takes no room: it is no larger than the largest.
  const room = kept === null ? Number.POSITIVE_INFINITY : Math.max(total! - kept.total, kept.largest)
  return {
    demand(size) {
      if (size > limit) throw tooLarge(limit)
      if (size > room) throw tooMuch(total!)
    },
  }
}

function tooLarge(limit: number): Problem {
  return new Problem('too_large', `A file may have at most ${limit} bytes (TILDE_FILE_LIMIT).`, { limit })
}

export function tooMuch(limit: number): Problem {
  const message = `The files of this tenant may have at most ${limit} bytes together (TILDE_FILES_TOTAL).`
  return new Problem('too_large', message, { limit })
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
