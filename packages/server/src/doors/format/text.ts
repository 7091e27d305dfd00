import { Problem } from '@tildebase/nouns'
import { type Decoder, utf8Decoder } from '@tildebase/nouns/csv'
import type { Body } from '../http.ts'

/** A zipped body grows at most by this factor, from this many bytes on: rows of text grow by 5 to 50. */
const MOST_GROWTH = 200
const GROWN = 16 * 1_048_576

/** The text of a body bit by bit: inflated where it is zipped, and bounded by what comes out. */
export async function* textOf(
  body: Body,
  encoding: string | undefined,
  limit: number,
  decoder: Decoder = utf8Decoder(),
): AsyncGenerator<string> {
  let length = 0
  let read = 0
  const counted = (bytes: number) => {
    read += bytes
  }
  for await (const bytes of unbroken(inflated(bytesOf(body, counted), encoding))) {
    length += bytes.length
    if (length > limit) throw tooLarge(limit)
    if (length > GROWN && length > read * MOST_GROWTH) throw grown()
    yield decoder.decode(bytes)
  }
  yield decoder.end()
}

/** Refuses a body that says of itself that it is too large, before it is read. */
export function refuseLength(length: string | undefined, encoding: string | undefined, limit: number): void {
  if (encoding === undefined && Number(length ?? 0) > limit) throw tooLarge(limit)
}

function tooLarge(limit: number): Problem {
  return new Problem(
    'too_large',
    `An import may have at most ${limit} bytes after decompression. Send it in several parts.`,
    { limit },
  )
}

function grown(): Problem {
  return new Problem(
    'too_large',
    `The body grows to more than ${MOST_GROWTH} times its size when it is decompressed. Send it without compression.`,
    { field: 'Content-Encoding' },
  )
}

async function* bytesOf(body: Body, counted: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  if (body === null) return
  for await (const bytes of body instanceof Uint8Array ? [body] : body) {
    counted(bytes.length)
    yield bytes
  }
}

function inflated(bytes: AsyncIterable<Uint8Array>, encoding = 'identity'): AsyncIterable<Uint8Array> {
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Problem('unsupported_media_type', 'Content-Encoding must be gzip or absent.', {
      field: 'Content-Encoding',
      supported: ['gzip'],
    })
  }
  const stream = (ReadableStream as unknown as { from(source: AsyncIterable<Uint8Array>): ReadableStream }).from(bytes)
  return stream.pipeThrough(new DecompressionStream('gzip')) as unknown as AsyncIterable<Uint8Array>
}

/** A stream that breaks, on the way or in its zip, is a fault of the body and not of ours. */
async function* unbroken(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]()
  try {
    for (;;) {
      const chunk = await next(chunks)
      if (chunk.done) return
      yield chunk.value
    }
  } finally {
    await chunks.return?.().catch(() => undefined)
  }
}

async function next(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next()
  } catch (reason) {
    if (reason instanceof Problem) throw reason
    throw new Problem('invalid_body', 'The body is truncated, or is not valid gzip.')
  }
}
