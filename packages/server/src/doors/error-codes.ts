/** An error code: its HTTP status, when it occurs, and what the sender can do. */
interface ErrorCode {
  readonly status: number
  readonly cause: string
  readonly remedy: string
}

type ErrorCodes = { readonly [code: string]: ErrorCode }

/** Every error code of the service. A code that is not here is a fault of ours. */
export const ERROR_CODES: ErrorCodes = {
  // Faults in the form of a request.
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
    cause: 'The JSON has another shape than the endpoint takes.',
    remedy: 'Compare it with the example in `/docs`.',
  },
  invalid_parameter: {
    status: 400,
    cause: 'A query parameter has an impossible value.',
    remedy: '`field` names the parameter; the message says what it takes.',
  },
  invalid_path: {
    status: 400,
    cause: 'The path cannot be read. In a batch: `path` is not below the tenant.',
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
    cause: 'A list in the request is too long, such as 101 operations in a batch.',
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
  upload_expired: {
    status: 410,
    cause: 'The upload was not finished in time (`TILDE_FILE_ORPHANS`).',
    remedy: 'Start a new upload.',
  },
  unsupported_version: {
    status: 412,
    cause: 'The request names another version of the protocol of resumable uploads, or none.',
    remedy: 'Send `Tus-Resumable: 1.0.0`.',
  },
  checksum_mismatch: {
    status: 460,
    cause: 'The bytes of a part do not match its `Upload-Checksum`; they were dropped.',
    remedy: 'Send the part again from the same offset.',
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
    cause: '`Range` asks for bytes that the export or the file does not have.',
    remedy: '`Content-Range` tells the size. Ask for a part of it.',
  },
  header_too_large: {
    status: 431,
    cause: 'The headers of the request are too large.',
    remedy: 'Send fewer or shorter headers. Send a long filter in a batch.',
  },

  // Faults in a question about entities.
  invalid_limit: {
    status: 400,
    cause: '`limit` is not a whole number, or is outside its range.',
    remedy: 'Use 1 to 100 for lists and 1 to 1000 for events. Follow `cursor` for more.',
  },
  invalid_offset: {
    status: 400,
    cause: '`offset` is not a whole number from 0.',
    remedy: 'Correct it, or page with `cursor`.',
  },
  invalid_filter: {
    status: 400,
    cause: 'The filter is not JSON, has an unknown operator or a wrong operand, or is too large.',
    remedy: '`field` names the part, `supported` the possible operators.',
  },
  invalid_sort: {
    status: 400,
    cause: '`sort` names no field of the type, follows a relation, or has more than 8 keys.',
    remedy: 'Sort by fields of the type itself, such as `sort=stage,-value`.',
  },
  invalid_include: {
    status: 400,
    cause: '`include` names something that is not a relation, or goes deeper than 3 levels.',
    remedy: 'The message lists the relations of the type.',
  },
  invalid_fields: {
    status: 400,
    cause: '`fields` is not a list of field names.',
    remedy: 'Write names with commas: `fields=name,email`.',
  },
  invalid_group: {
    status: 400,
    cause:
      '`group`, `sum`, `avg`, `min` or `max` of an aggregation names something that cannot be grouped or measured.',
    remedy: 'Name at most 10 fields each. Group a time by `:hour`, `:day`, `:week`, `:month`, `:quarter` or `:year`.',
  },
  invalid_as_of: {
    status: 400,
    cause: '`asOf` is not a time, a relative time or a `seq`.',
    remedy: 'Use ISO 8601, `now`, `today`, `7d ago`, or the `seq` of an event.',
  },
  invalid_cursor: {
    status: 400,
    cause: 'The cursor is damaged, or comes from a list with another filter or sort.',
    remedy: 'Send it with the same parameters as the page before, or start again.',
  },
  invalid_since: {
    status: 400,
    cause: '`since` is not a time.',
    remedy: 'Use ISO 8601, `now`, `today` or `7d ago`.',
  },
  over_budget: {
    status: 422,
    cause: 'The request needs more time, rows or bytes than it may use. `limit` says which.',
    remedy: 'Filter by an indexed field, ask for less, or use an export. The operator can raise the setting.',
  },

  // Reasons why a write changes nothing.
  invalid_operation: {
    status: 400,
    cause: 'An operation of a batch or of a changeset is not possible there.',
    remedy: 'The message names the operation and what it may be.',
  },
  invalid_ref: {
    status: 400,
    cause: 'A reference in a batch names an operation that does not exist or that comes later.',
    remedy: 'Refer only to operations before this one, by their `id`.',
  },
  invalid_version: {
    status: 400,
    cause: 'A version number is not a whole number from 1, or the entity has no such version.',
    remedy: 'Read `GET …/:type/:id/history` for the versions.',
  },
  not_found: {
    status: 404,
    cause: 'There is no such entity, or it is deleted, or the key may not see it.',
    remedy: 'Check the id. A deleted entity can be read with `asOf` and brought back with `restore`.',
  },
  unknown_type: {
    status: 404,
    cause: 'The tenant has no type of this name.',
    remedy: 'The message names the nearest types. `GET …/schema` lists all of them.',
  },
  unknown_verb: {
    status: 404,
    cause: 'The type has no verb of this name.',
    remedy: 'The message names the verbs of the type.',
  },
  conflict: {
    status: 409,
    cause: 'A unique value is taken, a changeset conflicts with later changes, or a thing exists already.',
    remedy: '`field` or `conflicts` names it. Choose another value, or read the entity and decide.',
  },
  invalid_transition: {
    status: 409,
    cause: 'The verb is not possible in the present state, or a guarded state was changed without a verb.',
    remedy: 'The answer names the state, and `verbs` lists the verbs that lead there.',
  },
  in_flight: {
    status: 409,
    cause: 'A request with the same `Idempotency-Key` is still running.',
    remedy: 'Wait, then send it again to get its answer.',
  },
  version_mismatch: {
    status: 412,
    cause: 'The entity has another version than `If-Match` says: another client changed it.',
    remedy: 'Read the entity again and retry with its new `ETag`.',
  },
  validation_error: {
    status: 422,
    cause: 'Fields are missing, of the wrong kind, or refer to an entity that does not exist.',
    remedy: '`details` lists every field with a message, up to 100.',
  },
  invalid_schema: {
    status: 422,
    cause: 'The declaration of a type has faults, or stored entities do not fit it.',
    remedy: '`details` lists every fault.',
  },
  rejected: {
    status: 422,
    cause: 'A BEFORE hook refused the verb. Nothing was written.',
    remedy: 'The message is the one of the hook.',
  },
  idempotency_mismatch: {
    status: 422,
    cause: 'The `Idempotency-Key` was used with another body.',
    remedy: 'Use a new key for a new request.',
  },
  batch_failed: {
    status: 422,
    cause: 'An operation of an atomic batch failed, so nothing was written.',
    remedy: '`results` shows which operation failed and why.',
  },
  dependency_failed: {
    status: 424,
    cause: 'In a batch: the operation that this one refers to failed.',
    remedy: 'Correct the other operation.',
  },

  // Reasons why a sender is refused.
  unauthorized: {
    status: 401,
    cause: 'The key is missing, unknown, revoked or expired, or the session has ended.',
    remedy: 'Send `Authorization: Bearer <key>` with an active key, or sign in again.',
  },
  forbidden: {
    status: 403,
    cause:
      'The key belongs to another tenant, its scopes do not cover the request, or its row filter excludes the entity.',
    remedy: 'The message names the scope that is needed.',
  },
  rate_limited: {
    status: 429,
    cause: 'The key, the account or the address has sent too many requests, or has too many at the same time.',
    remedy: 'Wait as long as `Retry-After` says.',
  },

  // Ends of code that a sender had run.
  script_error: {
    status: 422,
    cause: 'Code in `do`, in a hook or in a workflow threw an error, or cannot be parsed.',
    remedy: 'The message has the error and the line.',
  },
  script_timeout: {
    status: 422,
    cause: 'The code ran longer than its limit (10 s in `do`).',
    remedy: 'Do less in one call.',
  },
  script_memory: {
    status: 422,
    cause: 'The code used more memory than its limit (64 MiB in `do`).',
    remedy: 'Read in pages and keep less.',
  },
  script_operations: {
    status: 422,
    cause: 'The code called the tenant more often than its limit (1,000 times in `do`).',
    remedy: 'Use filters and aggregations instead of loops.',
  },
  script_result: {
    status: 422,
    cause: 'The result of the code is larger than 1 MiB, or is not JSON.',
    remedy: 'Return less, or plain values.',
  },

  // States of the service or of a tenant.
  unknown_tenant: {
    status: 404,
    cause: 'An operator request names a tenant that does not exist.',
    remedy: '`tilde tenants list` shows the tenants.',
  },
  internal: {
    status: 500,
    cause: 'A fault of the service.',
    remedy: 'Report it with the `requestId`, which the log has too.',
  },
  not_supported: {
    status: 501,
    cause: 'This host cannot do it: for example passwords on Durable Objects.',
    remedy: 'The message names the alternative.',
  },
  layout_too_new: {
    status: 503,
    cause: 'A newer version of the service wrote the file of the tenant.',
    remedy: 'Run that version or a later one.',
  },
  unavailable: {
    status: 503,
    cause: 'The tenant cannot be opened or written: a full disk, a damaged file, or the service is stopping.',
    remedy: 'The operator reads the log and `tilde doctor`.',
  },
  busy: {
    status: 503,
    cause: 'The tenant has too many requests at the same time, or the memory for bodies is full.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
  over_quota: {
    status: 507,
    cause: 'The tenant has reached the space that the operator allows (`TILDE_TENANT_LIMIT`).',
    remedy: 'Delete or erase what is not needed, or ask the operator for more. Reading continues.',
  },
  quarantined: {
    status: 503,
    cause: 'The thread of the tenant died twice within a minute, so the tenant is closed for ten minutes.',
    remedy: 'The operator reads the log, then sends `POST /operator/tenants/:tenant/release`.',
  },
  restoring: {
    status: 503,
    cause: 'The tenant is being restored, forked or deleted.',
    remedy: 'Wait until the restore is complete.',
  },
}
