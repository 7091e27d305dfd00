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
import type { HttpResponse } from '../../doors/http.ts'

const LEAST = 1_024
/** Up to here another thread, with two turns of the event loop, takes longer than the work itself. */
const MOST_AT_ONCE = 32_768
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
  const encoding = encodingOf(accept)
  if (encoding === null || body === null || headers['content-encoding'] !== undefined) return answer
  const flows = typeof body === 'object' && Symbol.asyncIterator in body
  const length = flows ? Number.POSITIVE_INFINITY : Buffer.byteLength(body)
  if (!isCompressible(headers) || length < LEAST) return answer
  const encoded = { ...headers, 'content-encoding': encoding }
  if (flows) return { ...answer, headers: encoded, body: flowing(body, encoding) }
  if (typeof body !== 'string' && headers['cache-control']?.endsWith('immutable'))
    return packedOnce(body, encoding).then((packed) => ({ ...answer, headers: encoded, body: packed }))
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
