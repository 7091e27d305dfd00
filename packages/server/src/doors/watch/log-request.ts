import { type AsOf, isPlainObject, Problem, parseAsOf, parseInstant } from '@tildebase/nouns'
import { OPERATOR, type Tenant } from '@tildebase/tenant'
import { type LogPart, limitOf, type NonLogTables, offsetOf, unknownMembers } from '@tildebase/tenant/internal'
import { parseBody, parseQuery, type Query, textParam } from '../call.ts'
import { Waiter } from '../rest/live.ts'
import { isSlug, slugOf } from '../target.ts'

/** Which part of a tenant's log is asked for. */
export interface LogRequest {
  /** The event that it continues after; 0 for all of it. */
  readonly after: number
  /** For how many milliseconds an answer without events may be held back. */
  readonly waitMs: number
  readonly beside: NonLogTables
  /** The moment that it ends with, or null. */
  readonly asOf: AsOf | null
  /** True when another tenant is made of it. */
  readonly fork?: boolean
}

const LONGEST_WAIT = 60

/** The question of `?after=SEQ&wait=SECONDS&beside=secrets`. */
export function parseLogRequest(text: string): LogRequest {
  const query = parseQuery(text)
  const after = numberParam(query, 'after', 'after must be the seq of an event, a whole number from 0.')
  const told = `wait must be a whole number of seconds, at most ${LONGEST_WAIT}.`
  const wait = numberParam(query, 'wait', told)
  if (wait > LONGEST_WAIT) throw new Problem('invalid_parameter', told, { field: 'wait' })
  const beside = textParam(query, 'beside') ?? 'all'
  if (beside === 'all' || beside === 'secrets') return { after, waitMs: wait * 1_000, beside, asOf: null }
  throw new Problem('invalid_parameter', 'beside must be all or secrets.', { field: 'beside' })
}

/** Whether other slices of a log follow, and how many events it has in all, if the sender says so. */
export interface SliceRequest {
  readonly more: boolean
  readonly of: number | null
}

/** The question of `?more=true&of=EVENTS`. */
export function parseSliceRequest(text: string): SliceRequest {
  const query = parseQuery(text)
  const more = textParam(query, 'more') ?? 'false'
  if (more !== 'true' && more !== 'false')
    throw new Problem('invalid_parameter', 'more is true or false.', { field: 'more' })
  const of = numberParam(query, 'of', 'of is how many events the log has, a whole number.')
  return { more: more === 'true', of: of === 0 ? null : of }
}

/** A page of the tenants by name: it continues after the last one of the page before. */
export interface TenantsRequest {
  readonly after: string
  readonly offset: number
  readonly limit: number
}

const MOST_LISTED = 10_000

/** The question of `?cursor=acme&offset=10&limit=100`. */
export function parseTenantsRequest(text: string): TenantsRequest {
  const query = parseQuery(text)
  const after = textParam(query, 'cursor') ?? ''
  if (after !== '' && !isSlug(after)) throw wrongCursor()
  const limit = query.has('limit') ? limitOf(query.get('limit'), MOST_LISTED) : MOST_LISTED
  return { after, offset: query.has('offset') ? offsetOf(query.get('offset')) : 0, limit }
}

const MOST_RECORDS = 1_000

/** The question of `?cursor=17&limit=100`: a page of what the operator did, newest first. */
export function parseJournalRequest(text: string): { readonly before: number; readonly limit: number } {
  const query = parseQuery(text)
  const cursor = textParam(query, 'cursor') || String(Number.MAX_SAFE_INTEGER)
  if (!/^\d{1,16}$/.test(cursor)) throw wrongCursor()
  return { before: Number(cursor), limit: query.has('limit') ? limitOf(query.get('limit'), MOST_RECORDS) : 100 }
}

function wrongCursor(): Problem {
  return new Problem('invalid_cursor', 'cursor must be the one of the page before.', { field: 'cursor' })
}

/** The members of a body, which names no others: a wrong name could change what is done. */
export function membersOf(body: unknown, known: readonly string[]): { readonly [name: string]: unknown } {
  const [unknown, ...others] = unknownMembers(body, known)
  if (unknown === undefined) return isPlainObject(body) ? body : {}
  const hint = unknown.nearest === null ? '' : `; did you mean ${unknown.nearest}?`
  throw new Problem('invalid_body', `${unknown.field} is not known here${hint}`, {
    field: unknown.field,
    details: [unknown, ...others].map(({ field }) => ({ field, message: 'is not known here' })),
  })
}

/** The slug of a tenant to create: `{"tenant": "acme"}`. */
export function parseCreateRequest(body: Uint8Array | null): string {
  const { tenant } = membersOf(parseBody(body), ['tenant'])
  if (typeof tenant === 'string') return slugOf(tenant)
  throw new Problem('invalid_body', 'Name the new tenant: {"tenant": "acme"}.', { field: 'tenant' })
}

/** What a fork is asked to be: `{"to": "acme-copy", "asOf": "2026-01-31T12:00:00Z"}`. */
export function parseForkRequest(
  body: Uint8Array | null,
  now: number,
): { readonly to: string; readonly asOf: AsOf | null } {
  const { to, asOf = null } = membersOf(parseBody(body), ['to', 'asOf'])
  if (typeof to !== 'string') {
    throw new Problem('invalid_body', 'Name the new tenant: {"to": "acme-copy"}.', { field: 'to' })
  }
  return { to: slugOf(to), asOf: asOf === null ? null : parseAsOf(asOf, now) }
}

/** The question of `?from=acme&asOf=TIME`: which backup a tenant is made of, where the body is none. */
export function parseRestoreRequest(text: string): { readonly from: string | null; readonly asOf: number | null } {
  const query = parseQuery(text)
  const from = textParam(query, 'from')
  const asOf = textParam(query, 'asOf')
  const at = asOf === undefined ? null : parseInstant(asOf)
  if (asOf !== undefined && at === null) {
    throw new Problem('invalid_as_of', 'asOf is an ISO 8601 time, such as 2026-01-31T12:00:00Z.', { field: 'asOf' })
  }
  return { from: from === undefined ? null : slugOf(from), asOf: at }
}

/** The part of a tenant's log that answers a request, once there are events in it or the time is over. */
export async function logPart(
  tenant: Tenant,
  { after, waitMs, beside, asOf, fork = false }: LogRequest,
): Promise<LogPart> {
  const end = performance.now() + waitMs
  const waiter = new Waiter(tenant.follow(OPERATOR))
  try {
    for (
      let left = waitMs;
      left > 0 && tenant.admin.head.seq === after && !tenant.isResting;
      left = end - performance.now()
    )
      await waiter.wait(left)
  } finally {
    waiter.close()
  }
  if (tenant.isClosed)
    throw new Problem('unavailable', 'The tenant was closed during the request. Try again.', { retryAfter: 1 })
  const { seq } = tenant.admin.head
  if (after <= seq) return { after, beside, fork, ...(asOf !== null && { until: tenant.admin.seqOf(asOf) }) }
  const message = `The tenant ${tenant.slug} has ${seq} events: it has no event ${after} to continue after.`
  throw new Problem('conflict', message, { id: tenant.slug, seq })
}

function numberParam(query: Query, name: string, sentence: string): number {
  const text = textParam(query, name) ?? '0'
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Problem('invalid_parameter', sentence, { field: name })
}
