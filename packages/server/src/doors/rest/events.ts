import { isPattern, Problem, quoted, resolveInstant } from '@tildebase/nouns'
import { entityView, type Patterns, type TenantWriter } from '@tildebase/tenant'
import { entityText, eventText, limitOf, type UnknownField } from '@tildebase/tenant/internal'
import { type Call, flagParam, listParam, type Route, textParam } from '../call.ts'
import { answer, EVENT_STREAM, jsonBody } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, either, listOf, ref, TIME, WHOLE } from '../describe/schema.ts'
import { type MaybePromise, whenReady } from '../http.ts'
import { contentReply, createdReply, type Reply } from '../reply.ts'
import { routeOfType, streamRoute, writeRoute } from '../route.ts'
import { scheduler } from '../turns.ts'
import { AGGREGATE, measure } from './aggregate.ts'
import { COUNT, countAll, GET, LIST, list, read } from './entities.ts'
import { lastSeen, liveReply, reached, Waiter, wantsLive } from './live.ts'
import { filterJson } from './params.ts'
import type { Place } from './route-parameters.ts'
import { refusal, warned, warningHandle } from './unknown-fields.ts'

const DEFAULT_LIMIT = 100
const MOST_EVENTS = 1_000
const LONGEST_WAIT = 60
/** Each event is compared with all of them, for each reader. */
const MOST_PATTERNS = 100
/** Parameters of the change stream; any other one asks about the Event collection. */
const STREAM_PARAMETERS = new Set(['since', 'type', 'limit', 'cursor', 'wait', 'total', 'lastEventId', 'strict'])
const SINCE = query('since', 'Only events after this time.', '2026-01-31T09:00:00Z', TIME)
/** How the Event collection is listed. */
const COLLECTION: Place = { ...LIST, params: [...(LIST.params ?? []), SINCE] }

/** The change stream and the Event resource, which share a path. An Event is never changed: only GET and POST are there. */
export const eventRoutes: readonly Route[] = [
  streamRoute('GET /events', {
    summary: 'Read the change stream, or list Events',
    needs: 'read on the types involved',
    params: [
      SINCE,
      query('type', 'Contact, Contact.created, *.created or Contact.*.', 'Contact.created'),
      query('limit', 'The maximum number.', 100, {
        ...WHOLE,
        minimum: 1,
        maximum: MOST_EVENTS,
        default: DEFAULT_LIMIT,
      }),
      'cursor',
      'total',
      query('wait', 'How many seconds an empty page waits for the next event.', 30, {
        ...WHOLE,
        minimum: 0,
        maximum: LONGEST_WAIT,
        default: 0,
      }),
      'lastEventId',
    ],
    // On the analytics lens, or with parameters of the Event resource, it is the collection of Events.
    answers: { 200: answer(listOf(either(ref('ChangeEvent'), ANY_OBJECT)), { content: EVENT_STREAM }) },
    handle: events,
  }),
  writeRoute('POST /events', {
    summary: 'Create one Event, or up to 1000',
    needs: 'write:analytics',
    body: jsonBody(
      ANY_OBJECT,
      { name: 'signed_up', type: 'track', userId: 'u1' },
      'One Event, or a list of up to 1,000 of which all or none are stored.',
    ),
    answers: { 200: answer(ANY_OBJECT), 201: answer(ANY_OBJECT, { description: 'It was created.' }) },
    handle: asEvents({ method: 'POST', path: '/:type', mode: 'write' }, create),
  }),
  routeOfType(COUNT, 'Event', { needs: 'read:analytics', handle: asEvents(COUNT, countAll) }),
  routeOfType(AGGREGATE, 'Event', { needs: 'read:analytics', handle: asEvents(AGGREGATE, measure) }),
  routeOfType(GET, 'Event', { needs: 'read:analytics', handle: asEvents(GET, read) }),
]

function events(call: Call): MaybePromise<Reply> {
  if (listParam(call.query, 'type').length > MOST_PATTERNS)
    throw new Problem('invalid_parameter', `type may name at most ${MOST_PATTERNS} types and events.`, {
      field: 'type',
      limit: MOST_PATTERNS,
    })
  if (isCollection(call)) {
    const reply = asEvents(COLLECTION, list)(withSince(call))
    return whenReady(reply, (page) => warned(page, likeTypes(call)))
  }
  const patterns = patternsOf(call)
  demandSome(call, patterns)
  const unknown = patterns === null ? [] : call.read.questions.unknownPatterns(patterns)
  if (unknown.length > 0 && flagParam(call.query, 'strict')) throw refusal(null, unknown, 'invalid_parameter')
  if (!wantsLive(call)) return whenReady(page(call, patterns), (reply) => warned(reply, unknown))
  const after = lastSeen(call) ?? startOf(call)
  return warned(liveReply(call, call.tenant.follow(call.grant).changes(patterns, after, call.context)), unknown)
}

/** Refuses a stream of named types if the key may read none of them: it would stay empty. */
function demandSome({ read }: Call, patterns: Patterns): void {
  const nouns = (patterns ?? ['*']).map((pattern) => read.nouns.named(pattern.split('.')[0]!))
  if (nouns.every((noun) => noun !== undefined)) read.demandEventsOf(nouns)
}

/** The Event collection answers on the analytics lens, to its own parameters, and to a `type` that is not a type. */
function isCollection({ lens, query, read: reader }: Call): boolean {
  if (lens.names.includes('analytics')) return true
  if ([...query.keys()].some((name) => !STREAM_PARAMETERS.has(name))) return true
  return !listParam(query, 'type').every((one) => /[.*]/.test(one) || isTypeName(reader, one))
}

/** What `type` names in another way than the change stream takes it: `contacts` is the type of tracked events. */
function likeTypes({ query, read: { nouns } }: Call): readonly UnknownField[] {
  return listParam(query, 'type').flatMap((one) => {
    // Types begin with a capital letter, those of tracked events as a rule do not: `Contct` has a typing error.
    const name = (nouns.get(one) ?? nouns.named(one))?.name ?? (/^[A-Z]/.test(one) ? nouns.nearest(one)[0] : undefined)
    return name === undefined || name === one ? [] : [{ field: quoted(`type: ${one}`), nearest: name }]
  })
}

function isTypeName({ nouns }: Call['read'], text: string): boolean {
  return nouns.get(text)?.name === text
}

/** `since` narrows the collection as it does the stream. */
function withSince(call: Call): Call {
  const since = textParam(call.query, 'since')
  if (!since) return call
  instantOf(call.read, since)
  const after = { timestamp: { $gt: since } }
  const given = call.query.get('filter')
  const filter = given === undefined || given === '' ? after : { $and: [filterJson(given), after] }
  return { ...call, query: new Map([...call.query, ['filter', filter]]) }
}

/** Has a handler of entities answer about Events, and warn of names that are nowhere known. */
function asEvents<Rest extends readonly unknown[], R extends MaybePromise<Reply>>(
  place: Place,
  handle: (call: Call, ...rest: Rest) => R,
): (call: Call, ...rest: Rest) => R {
  const warns = warningHandle(place, handle)
  return (call, ...rest) => warns({ ...call, params: { ...call.params, type: 'Event' } }, ...rest)
}

/** A page of the stream. With `wait` an empty one is held back until something comes, or the time is over. */
async function page(call: Call, patterns: Patterns): Promise<Reply> {
  const { tenant, query, budget, context } = call
  const limit = query.has('limit') ? limitOf(query.get('limit'), MOST_EVENTS) : DEFAULT_LIMIT
  const until = performance.now() + waitOf(call) * 1_000
  const start = startOf(call)
  const follower = tenant.follow(call.grant)
  let reader = call.read
  let after = start
  const waiter = new Waiter(follower)
  const { signal } = call.request
  const leave = () => waiter.stir()
  signal?.addEventListener('abort', leave)
  try {
    for (;;) {
      const changes = await reader.events(patterns, after, limit)
      const left = until - performance.now()
      if (changes.rows.length > 0 || changes.hasMore || left <= 0 || tenant.isResting || signal?.aborted) {
        return streamPage(call, changes, flagParam(query, 'total', true) ? reader.countEvents(patterns, start) : null)
      }
      after = changes.position
      await waiter.wait(left)
      // One event wakes all polls: they read in turns.
      await scheduler.later(tenant.slug, () => {})
      const grant = follower.grant()
      if (grant === null && !tenant.isResting) {
        throw new Problem('unauthorized', 'This key has been revoked or has expired.')
      }
      if (grant !== null) reader = tenant.read(grant, budget, context)
    }
  } finally {
    signal?.removeEventListener('abort', leave)
    waiter.close()
  }
}

function streamPage(call: Call, changes: Awaited<ReturnType<Call['read']['events']>>, total: number | null): Reply {
  const source = { slug: call.tenant.slug, context: call.context }
  const texts = changes.rows.map((row) => eventText(row, source))
  const cursor = String(changes.position)
  const { hasMore } = changes
  return contentReply(200, {
    value: () => ({
      results: texts.map((text) => JSON.parse(text)),
      ...(total !== null && { total }),
      hasMore,
      cursor,
    }),
    text: () =>
      `{"results":[${texts.join(',')}],${total === null ? '' : `"total":${total},`}"hasMore":${hasMore},"cursor":"${cursor}"}`,
  })
}

function create(call: Call, write: TenantWriter): Reply {
  const { body, context } = call
  const make = (data: unknown) => write.run({ type: 'Event', verb: 'create', data })
  if (!Array.isArray(body)) return createdReply(make(body), context)
  if (body.length > MOST_EVENTS) {
    throw new Problem('too_many', `One request may have at most ${MOST_EVENTS} events; this one has ${body.length}.`, {
      limit: MOST_EVENTS,
    })
  }
  const made = body.map((data, index) => placed(index, () => make(data)).entity)
  return contentReply(201, {
    value: () => ({ results: made.map((entity) => entityView(entity, context)) }),
    text: () => `{"results":[${made.map((entity) => entityText(entity, context)).join(',')}]}`,
  })
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
  const patterns = listParam(call.query, 'type')
  if (patterns.length === 0) return null
  const wrong = patterns.find((one) => !isPattern(one) && !isTypeName(call.read, one))
  if (wrong === undefined) return patterns
  throw new Problem(
    'invalid_parameter',
    `${wrong.slice(0, 80)} is not an event: use Contact, Contact.created, *.created or Contact.*.`,
    { field: 'type' },
  )
}

/** The seq after which the stream begins: that of `cursor`, and not before `since`. */
function startOf(call: Call): number {
  const { read: reader, query } = call
  const cursor = textParam(query, 'cursor')
  const since = textParam(query, 'since')
  const after = cursor === undefined || cursor === '' ? 0 : reached(call, cursor, 'cursor')
  if (since === undefined || since === '') return after
  return Math.max(after, reader.seqAt(instantOf(reader, since)))
}

function instantOf(reader: Call['read'], since: string): number {
  const at = resolveInstant(since, reader.now)
  if (at !== null) return at
  throw new Problem(
    'invalid_since',
    'since must be an ISO 8601 time, such as 2026-01-31T12:00:00Z, or now, or 7d ago.',
    {
      field: 'since',
    },
  )
}

/** For how many seconds an empty page may be held back. */
function waitOf(call: Call): number {
  const text = textParam(call.query, 'wait')
  if (text === undefined || text === '') return 0
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= LONGEST_WAIT) return seconds
  throw new Problem('invalid_parameter', `wait must be a whole number of seconds, at most ${LONGEST_WAIT}.`, {
    field: 'wait',
  })
}
