import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { HttpResponse } from '../../doors/http.ts'
import type { Refusals } from '../watch/refusals.ts'
import { isCompressible } from './compress.ts'
import { writeLive } from './live-write.ts'
import { Pace } from './pace.ts'
import { afterBody, isUnfinished } from './upload.ts'

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
