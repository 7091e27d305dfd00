import { pipeline, Readable } from 'node:stream'
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
import type { HttpResponse } from '../http.ts'

const LEAST = 1_024
/** Up to here another thread, with two turns of the event loop, takes longer than the work itself. */
const MOST_AT_ONCE = 32_768
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:json|x-ndjson|xml|javascript))/
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const GZIP = { level: 5 }

const whole = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** The answer in the encoding that its reader likes best, when that is worth it. Live streams are left as they are. */
export function compressed(answer: HttpResponse, accept: string | undefined): HttpResponse | Promise<HttpResponse> {
  const { headers, body } = answer
  const encoding = encodingOf(accept)
  if (encoding === null || body === null || headers['content-encoding'] !== undefined) return answer
  const flows = typeof body === 'object' && Symbol.asyncIterator in body
  const length = flows ? Number.POSITIVE_INFINITY : Buffer.byteLength(body)
  if (!isCompressible(headers) || length < LEAST) return answer
  const encoded = { ...headers, 'content-encoding': encoding }
  if (flows) return { ...answer, headers: encoded, body: flowing(body, encoding) }
  if (length <= MOST_AT_ONCE) {
    const packed = encoding === 'br' ? brotliCompressSync(body, BROTLI) : gzipSync(body, GZIP)
    return { ...answer, headers: encoded, body: packed }
  }
  const bytes = encoding === 'br' ? whole.br(body, BROTLI) : whole.gzip(body, GZIP)
  return bytes.then((packed) => ({ ...answer, headers: encoded, body: packed }))
}

/** Whether an answer with these headers may come in more than one encoding. */
export function isCompressible(headers: HttpResponse['headers']): boolean {
  const type = headers['content-type']
  return type !== undefined && COMPRESSIBLE.test(type)
}

/** `br` or `gzip`, whichever the header accepts; null when neither. */
function encodingOf(accept: string | undefined): 'br' | 'gzip' | null {
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

function flowing(body: AsyncIterable<string | Uint8Array>, encoding: 'br' | 'gzip'): AsyncIterable<Uint8Array> {
  const packer = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP)
  // An error at either end, or a reader that disconnects, ends both streams.
  pipeline(Readable.from(body), packer, () => {})
  return packer
}
