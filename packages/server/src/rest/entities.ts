import { Problem } from '@tildebase/nouns'
import {
  count,
  demandArea,
  entityText,
  explain,
  find,
  get,
  type Query,
  type RunResult,
  runVerb,
  type Stored,
} from '@tildebase/tenant'
import { type Call, flagParam } from '../call.ts'
import { empty, type HttpResponse, json, jsonText } from '../http.ts'
import type { Route } from '../routes.ts'
import { pageText, textFor } from './entity-text.ts'
import { wantsLive } from './live.ts'
import { liveList } from './live-query.ts'
import { isMetricName, metricByName } from './metrics.ts'
import { findQuery, getQuery, isField, readerFor } from './params.ts'
import { listRequestOf } from './question.ts'

/** Create, list, read, update, delete and every verb, for every type. */
export const entityRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:type',
    needs: { action: 'read', on: 'type' },
    mode: 'read',
    summary: 'List entities',
    handle: list,
  },
  {
    method: 'POST',
    path: '/:type',
    needs: { action: 'write', on: 'type' },
    mode: 'write',
    summary: 'Create an entity',
    handle: create,
  },
  {
    method: 'GET',
    path: '/:type/count',
    needs: { action: 'read', on: 'type' },
    mode: 'read',
    summary: 'Count entities',
    handle: countAll,
  },
  {
    method: 'GET',
    path: '/:type/:id',
    needs: { action: 'read', on: 'type' },
    mode: 'read',
    summary: 'Read an entity',
    handle: read,
  },
  {
    method: 'PUT',
    path: '/:type/:id',
    needs: { action: 'write', on: 'type' },
    mode: 'write',
    summary: 'Update an entity',
    handle: update,
  },
  {
    method: 'PATCH',
    path: '/:type/:id',
    needs: { action: 'write', on: 'type' },
    mode: 'write',
    summary: 'Update an entity',
    handle: update,
  },
  {
    method: 'DELETE',
    path: '/:type/:id',
    needs: { action: 'write', on: 'type' },
    mode: 'write',
    summary: 'Delete an entity',
    handle: remove,
  },
  {
    method: 'POST',
    path: '/:type/:id/:verb',
    needs: { action: 'write', on: 'type' },
    mode: 'write',
    summary: 'Run a verb',
    handle: run,
  },
]

/** A page of a list, or the list live when the call accepts a stream of events. */
export function list(call: Call): HttpResponse {
  const noun = call.tenant.noun(call.params.type!)
  const { query, ready } = listRequestOf(call, noun)
  if (wantsLive(call)) return liveList(call, noun, query)
  if (!isField(noun, 'explain') && flagParam(call.query, 'explain')) return explained(call, query)
  return jsonText(200, pageText(find(readerFor(call), query, ready), textFor(call, noun)))
}

/** How the list would be found, for administrators: it tells what there is beyond a key's own rows. */
function explained(call: Call, query: Query): HttpResponse {
  demandArea(call.grant, 'admin', 'all')
  return json(200, explain(readerFor(call), query))
}

export function countAll(call: Call): HttpResponse {
  const noun = call.tenant.noun(call.params.type!)
  return json(200, { count: count(readerFor(call), findQuery(call, noun)) })
}

export function read(call: Call): HttpResponse {
  const noun = call.tenant.noun(call.params.type!)
  if (isMetricName(noun, call.params.id!)) return metricByName(call)
  const entity = get(readerFor(call), noun.name, call.params.id!, getQuery(call, noun))
  if (!entity)
    throw new Problem('not_found', `There is no ${noun.name} ${call.params.id}.`, {
      type: noun.name,
      id: call.params.id!,
    })
  const tag = etag(entity)
  if (isKnown(call, tag)) return empty(304, { etag: tag })
  return jsonText(200, textFor(call, noun)(entity), { etag: tag })
}

function create(call: Call): HttpResponse {
  return createdAnswer(runVerb(call.tenant, call.grant, operation(call, 'create')), call.context)
}

function update(call: Call): HttpResponse {
  demandMethod(call, 'update')
  return entityAnswer(runVerb(call.tenant, call.grant, operation(call, 'update')), call.context)
}

function remove(call: Call): HttpResponse {
  demandMethod(call, 'delete')
  runVerb(call.tenant, call.grant, operation(call, 'delete'))
  return empty(204)
}

function run(call: Call): HttpResponse {
  const verb = call.params.verb!
  if (verb === 'create') {
    throw new Problem('method_not_allowed', `create makes a new entity: POST it to /${call.params.type}.`)
  }
  const outcome = runVerb(call.tenant, call.grant, operation(call, verb))
  return verb === 'delete' ? empty(204) : entityAnswer(outcome, call.context)
}

/** Refuses a method whose verb the type does not have, and says which ones are possible. */
function demandMethod({ tenant, params }: Call, verb: 'update' | 'delete'): void {
  const { name, verbs } = tenant.noun(params.type!)
  if (Object.hasOwn(verbs, verb)) return
  const methods = ['GET', Object.hasOwn(verbs, 'update') && 'PUT, PATCH', Object.hasOwn(verbs, 'delete') && 'DELETE']
  const allow = methods.filter((method) => method !== false).join(', ')
  throw new Problem('method_not_allowed', `${name} has no verb ${verb}; ${allow} is possible here.`, {
    type: name,
    allow,
  })
}

/** The answer to a creation: 201, where it is, and its secret if it has one. */
export function createdAnswer(outcome: RunResult, context: string): HttpResponse {
  const { entity, secret } = outcome
  const text = entityText(entity, context)
  const body = secret === undefined ? text : `${text.slice(0, -1)},"secret":${JSON.stringify(secret)}}`
  return jsonText(201, body, {
    etag: etag(entity),
    location: `${context.slice(context.lastIndexOf('/~'))}/${entity.type}/${entity.id}`,
  })
}

function entityAnswer({ entity }: RunResult, context: string): HttpResponse {
  return jsonText(200, entityText(entity, context), { etag: etag(entity) })
}

function operation(call: Call, verb: string) {
  return {
    type: call.params.type!,
    verb,
    id: call.params.id,
    data: call.body,
    ifVersions: ifMatch(call),
    correlation: call.correlation,
  }
}

function etag(entity: Stored): string {
  return `"${entity.version}"`
}

/** Whether If-None-Match names the tag. A proxy that compresses makes tags weak: they name the same version. */
export function isKnown({ ask }: Call, tag: string): boolean {
  const named = ask.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return named?.some((one) => one === tag || one === '*') === true
}

/** The versions that If-Match names, as tags or as numbers; `*` is any. One that was never given out matches nothing. */
function ifMatch(call: Call): readonly number[] | undefined {
  const header = call.ask.headers['if-match']?.trim()
  if (header === undefined || header === '*') return undefined
  return header.split(',').flatMap((tag) => {
    const version = /^(?:W\/)?("?)(\d+)\1$/.exec(tag.trim())?.[2]
    return version === undefined ? [] : [Number(version)]
  })
}
