import { DOCUMENTATION, Problem } from '@tildebase/nouns'
import { ERROR_CODES } from './error-codes.ts'
import type { HttpResponse } from './http.ts'
import { json, type Reply, render } from './reply.ts'

export function statusOf(code: string): number {
  return ERROR_CODES[code]?.status ?? 500
}

/** The codes of a status, or all codes there are. */
export function codesOf(status?: number): string[] {
  return Object.keys(ERROR_CODES).filter((code) => status === undefined || ERROR_CODES[code]?.status === status)
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
  return json(statusOf(problem.code), errorBody(problem, requestId), { link: HELP, ...headersOf(problem) })
}

/** Where people read what the code of an error means. */
const HELP = `<${DOCUMENTATION}/reference/errors.html>; rel="help"`

/** A Problem for whatever was thrown. */
export function problemOf(reason: unknown): Problem {
  if (reason instanceof Problem) return reason
  const storage = storageProblem(reason)
  return (
    storage ??
    new Problem('internal', 'An internal error occurred. The server log has the details under this request id.')
  )
}

/** What the disk or the database refuses is said as such: nothing was written. */
function storageProblem(reason: unknown): Problem | null {
  const text = reason instanceof Error ? reason.message : ''
  if (/database or disk is full|disk I\/O error/i.test(text)) {
    return new Problem(
      'unavailable',
      'The disk of this tenant is full, read-only or failing; nothing was written. Repair it, then try again.',
    )
  }
  if (/readonly database|attempt to write a readonly|unable to open database file/i.test(text)) {
    return new Problem('unavailable', 'The file of this tenant cannot be written to; nothing was written.')
  }
  if (/database is not open/i.test(text)) {
    return new Problem('unavailable', 'The service is stopping. This was not written; try again in a moment.', {
      retryAfter: 5,
    })
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
      'The file of this tenant is damaged; it was not changed. Restore it from a backup.',
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
