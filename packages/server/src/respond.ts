import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from './http.ts'
import { json, type Reply, render } from './reply.ts'

/** The status of every code. A code that is not here is a fault of ours. */
const STATUS: { readonly [code: string]: number } = {
  invalid_tenant: 400,
  invalid_request: 400,
  invalid_json: 400,
  invalid_body: 400,
  invalid_limit: 400,
  invalid_offset: 400,
  invalid_filter: 400,
  invalid_sort: 400,
  invalid_include: 400,
  invalid_fields: 400,
  invalid_group: 400,
  invalid_as_of: 400,
  invalid_cursor: 400,
  invalid_since: 400,
  invalid_parameter: 400,
  invalid_path: 400,
  invalid_operation: 400,
  invalid_ref: 400,
  invalid_version: 400,
  tenant_required: 400,
  too_deep: 400,
  too_many: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_type: 404,
  unknown_verb: 404,
  unknown_lens: 404,
  unknown_path: 404,
  unknown_tenant: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  conflict: 409,
  invalid_transition: 409,
  in_flight: 409,
  version_mismatch: 412,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_range: 416,
  validation_error: 422,
  invalid_schema: 422,
  rejected: 422,
  idempotency_mismatch: 422,
  batch_failed: 422,
  over_budget: 422,
  script_error: 422,
  script_timeout: 422,
  script_memory: 422,
  script_operations: 422,
  script_result: 422,
  dependency_failed: 424,
  rate_limited: 429,
  header_too_large: 431,
  internal: 500,
  not_supported: 501,
  layout_too_new: 503,
  unavailable: 503,
  busy: 503,
  quarantined: 503,
  restoring: 503,
}

export function statusOf(code: string): number {
  return STATUS[code] ?? 500
}

/** The codes of a status, or all codes there are. */
export function codesOf(status?: number): string[] {
  return Object.keys(STATUS).filter((code) => status === undefined || STATUS[code] === status)
}

/** The body of an error, K1. */
export function errorBody(problem: Problem, requestId: string): { [key: string]: unknown } {
  return { error: problem.code, message: problem.message, ...problem.about, requestId }
}

/** The answer to a request that failed. What is not a Problem goes to the log and nowhere else. */
export function refusal(
  reason: unknown,
  requestId: string,
  report: (reason: unknown, requestId: string) => void,
): HttpResponse {
  return render(errorReply(reason, requestId, (fault) => report(fault, requestId)))
}

/** The same as a reply, whose content can still be read as a value. */
export function errorReply(reason: unknown, requestId: string, report: (reason: unknown) => void): Reply {
  const problem = problemOf(reason)
  if (problem.code === 'internal') report(reason)
  return json(statusOf(problem.code), errorBody(problem, requestId), headersOf(problem))
}

/** A Problem for whatever was thrown. */
export function problemOf(reason: unknown): Problem {
  if (reason instanceof Problem) return reason
  const storage = storageProblem(reason)
  return (
    storage ??
    new Problem('internal', 'Something went wrong on our side. The log has the details under this request id.')
  )
}

/** What the disk or the database refuses is said as such: nothing was written. */
function storageProblem(reason: unknown): Problem | null {
  const text = reason instanceof Error ? reason.message : ''
  if (/database or disk is full|disk I\/O error/i.test(text)) {
    return new Problem(
      'unavailable',
      'The disk of this tenant is full, read-only or failing; nothing was written. Mend that, then try again.',
    )
  }
  if (/readonly database|attempt to write a readonly|unable to open database file/i.test(text)) {
    return new Problem('unavailable', 'The file of this tenant cannot be written to; nothing was written.')
  }
  if (/database is locked/i.test(text)) {
    return new Problem('unavailable', 'The file of this tenant is in use by another process of the service.')
  }
  if (/string or blob too big|SQLITE_TOOBIG/i.test(text)) {
    return new Problem('too_large', 'One row of the database would be larger than this host allows. Make it smaller.')
  }
  if (/malformed|file is not a database/i.test(text)) {
    return new Problem(
      'unavailable',
      'The file of this tenant is damaged; it is left as it is. Restore it from a backup.',
    )
  }
  return null
}

function headersOf(problem: Problem): HttpResponse['headers'] {
  const { about } = problem
  if (problem.code === 'unauthorized') return { 'www-authenticate': 'Bearer' }
  // An empty list is one, too: nothing is possible there.
  if (problem.code === 'method_not_allowed') return { allow: String(about.allow ?? '') }
  if (problem.code === 'invalid_range') return { 'content-range': `bytes */${about.size}` }
  if (statusOf(problem.code) === 503) return { 'retry-after': String(about.retryAfter ?? 1) }
  if (problem.code === 'rate_limited') return { 'retry-after': String(about.retryAfter ?? 1) }
  return {}
}
