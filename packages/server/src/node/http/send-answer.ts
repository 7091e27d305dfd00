import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable, type Writable } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib'
import type { HttpResponse } from '../../doors/http.ts'
import type { Refusals } from '../watch/refusals.ts'
import { afterBody, isUnfinished, Pace } from './body.ts'

/** Over this time a client must read 1 KiB/s on average. */
const WINDOW_MS = 60_000
/** Larger answers are sent in slices. */
const MOST_AT_ONCE = 131_072
const SLICE = 32_768

/** Sends an answer whose body is complete. */
export function sendWhole(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: HttpResponse,
  body: null | string | Uint8Array,
  refusals: Refusals,
): void {
  const length = body === null ? 0 : Buffer.byteLength(body)
  const lines = headerLines(headers)
  if (status !== 204 && status !== 304) lines.push('content-length', String(length))
  response.writeHead(status, lines)
  if (request.method === 'HEAD' || body === null) return void response.end()
  // As many bytes as letters: plain ASCII, which need not be encoded.
  const encoding = body.length === length ? 'latin1' : 'utf8'
  if (length > MOST_AT_ONCE && !isUnfinished(request)) {
    void sendInSlices(response, typeof body === 'string' ? Buffer.from(body, encoding) : body, refusals)
    return
  }
  if (status === 408 || headers.connection === 'close' || !isUnfinished(request))
    return void response.end(body, encoding)
  response.write(body, encoding)
  afterBody(request, () => response.end())
}

/** Sends a large body slice by slice, so that a reader that has stopped is noticed. */
async function sendInSlices(response: ServerResponse, body: Uint8Array, refusals: Refusals): Promise<void> {
  const reader = new Reader(response, refusals)
  for (let at = 0; at < body.length && !response.destroyed; at += SLICE)
    if (!response.write(body.subarray(at, at + SLICE))) await reader.drained(response)
  response.end()
}

/** Names and values in turns, which Node writes as they are. */
function headerLines(headers: HttpResponse['headers']): string[] {
  const lines: string[] = []
  for (const name in headers) lines.push(name, headers[name]!)
  if (isCompressible(headers)) lines.push('vary', 'accept-encoding')
  return lines
}

/** Sends an answer whose body is a stream, as fast as the client reads it. */
export async function sendFlowing(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: HttpResponse,
  body: AsyncIterable<string | Uint8Array>,
  { report, refusals }: { readonly report: (reason: unknown, requestId: string) => void; readonly refusals: Refusals },
): Promise<void> {
  response.writeHead(status, headerLines(headers))
  response.flushHeaders()
  const chunks = body[Symbol.asyncIterator]()
  // The source of a stream is cancelled when the client disconnects, even before the stream exists.
  if (request.method === 'HEAD' || response.destroyed) {
    response.end()
    return void chunks.return?.()
  }
  response.on('close', () => void chunks.return?.())
  const reader = new Reader(response, refusals)
  const isLive = headers['content-type']?.startsWith('text/event-stream') === true
  try {
    for (let chunk = await chunks.next(); !chunk.done && !response.destroyed; chunk = await chunks.next()) {
      const full = isLive ? writeLive(response, chunk.value) : response.write(chunk.value) ? null : response
      if (full) await reader.drained(full)
    }
    response.end()
  } catch (reason) {
    report(reason, String(headers['x-request-id'] ?? ''))
    // A stream that breaks off must not look like one that ended.
    response.destroy()
  }
}

/** Waits for the client of an answer, and disconnects one that reads less than 1 KiB/s over the time allowed. */
export class Reader {
  readonly #response: ServerResponse
  readonly #refusals: Refusals
  readonly #windowMs: number
  readonly #pace: Pace
  /** The bytes of the connection at the last wait. */
  #seen: number

  constructor(response: ServerResponse, refusals: Refusals, windowMs = WINDOW_MS) {
    this.#response = response
    this.#refusals = refusals
    this.#windowMs = windowMs
    this.#pace = new Pace(windowMs)
    this.#seen = response.socket?.bytesWritten ?? 0
  }

  /** Done when the stream has room again, or the client has left. */
  drained(full: Writable): Promise<void> {
    const response = this.#response
    const begun = performance.now()
    const written = response.socket?.bytesWritten ?? this.#seen
    const bytes = written - this.#seen
    this.#seen = written
    return new Promise((done) => {
      const finish = () => {
        clearTimeout(timer)
        full.off('drain', finish)
        response.off('close', finish)
        if (!response.destroyed && !this.#pace.allows(bytes, performance.now() - begun)) this.#disconnect()
        done()
      }
      // Nothing at all was read.
      const timer = setTimeout(() => this.#disconnect(), this.#windowMs)
      full.on('drain', finish)
      response.on('close', finish)
    })
  }

  #disconnect(): void {
    this.#refusals.count('slow_reader')
    this.#response.destroy()
  }
}

/** The chunk of HTTP/1.1 that each piece of bytes travels in. */
const chunks = new WeakMap<Uint8Array, Buffer>()

/**
 * Writes a piece of a live answer, and gives the stream to wait for when that is full; null when there is room.
 * Bytes that go to many readers are made a chunk once and then cost each of them one write to the socket.
 */
function writeLive(response: ServerResponse, piece: string | Uint8Array): Writable | null {
  const { socket } = response
  if (typeof piece === 'string' || socket === null || !response.chunkedEncoding)
    return response.write(piece) ? null : response
  return socket.write(chunkOf(piece)) ? null : socket
}

function chunkOf(piece: Uint8Array): Buffer {
  const known = chunks.get(piece)
  if (known) return known
  const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
  chunks.set(piece, chunk)
  return chunk
}

const LEAST = 1_024
/** Up to here another thread, with two turns of the event loop, takes longer than the work itself. */
const MOST_PACKED_AT_ONCE = 32_768
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:json|x-ndjson|xml|javascript))/
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const GZIP = { level: 5 }
/** For files that never change: they are compressed once, and then sent many times. */
const BEST_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
const BEST_GZIP = { level: 9 }

type Encoding = 'br' | 'gzip'

/** Compressed files that never change, by their bytes. */
const lasting = new WeakMap<Uint8Array, Map<Encoding, Promise<Uint8Array>>>()

const whole = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** The answer in the encoding that its reader likes best, when that is worth it. Live streams are left as they are. */
export function compressed(answer: HttpResponse, accept: string | undefined): HttpResponse | Promise<HttpResponse> {
  const { headers, body } = answer
  if (body === null || headers['content-encoding'] !== undefined) return answer
  const encoding = encodingOf(accept)
  if (encoding === null) return answer
  const flows = typeof body === 'object' && Symbol.asyncIterator in body
  const length = flows ? Number.POSITIVE_INFINITY : Buffer.byteLength(body)
  if (length < LEAST || !isCompressible(headers)) return answer
  const encoded = { ...headers, 'content-encoding': encoding }
  if (flows) return { ...answer, headers: encoded, body: flowing(body, encoding) }
  if (typeof body !== 'string' && headers['cache-control']?.endsWith('immutable'))
    return packedOnce(body, encoding).then((packed) => ({ ...answer, headers: encoded, body: packed }))
  if (length <= MOST_PACKED_AT_ONCE) {
    const packed = encoding === 'br' ? brotliCompressSync(body, BROTLI) : gzipSync(body, GZIP)
    return { ...answer, headers: encoded, body: packed }
  }
  const bytes = encoding === 'br' ? whole.br(body, BROTLI) : whole.gzip(body, GZIP)
  return bytes.then((packed) => ({ ...answer, headers: encoded, body: packed }))
}

/** Whether an answer with these headers may come in more than one encoding. */
function isCompressible(headers: HttpResponse['headers']): boolean {
  const type = headers['content-type']
  if (headers['cache-control']?.includes('no-transform')) return false
  return type !== undefined && COMPRESSIBLE.test(type)
}

function packedOnce(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  const known = lasting.get(bytes) ?? new Map<Encoding, Promise<Uint8Array>>()
  lasting.set(bytes, known)
  const packed =
    known.get(encoding) ?? (encoding === 'br' ? whole.br(bytes, BEST_BROTLI) : whole.gzip(bytes, BEST_GZIP))
  known.set(encoding, packed)
  packed.catch(() => known.delete(encoding))
  return packed
}

/** `br` or `gzip`, whichever the header accepts; null when neither. */
function encodingOf(accept: string | undefined): Encoding | null {
  if (accept === undefined) return null
  const wanted = new Map(
    accept.split(',').map((part) => {
      const [name = '', ...parameters] = part.trim().toLowerCase().split(';')
      const quality = parameters.find((parameter) => parameter.trim().startsWith('q='))
      return [name.trim(), quality === undefined ? 1 : Number(quality.trim().slice(2))] as const
    }),
  )
  const accepts = (name: string) => (wanted.get(name) ?? wanted.get('*') ?? 0) > 0
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : null
}

function flowing(body: AsyncIterable<string | Uint8Array>, encoding: Encoding): AsyncIterable<Uint8Array> {
  const packer = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP)
  // An error at either end, or a reader that disconnects, ends both streams.
  pipeline(Readable.from(body), packer, () => {})
  return packer
}
