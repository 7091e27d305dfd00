import type { HttpRequest, HttpResponse } from './http.ts'

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
    'etag, location, www-authenticate, x-request-id, retry-after, idempotency-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset, traceparent, x-tilde-warnings, x-tilde-correlation',
}
