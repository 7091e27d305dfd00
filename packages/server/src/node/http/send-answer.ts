import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { HttpResponse } from '../../doors/http.ts'
import { isCompressible } from './compress.ts'
import { writeLive } from './live-write.ts'
import { afterBody, isUnfinished } from './upload.ts'

/** Sends an answer whose body is complete. */
export function sendWhole(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: HttpResponse,
  body: null | string | Uint8Array,
): void {
  const length = body === null ? 0 : Buffer.byteLength(body)
  const lines = headerLines(headers)
  if (status !== 204 && status !== 304) lines.push('content-length', String(length))
  response.writeHead(status, lines)
  if (request.method === 'HEAD' || body === null) return void response.end()
  // As many bytes as letters: plain ASCII, which need not be encoded.
  const encoding = body.length === length ? 'latin1' : 'utf8'
  if (status === 408 || headers.connection === 'close' || !isUnfinished(request))
    return void response.end(body, encoding)
  response.write(body, encoding)
  afterBody(request, () => response.end())
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
  report: (reason: unknown, requestId: string) => void,
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
  const isLive = headers['content-type']?.startsWith('text/event-stream') === true
  try {
    for (let chunk = await chunks.next(); !chunk.done && !response.destroyed; chunk = await chunks.next()) {
      const full = isLive ? writeLive(response, chunk.value) : response.write(chunk.value) ? null : response
      if (full) await drained(response, full)
    }
    response.end()
  } catch (reason) {
    report(reason, String(headers['x-request-id'] ?? ''))
    // A stream that breaks off must not look like one that ended.
    response.destroy()
  }
}

function drained(response: ServerResponse, full: Writable): Promise<void> {
  return new Promise((done) => {
    const finish = () => {
      full.off('drain', finish)
      response.off('close', finish)
      done()
    }
    full.on('drain', finish)
    response.on('close', finish)
  })
}
