import { article, type Noun, Problem } from '@tildebase/nouns'
import type { CountedFunnel, Operation, Page, Steps, TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, type Route } from '../call.ts'
import { type Answers, answer, DRY_RUN, jsonBody, PROPOSE, PROPOSED } from '../describe/description.ts'
import { exampleOf, patchExampleOf } from '../describe/examples.ts'
import { either, listOf, ref, TEXT, WHOLE, whole } from '../describe/schema.ts'
import { verbBody, verbDescription } from '../describe/verbs.ts'
import { routeOfContent, withForm } from '../files/routes.ts'
import { type MaybePromise, whenReady } from '../http.ts'
import {
  type Content,
  contentReply,
  createdReply,
  empty,
  entityReply,
  etag,
  ifMatch,
  isKnown,
  JSON_ONLY,
  json,
  pageContent,
  type Reply,
} from '../reply.ts'
import { readRoute, writeRoute } from '../route.ts'
import { scheduler } from '../turns.ts'
import { contentFor } from './entity-content.ts'
import { liveReply, wantsLive } from './live.ts'
import { liveList } from './live-list.ts'
import { hex } from './manifest.ts'
import { isMetricName, metricByName } from './metrics.ts'
import { findQuery, getQuery, isField } from './params.ts'
import { checkWorkflowCode } from './workflow-code.ts'

/** From so many bytes on, the text of a page is written in turns with others, in pieces of so many. */
const LARGE = 262_144
const PIECE = 65_536

/** The entity after a change, or what the change would do. */
const changed = (name: string): Answers => ({
  200: answer(either(ref(name), ref('DryRun')), {
    description: 'The entity after the verb, or the result of a dry run.',
    headers: ['ETag'],
  }),
  ...PROPOSED,
})

/** The answers to a create. Keys and webhooks show their secret once. */
export const CREATED = ({ name }: Noun): Answers => ({
  201: answer(
    name === 'ApiKey' || name === 'Webhook'
      ? { allOf: [ref(name)], type: 'object', properties: { secret: TEXT } }
      : ref(name),
    { description: 'The entity as it was created.', headers: ['ETag', 'Location'] },
  ),
  ...DRY_RUN,
  ...PROPOSED,
})

const UPDATE = {
  summary: 'Update an entity',
  description: ({ name }: Noun) =>
    `Merges the given fields into ${article(name)} and emits ${name}.updated. null clears a field; fields that are left out stay as they are.`,
  needs: 'write on the type',
  has: ({ verbs }: Noun) => Object.hasOwn(verbs, 'update'),
  params: ['ifMatch', 'dryRun', ...PROPOSE],
  body: (noun: Noun) =>
    jsonBody(ref(`${noun.name}Patch`), patchExampleOf(noun), 'The fields to change; null clears one.'),
  answers: ({ name }: Noun) => changed(name),
} as const

/** Lists the entities of a type. */
export const LIST = readRoute('GET /:type', {
  summary: 'List entities',
  description: ({ name }) =>
    `Returns a page of ${name} entities: those that match filter, or all, newest first unless sort is given. Any field is also a parameter: stage=Lead. With Accept: text/event-stream the list is live.`,
  needs: 'read on the type',
  params: [
    'filter',
    'sort',
    'limit',
    'offset',
    'cursor',
    'total',
    'asOf',
    'include',
    'fields',
    'explain',
    'lastEventId',
  ],
  answers: ({ name }) => ({
    200: answer(listOf(ref(name)), { description: 'A page of entities.' }),
  }),
  handle: list,
})

/** Counts the entities of a type. */
export const COUNT = readRoute('GET /:type/count', {
  summary: 'Count entities',
  description: ({ name }) => `Counts the ${name} entities that match filter.`,
  needs: 'read on the type',
  params: ['filter', 'asOf'],
  answers: { 200: answer(whole({ count: WHOLE }), { description: 'The number of entities.' }) },
  handle: countAll,
})

/** Reads one entity. */
export const GET = readRoute('GET /:type/:id', {
  summary: 'Read an entity',
  description: ({ name }) => `Returns ${article(name)}, or 404. With asOf, as it was at that time.`,
  needs: 'read on the type',
  params: ['include', 'fields', 'asOf', 'ifNoneMatch'],
  answers: ({ name }) => ({
    // A Metric is read by its id or by its name, and some names are built in.
    200: answer(name === 'Metric' ? either(ref('Metric'), ref('BuiltInMetric')) : ref(name), {
      description: 'The entity.',
      headers: ['ETag'],
    }),
    304: { description: 'The entity still has the known version.' },
  }),
  handle: read,
})

/** Create, list, read, update, delete and every verb, for every type. */
export const entityRoutes: readonly Route[] = [
  LIST,
  writeRoute('POST /:type', {
    summary: 'Create an entity',
    description: ({ name }) =>
      `Creates ${article(name)} and emits ${name}.created. All faults of the fields are reported at once.`,
    needs: 'write on the type',
    params: ['dryRun', ...PROPOSE],
    body: (noun) =>
      withForm(noun, jsonBody(ref(`${noun.name}Draft`), exampleOf(noun), `The fields of the new ${noun.name}.`)),
    answers: CREATED,
    instead: (request, { type }, nouns) => routeOfContent(request, nouns.get(type!), undefined),
    prepare: checkWorkflowCode,
    handle: create,
  }),
  COUNT,
  GET,
  writeRoute('PUT /:type/:id', { ...UPDATE, prepare: checkWorkflowCode, handle: update }),
  writeRoute('PATCH /:type/:id', { ...UPDATE, prepare: checkWorkflowCode, handle: update }),
  writeRoute('DELETE /:type/:id', {
    summary: 'Delete an entity',
    description: ({ name }) =>
      `Deletes ${article(name)} and emits ${name}.deleted. It can still be read with asOf, and restored.`,
    needs: 'write on the type',
    has: ({ verbs }) => Object.hasOwn(verbs, 'delete'),
    params: ['ifMatch', 'dryRun', ...PROPOSE],
    answers: { 204: { description: 'It is deleted.' }, ...DRY_RUN, ...PROPOSED },
    handle: remove,
  }),
  writeRoute('POST /:type/:id/:verb', {
    summary: 'Run a verb',
    description: verbDescription,
    needs: 'write on the type',
    params: ['ifMatch', 'dryRun', 'cascade', ...PROPOSE],
    body: verbBody,
    answers: ({ name }, verb) =>
      verb.name === 'delete' ? { 204: { description: 'It is deleted.' }, ...DRY_RUN, ...PROPOSED } : changed(name),
    prepare: countedFunnel,
    instead: (request, { type, verb }, nouns) => routeOfContent(request, nouns.get(type!), verb),
    handle: run,
  }),
]

/** A page of a list, or the list live when the call accepts a stream of events. */
export function list(call: Call): MaybePromise<Reply> {
  const noun = call.read.noun(call.params.type!)
  const special = specialList(call, noun)
  return special ?? whenReady(call.read.list(queryFor(call, noun)), (page) => anyReply(call, noun, page))
}

function anyReply(call: Call, noun: Noun, page: Page): Reply {
  const size = sizeOf(page)
  return size > LARGE && call.read.mayYield ? largeReply(call, noun, page, size) : pageReply(call, noun, page)
}

/** About how many bytes the text of a page has. */
function sizeOf({ results }: Page): number {
  return results.reduce((sum, { data, size }) => sum + (size ?? data.length), 0)
}

/** Writes a large page, whose text takes long to write, piece by piece as its reader takes it. */
function largeReply(call: Call, noun: Noun, page: Page, holds: number): Reply {
  const content = pageContent(page, contentFor(call, noun))
  return { ...contentReply(200, content, JSON_ONLY), stream: inPieces(call, content.pieces()), holds }
}

async function* inPieces({ tenant }: Call, texts: Iterator<string>): AsyncGenerator<string> {
  for (let piece = ''; ; ) {
    piece = await scheduler.later(tenant.slug, () => nextPiece(texts))
    if (piece === '') return
    yield piece
  }
}

function nextPiece(texts: Iterator<string>): string {
  let piece = ''
  for (let text = texts.next(); !text.done; text = texts.next()) {
    piece += text.value
    if (piece.length >= PIECE) break
  }
  return piece
}

function specialList(call: Call, noun: Noun): Reply | null {
  if (wantsLive(call)) return liveReply(call, liveList(call, noun, findQuery(call, noun)))
  if (isField(noun, 'explain') || !flagParam(call.query, 'explain')) return null
  return json(200, call.read.explain(findQuery(call, noun)))
}

function pageReply(call: Call, noun: Noun, page: Page): Reply {
  return contentReply(200, pageContent(page, contentFor(call, noun)))
}

/** The query of a list request. Without a cursor it is read once: most lists are asked for again and again. */
function queryFor(call: Call, noun: Noun) {
  const { query, lens, read } = call
  return read.query(noun, JSON.stringify([lens.industry, ...query]), () => findQuery(call, noun))
}

export function countAll(call: Call): MaybePromise<Reply> {
  const noun = call.read.noun(call.params.type!)
  return whenReady(call.read.count(findQuery(call, noun)), (count) => json(200, { count }))
}

export function read(call: Call): Reply {
  const noun = call.read.noun(call.params.type!)
  if (isMetricName(noun, call.params.id!)) return metricByName(call)
  const entity = call.read.get(noun, call.params.id!, getQuery(call, noun))
  const content = contentFor(call, noun)(entity)
  if (entity.extra === undefined) return versionReply(call, etag(entity), content)
  // What is embedded changes without the version of the entity.
  const text = content.text()
  return versionReply(call, etag(entity, sha256(call, text)), { ...content, text: () => text })
}

function versionReply({ request }: Call, tag: string, content: Content): Reply {
  return isKnown(request, tag) ? empty(304, { etag: tag }) : contentReply(200, content, { etag: tag })
}

function sha256({ read }: Call, text: string): string {
  const hasher = read.hasher()
  hasher.update(text)
  return hex(hasher.digest())
}

function create(call: Call, write: TenantWriter): Reply {
  return createdReply(write.run(operation(call, 'create')), call.context)
}

function update(call: Call, write: TenantWriter): Reply {
  demandMethod(call, 'update')
  return entityReply(write.run(operation(call, 'update')), call.context)
}

function remove(call: Call, write: TenantWriter): Reply {
  demandMethod(call, 'delete')
  write.run(operation(call, 'delete'))
  return empty(204)
}

function* run(call: Call, write: TenantWriter): Steps<Reply> {
  const verb = call.params.verb!
  if (verb === 'create') {
    const { name, verbs } = call.read.noun(call.params.type!)
    throw new Problem('unknown_verb', `create needs no id: POST the entity to /${name}.`, {
      type: name,
      verbs: Object.keys(verbs).filter((other) => other !== verb),
    })
  }
  const cascade = flagParam(call.query, 'cascade')
  const result = yield* write.runInSteps({ ...operation(call, verb), ...(cascade && { cascade }) })
  return verb === 'delete' ? empty(204) : entityReply(result, call.context)
}

/** An analysis of a funnel reads many events: they are counted before the commit, in turns with others. */
function countedFunnel(call: Call): Promise<Call> | null {
  const { read, params, body } = call
  if (params.verb !== 'analyze' || read.nouns.get(params.type!)?.name !== 'Funnel') return null
  return read.countFunnel(params.id!, body).then((prepared) => ({ ...call, prepared }))
}

/** Refuses a method whose verb the type does not have, and says which ones are possible. */
function demandMethod({ read, params }: Call, verb: 'update' | 'delete'): void {
  const { name, verbs } = read.noun(params.type!)
  if (Object.hasOwn(verbs, verb)) return
  const methods = ['GET', Object.hasOwn(verbs, 'update') && 'PUT, PATCH', Object.hasOwn(verbs, 'delete') && 'DELETE']
  const allow = methods.filter((method) => method !== false).join(', ')
  throw new Problem('method_not_allowed', `${name} has no verb ${verb}; use ${allow}.`, {
    type: name,
    allow,
  })
}

function operation(call: Call, verb: string): Operation {
  const counted = call.prepared as CountedFunnel | undefined
  return {
    type: call.params.type!,
    verb,
    id: call.params.id,
    data: call.body,
    ifVersions: ifMatch(call.request),
    counted,
  }
}
