import { isPattern, Problem, resolveInstant } from '@tildebase/nouns'
import {
  changesAfter,
  countAfter,
  demand,
  entityText,
  eventText,
  feedOf,
  frameOf,
  type Grant,
  limitOf,
  type Patterns,
  renewGrant,
  runVerb,
  seqAt,
  visibilityOf,
} from '@tildebase/tenant'
import { type Call, flagParam, textParam } from '../call.ts'
import { type HttpResponse, jsonText } from '../http.ts'
import type { Route } from '../routes.ts'
import { countAll, createdAnswer, list, read } from './entities.ts'
import { type LiveSource, lastSeen, liveAnswer, seqOf, Tail, Waiter, wantsLive } from './live.ts'
import { filterJson } from './params.ts'

const DEFAULT_LIMIT = 100
const MOST_EVENTS = 1_000
const LONGEST_WAIT = 60
/** Parameters of the change stream; any other one asks about the Event collection. */
const STREAM_PARAMETERS = new Set(['since', 'type', 'limit', 'cursor', 'wait', 'total', 'lastEventId'])

/** The change stream and the Event resource, which share a path. An Event is never changed: only GET and POST are there. */
export const eventRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/events',
    needs: { action: 'read', on: 'each' },
    mode: 'stream',
    summary: 'Read the change stream, or list Events',
    handle: events,
  },
  {
    method: 'POST',
    path: '/events',
    needs: { action: 'write', on: 'each' },
    mode: 'write',
    summary: 'Create one Event, or up to 1000 of them',
    handle: create,
  },
  ...['events', 'Event'].flatMap((name): Route[] => [
    {
      method: 'GET',
      path: `/${name}/count`,
      needs: { action: 'read', on: 'each' },
      mode: 'read',
      summary: 'Count Events',
      handle: asEvents(countAll),
    },
    {
      method: 'GET',
      path: `/${name}/:id`,
      needs: { action: 'read', on: 'each' },
      mode: 'read',
      summary: 'Read an Event',
      handle: asEvents(read),
    },
  ]),
]

function events(call: Call): HttpResponse | Promise<HttpResponse> {
  if (isCollection(call)) return asEvents(list)(withSince(call))
  const patterns = patternsOf(call)
  if (!wantsLive(call)) return page(call, patterns)
  return liveAnswer(call, liveChanges(call, patterns, lastSeen(call) ?? startOf(call)))
}

/** The Event collection answers on the analytics lens, to parameters of its own, and to a `type` that is no type. */
function isCollection({ lens, query, tenant }: Call): boolean {
  if (lens.names.includes('analytics')) return true
  if ([...query.keys()].some((name) => !STREAM_PARAMETERS.has(name))) return true
  const type = textParam(query, 'type')
  return !!type && !type.split(',').every((one) => /[.*]/.test(one) || tenant.nouns.get(one)?.name === one)
}

/** `since` narrows the collection as it does the stream. */
function withSince(call: Call): Call {
  const since = textParam(call.query, 'since')
  if (!since) return call
  instantOf(call, since)
  const after = { timestamp: { $gt: since } }
  const given = call.query.get('filter')
  const filter = given === undefined || given === '' ? after : { $and: [filterJson(given), after] }
  return { ...call, query: new Map([...call.query, ['filter', filter]]) }
}

/** Has a handler of entities answer about Events. */
function asEvents(handle: (call: Call) => HttpResponse): (call: Call) => HttpResponse {
  return (call) => {
    demand(call.grant, 'read', call.tenant.noun('Event'))
    return handle({ ...call, params: { ...call.params, type: 'Event' } })
  }
}

/** A page of the stream. With `wait` an empty one is held back until something comes, or the time is over. */
async function page(call: Call, patterns: Patterns): Promise<HttpResponse> {
  const { tenant, query } = call
  const limit = query.has('limit') ? limitOf(query.get('limit'), MOST_EVENTS) : DEFAULT_LIMIT
  const until = tenant.ports.clock.now() + waitOf(call) * 1_000
  const start = startOf(call)
  let after = start
  let grant: Grant | null = call.grant
  const waiter = new Waiter(tenant)
  try {
    for (;;) {
      const { rows, hasMore, position } = changesAfter(tenant, grant, patterns, after, limit)
      const left = until - tenant.ports.clock.now()
      if (rows.length > 0 || hasMore || left <= 0 || tenant.isResting) {
        const total = flagParam(query, 'total', true) ? countAfter(tenant, grant, patterns, start) : null
        const results = rows.map((row) => eventText(row, { slug: tenant.slug, context: call.context })).join(',')
        const counted = total === null ? '' : `"total":${total},`
        return jsonText(200, `{"results":[${results}],${counted}"hasMore":${hasMore},"cursor":"${position}"}`)
      }
      after = position
      await waiter.wait(left)
      grant = renewGrant(tenant, grant)
      if (grant === null) throw new Problem('unauthorized', 'This key has been revoked or has expired.')
    }
  } finally {
    waiter.close()
  }
}

/** The change stream as it goes on. A slow reader is fed from the log, in pieces: nothing piles up for it. */
function liveChanges({ tenant }: Call, patterns: Patterns, start: number): LiveSource {
  return new Tail(tenant, `changes ${JSON.stringify(patterns)}`, start, (after, grant) => {
    const feed = feedOf(tenant)
    const recent = feed.recent(after)?.slice(0, DEFAULT_LIMIT)
    if (recent) {
      const sight = visibilityOf(tenant, grant, patterns)
      const text = recent.map((row) => (sight.sees(row) ? feed.frame(row) : '')).join('')
      return { text, position: recent.at(-1)!.seq }
    }
    const { rows, position } = changesAfter(tenant, grant, patterns, after, DEFAULT_LIMIT)
    return { text: rows.map((row) => frameOf(row, tenant)).join(''), position }
  })
}

function create(call: Call): HttpResponse {
  const { tenant, grant, body, context, correlation } = call
  const make = (data: unknown) => runVerb(tenant, grant, { type: 'Event', verb: 'create', data, correlation })
  if (!Array.isArray(body)) return createdAnswer(make(body), context)
  if (body.length > MOST_EVENTS) {
    throw new Problem('too_many', `One request may bring ${MOST_EVENTS} events; this one has ${body.length}.`, {
      limit: MOST_EVENTS,
    })
  }
  const results = body.map((data, index) => entityText(placed(index, () => make(data)).entity, context))
  return jsonText(201, `{"results":[${results.join(',')}]}`)
}

/** Says which of several events is at fault; none of them is written then. */
function placed<T>(index: number, work: () => T): T {
  try {
    return work()
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    throw new Problem(reason.code, `Event ${index} of the list: ${reason.message}`, { ...reason.about, index })
  }
}

/** The patterns of `type`: names of types, `Contact.created`, `*.created`, `Contact.*`, or several with commas. */
function patternsOf(call: Call): Patterns {
  const text = textParam(call.query, 'type')
  if (text === undefined || text === '') return null
  const patterns = text.split(',').map((one) => one.trim())
  const wrong = patterns.find((one) => !isPattern(one) && call.tenant.nouns.get(one)?.name !== one)
  if (wrong === undefined) return patterns
  throw new Problem(
    'invalid_parameter',
    `${wrong.slice(0, 80)} is not an event: write Contact, Contact.created, *.created or Contact.*.`,
    { field: 'type' },
  )
}

/** The seq after which the stream begins: that of `cursor`, and not before `since`. */
function startOf({ tenant, query }: Call): number {
  const cursor = textParam(query, 'cursor')
  const since = textParam(query, 'since')
  const after = cursor === undefined || cursor === '' ? 0 : seqOf(cursor, 'cursor')
  if (since === undefined || since === '') return after
  return Math.max(after, seqAt(tenant.sql, tenant.head, instantOf({ tenant }, since)))
}

function instantOf({ tenant }: Pick<Call, 'tenant'>, since: string): number {
  const at = resolveInstant(since, tenant.now())
  if (at !== null) return at
  throw new Problem('invalid_since', 'since is an ISO 8601 time, such as 2026-01-31T12:00:00Z, or now, or 7d ago.', {
    field: 'since',
  })
}

/** For how many seconds an empty page may be held back. */
function waitOf(call: Call): number {
  const text = textParam(call.query, 'wait')
  if (text === undefined || text === '') return 0
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= LONGEST_WAIT) return seconds
  throw new Problem('invalid_parameter', `wait is a whole number of seconds, ${LONGEST_WAIT} at most.`, {
    field: 'wait',
  })
}
