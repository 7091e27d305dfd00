import { TUS_CAPABILITIES } from './files/tus-version.ts'

/** A request, as every host hands it over: plain data that can cross a thread. */
export interface HttpRequest {
  readonly method: string
  /** `http` or `https`, as the client sees it. */
  readonly scheme: string
  /** The Host header, port included. */
  readonly host: string
  /** The path as it came, percent signs and all. */
  readonly path: string
  /** What follows the question mark, as it came. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Body
  /** Aborted when the client disconnects. Only requests that wait or run code have it. */
  readonly signal?: AbortSignal
}

/** Nothing, all of it, or a stream for bodies that may be larger than memory. */
export type Body = null | Uint8Array | AsyncIterable<Uint8Array>

/** A response, likewise. A stream ends early when the client goes away. */
export interface HttpResponse {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: null | string | Uint8Array | AsyncIterable<string | Uint8Array>
  /** About how many bytes of memory a stream holds until it has been read. */
  readonly holds?: number
  /** The path of the route that answered, as far as it is known. It is not sent. */
  readonly route?: string
}

/** A value that is there, or a promise of it. What is there already is not awaited: a turn of the queue costs a statement. */
export type MaybePromise<T> = T | Promise<T>

/** Continues with a value now if it is there, and else when it comes. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => R): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** How a body is read: bit by bit, as a whole, or as a whole unless it is too large for that. */
export type BodyWay = 'stream' | 'whole' | 'any'

/** How the body of a request is read. One that is read bit by bit may be larger than memory. */
export function bodyWay({ method, path, headers }: Pick<HttpRequest, 'method' | 'path' | 'headers'>): BodyWay {
  if (/\/import\/|^\/operator\/tenants\/[^/]+\/(?:restore|log|files\/[^/]+)$/.test(path)) return 'stream'
  const [first = '', ...rest] = /\/~[^/]+\/(.+)$/.exec(path)?.[1]?.split('/') ?? []
  if (first === 'uploads' || (first === 'files' && rest.length === 0)) return 'stream'
  if (method !== 'POST') return 'whole'
  if (first === 'inbox') return 'any'
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (rest.length === 0) return type === 'multipart/form-data' ? 'stream' : 'whole'
  // The last word may be a verb, which takes JSON, or a file field, which takes anything.
  if (rest.length !== 2) return 'whole'
  return /^(?:application\/(?:json|x-www-form-urlencoded)|text\/plain|.*\+json|)$/.test(type) ? 'any' : 'stream'
}

/** Whether a request may wait for events: it takes no turn while it does. */
export function isLasting({ method, query, headers }: HttpRequest, segments: readonly string[]): boolean {
  if (method !== 'GET') return false
  if (acceptsEvents(headers)) return true
  return segments[0] === 'events' && /(?:^|&)wait=0*[1-9]/.test(query)
}

/** Whether a client asks for a stream of events, and does not prefer JSON. */
export function acceptsEvents({ accept }: HttpRequest['headers']): boolean {
  if (accept === undefined || !/text\/event-stream/i.test(accept)) return false
  const quality = new Map(accept.toLowerCase().split(',').map(mediaRange))
  const events = quality.get('text/event-stream') ?? 0
  return events > 0 && events >= (quality.get('application/json') ?? 0)
}

/** A part of `Accept`: the type, and its quality from 0 to 1. */
function mediaRange(text: string): [type: string, quality: number] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [type, quality === undefined ? 1 : Number(quality) || 0]
}

/**
 * Whether a request runs code that can be stopped when its client disconnects. A client with an Idempotency-Key may
 * return.
 */
export function runsCode({ method, headers }: HttpRequest, segments: readonly string[]): boolean {
  const path = segments[0]
  return method === 'POST' && (path === 'do' || path === 'mcp') && headers['idempotency-key'] === undefined
}

const UPLOADS = /\/~[^/]+\/uploads(?:\/|$)/

/** A request with the method that it means: where only GET and POST pass, clients of resumable uploads name it in a header. */
export function withOwnMethod(request: HttpRequest): HttpRequest {
  const method = request.headers['x-http-method-override']?.toUpperCase()
  return method !== undefined && UPLOADS.test(request.path) ? { ...request, method } : request
}

/** The answer to a browser that asks whether it may send a request from another site. */
export function preflight(ask: HttpRequest): HttpResponse {
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers':
        ask.headers['access-control-request-headers'] ??
        'authorization, content-type, if-match, if-none-match, idempotency-key, traceparent, x-request-id, x-correlation-id, mcp-protocol-version, mcp-method, mcp-name',
      'access-control-max-age': '86400',
      // Clients of resumable uploads ask in the same way what is supported.
      ...(UPLOADS.test(ask.path) && TUS_CAPABILITIES),
    },
    body: null,
  }
}

/** An answer with the headers that every one has. */
export function withCommon(answer: HttpResponse, requestId: string, origin: string | undefined): HttpResponse {
  const common = { ...answer.headers, 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
  return { ...answer, headers: origin === undefined ? common : { ...common, ...CROSS_ORIGIN } }
}

/** Any page may ask with a key in a header. None may send a cookie along: that would need a header that is not here. */
const CROSS_ORIGIN: HttpResponse['headers'] = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, location, www-authenticate, x-request-id, retry-after, idempotency-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset, traceparent, x-tilde-warnings, x-tilde-correlation, content-disposition, content-length, content-range, accept-ranges, tus-resumable, upload-offset, upload-length, upload-metadata, upload-expires, upload-hash',
}
