import { Problem } from '@tildebase/nouns'
import { bodyWay, type HttpRequest, type HttpResponse } from '../doors/http.ts'

/** A request in the form that every host hands over; its body is not read yet. */
export function httpRequestOf(request: Request): HttpRequest {
  const { protocol, host, pathname, search } = new URL(request.url)
  return {
    method: request.method,
    scheme: protocol.slice(0, -1),
    host,
    path: pathname,
    query: search.slice(1),
    headers: Object.fromEntries(request.headers),
    body: request.body as HttpRequest['body'],
  }
}

/** The same with its body read, unless it is one that is read bit by bit. */
export async function withBody(ask: HttpRequest, limit: number): Promise<HttpRequest> {
  const way = bodyWay(ask)
  if (ask.body === null || ask.body instanceof Uint8Array || way === 'stream') return ask
  const chunks: Uint8Array[] = []
  let length = 0
  const source = ask.body[Symbol.asyncIterator]()
  for (let next = await source.next(); !next.done; next = await source.next()) {
    length += next.value.length
    chunks.push(next.value)
    if (length <= limit) continue
    if (way === 'any') return { ...ask, body: followedBy(chunks, source) }
    throw new Problem('too_large', `The body may have at most ${limit} bytes. Use /import for more.`, { limit })
  }
  return { ...ask, body: chunks.length === 1 ? chunks[0]! : joined(chunks, length) }
}

/** Chunks that were read already, and the rest of their source. */
export async function* followedBy(read: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let chunk = read.shift(); chunk !== undefined; chunk = read.shift()) yield chunk
  try {
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

export function fetchResponseOf({ status, headers, body }: HttpResponse, method: string): Response {
  if (method === 'HEAD') {
    if (isIterable(body)) void body[Symbol.asyncIterator]().return?.()
    return new Response(null, { status, headers: { ...headers } })
  }
  return new Response(isIterable(body) ? streamOf(body) : (body as BodyInit | null), {
    status,
    headers: { ...headers },
  })
}

function isIterable(body: HttpResponse['body']): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/** A stream of bytes that asks for the next chunk only when there is room for it, and ends its source with its reader. */
function streamOf(body: AsyncIterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body
  const chunks = body[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
