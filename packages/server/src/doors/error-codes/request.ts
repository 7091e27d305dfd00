import type { ErrorCodes } from './error-code.ts'

/** Faults in the form of a request. */
export const REQUEST_ERRORS: ErrorCodes = {
  invalid_tenant: {
    status: 400,
    cause: 'The name of the tenant in the path is not a valid slug.',
    remedy: 'Use lower-case letters, digits and hyphens, at most 63, not at the start or the end.',
  },
  invalid_request: {
    status: 400,
    cause: 'The request line, the headers or the form cannot be read.',
    remedy: 'Correct the part that the message names.',
  },
  invalid_json: {
    status: 400,
    cause: 'The body is not valid JSON.',
    remedy: 'Send UTF-8 JSON with `Content-Type: application/json`.',
  },
  invalid_body: {
    status: 400,
    cause: 'The body is valid JSON, but has another shape than the endpoint takes.',
    remedy: 'Compare the body with the example of the operation in `/docs`.',
  },
  invalid_parameter: {
    status: 400,
    cause: 'A query parameter has a value that is not possible.',
    remedy: '`field` names the parameter; the message says what it takes.',
  },
  invalid_path: {
    status: 400,
    cause: 'The path has an encoding or a segment that cannot be read. In a batch: `path` is not below the tenant.',
    remedy: 'Encode each segment with percent signs. In a batch, write `/Contact/…`.',
  },
  tenant_required: {
    status: 400,
    cause: 'The path names no tenant, and the key does not belong to one.',
    remedy: 'Send the request below `/~{tenant}`, or use a key of the tenant.',
  },
  too_deep: {
    status: 400,
    cause: 'The JSON is nested deeper than 64 levels.',
    remedy: 'Send it flatter, or as text.',
  },
  too_many: {
    status: 400,
    cause: 'A list in the request has more items than the endpoint takes, such as 100 operations in a batch.',
    remedy: 'Split the request.',
  },
  unknown_lens: {
    status: 404,
    cause: 'A subdomain or a segment before `/~{tenant}` is not a lens.',
    remedy: 'Use a domain, a journey or an industry that the message names, or none.',
  },
  unknown_path: {
    status: 404,
    cause: 'There is nothing at this path.',
    remedy: '`GET /~{tenant}` lists links, and `/docs` every endpoint.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists, but not with this method; or the type has switched the verb off.',
    remedy: 'The header `Allow` lists the methods.',
  },
  body_timeout: {
    status: 408,
    cause: 'The body stopped arriving, or arrived slower than 1 KiB/s (`TILDE_BODY_TIMEOUT`).',
    remedy: 'Send it again over a faster connection.',
  },
  too_large: {
    status: 413,
    cause: 'The body, the entity or a value is larger than its limit.',
    remedy: 'The message names the limit. Send less, or use the import for many rows.',
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The endpoint does not take this `Content-Type` or `Content-Encoding`.',
    remedy: 'The message lists what it takes.',
  },
  invalid_range: {
    status: 416,
    cause: '`Range` asks for bytes that the export does not have.',
    remedy: '`Content-Range` tells the size. Ask for a part of it.',
  },
  header_too_large: {
    status: 431,
    cause: 'The headers of the request are too large.',
    remedy: 'Send fewer or shorter headers. Send a long filter in a batch.',
  },
}
