import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Problem } from '@tildebase/nouns'
import type { Answer, Ask, Body } from '../ask.ts'
import type { Gateway } from '../gateway.ts'
import { refusal } from '../respond.ts'

export interface HttpOptions {
  readonly gateway: Gateway
  /** The largest JSON body. */
  readonly bodyLimit: number
  /** Whether the path takes a body that is read bit by bit. */
  readonly streams: (path: string) => boolean
  readonly report: (reason: unknown, requestId: string) => void
}

/** An HTTP server in front of a gateway. */
export function createHttp(options: HttpOptions): Server {
  const server = createServer(
    { maxHeaderSize: 32_768, requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 65_000 },
    (request, response) => {
      void serve(request, response, options)
    },
  )
  return server
}

async function serve(request: IncomingMessage, response: ServerResponse, options: HttpOptions): Promise<void> {
  let answer: Answer
  try {
    answer = await options.gateway.answer(await askOf(request, options))
  } catch (reason) {
    answer = refusal(reason, 'door', options.report)
    // What is left of the body is not worth reading.
    if (!request.complete) answer = { ...answer, headers: { ...answer.headers, connection: 'close' } }
  }
  await send(request, response, answer, options)
}

async function askOf(request: IncomingMessage, options: HttpOptions): Promise<Ask> {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const { headers } = request
  return {
    method: request.method ?? 'GET',
    scheme: String(headers['x-forwarded-proto'] ?? 'http') === 'https' ? 'https' : 'http',
    host: headers.host ?? '',
    path,
    query: mark === -1 ? '' : url.slice(mark + 1),
    headers: headers as Ask['headers'],
    body: await bodyOf(request, path, options),
  }
}

function bodyOf(request: IncomingMessage, path: string, options: HttpOptions): Body | Promise<Body> {
  const { headers } = request
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return null
  // Whoever stops reading still wants to answer: the socket must survive it.
  if (options.streams(path)) return request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>
  const limit = options.bodyLimit
  if (Number(headers['content-length']) > limit) throw tooLarge(limit)
  return new Promise((done, failed) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) failed(tooLarge(limit))
      else chunks.push(chunk)
    })
    request.on('end', () => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.on('error', failed)
  })
}

function tooLarge(limit: number): Problem {
  return new Problem('too_large', `The body may have ${limit} bytes. Use /import for more.`, { limit })
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  options: HttpOptions,
): Promise<void> {
  const { status, headers, body } = answer
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    const length = body === null ? 0 : Buffer.byteLength(body)
    response.writeHead(status, status === 204 || status === 304 ? headers : { ...headers, 'content-length': length })
    response.end(request.method === 'HEAD' ? undefined : (body ?? undefined))
    return
  }
  response.writeHead(status, headers)
  response.flushHeaders()
  const chunks = body[Symbol.asyncIterator]()
  // Whoever makes the stream is told when nobody reads it, also when the client had left before it was there.
  if (request.method === 'HEAD' || response.destroyed) {
    response.end()
    return void chunks.return?.()
  }
  response.on('close', () => void chunks.return?.())
  try {
    for (let chunk = await chunks.next(); !chunk.done && !response.destroyed; chunk = await chunks.next()) {
      if (!response.write(chunk.value)) await drained(response)
    }
    response.end()
  } catch (reason) {
    options.report(reason, String(headers['x-request-id'] ?? ''))
    // A stream that breaks off must not look like one that ended.
    response.destroy()
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((done) => {
    const finish = () => {
      response.off('drain', finish)
      response.off('close', finish)
      done()
    }
    response.on('drain', finish)
    response.on('close', finish)
  })
}
