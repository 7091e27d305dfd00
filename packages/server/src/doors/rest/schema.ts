import { isPlainObject, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Steps, TenantWriter } from '@tildebase/tenant'
import type { Call, Route } from '../call.ts'
import { answer, DELETED, jsonBody, TASK } from '../describe/description.ts'
import { ANY_OBJECT, either, ref, TEXT, WHOLE, whole } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, writeRoute } from '../route.ts'

/** What a migration answers, or what it would do. */
const MIGRATED = { 200: answer(either(whole({ migrated: WHOLE, type: ANY_OBJECT }), ref('DryRun'))), ...TASK }

/** The tenant's types: to read, to add to, to take back. */
export const schemaRoutes: readonly Route[] = [
  readRoute('GET /schema', {
    summary: 'List the types of the lens',
    needs: 'any valid key',
    answers: { 200: answer(ref('Types')) },
    handle: all,
  }),
  readRoute('GET /schema/:type', {
    summary: 'Read a type',
    needs: 'any valid key',
    answers: { 200: answer(ANY_OBJECT) },
    handle: one,
  }),
  writeRoute('PUT /schema/:type', {
    summary: 'Declare a type, or add to one',
    needs: 'admin:platform',
    body: jsonBody(
      ANY_OBJECT,
      { name: 'string!', colour: 'Red | Green = Red', paint: { args: ['colour'] } },
      'The type in the noun notation: strings are fields, objects are verbs.',
    ),
    answers: { 200: answer(ANY_OBJECT), 201: answer(ANY_OBJECT, { description: 'It was created.' }), ...TASK },
    handle: put,
  }),
  writeRoute('POST /schema/:type/rename', {
    summary: 'Rename one of your fields, in the type and in all entities',
    needs: 'admin:platform',
    params: ['dryRun'],
    body: jsonBody(
      whole({ from: TEXT, to: TEXT }),
      { from: 'plate', to: 'registration' },
      'The present name of the field, and the new one.',
    ),
    answers: MIGRATED,
    taskResult: ['migrated'],
    handle: rename,
  }),
  writeRoute('POST /schema/:type/retype', {
    summary: 'Change the type of a field, and convert the stored values',
    needs: 'admin:platform',
    params: ['dryRun'],
    body: jsonBody(
      whole({ field: TEXT, to: TEXT }),
      { field: 'size', to: 'number' },
      'The field, and its new notation.',
    ),
    answers: MIGRATED,
    taskResult: ['migrated'],
    handle: retype,
  }),
  writeRoute('DELETE /schema/:type', {
    summary: 'Delete your own type',
    needs: 'admin:platform',
    answers: { ...DELETED, ...TASK },
    handle: drop,
  }),
]

/** A type as data: the notation it was declared with, and what that means. */
export function describe(noun: Noun): JsonObject {
  const { name, domain, path, strict, stateField, guarded, start, unique, notation, fields, verbs, timers } = noun
  return {
    name,
    domain,
    path,
    strict,
    stateField,
    guarded,
    start,
    unique,
    notation,
    fields,
    verbs,
    timers,
  } as unknown as JsonObject
}

function all(call: Call): Reply {
  const { domains } = call.lens
  const nouns = call.read.nouns.all.filter(
    (noun) => domains === null || domains.has(noun.domain) || noun.domain === 'custom',
  )
  return json(200, { types: nouns.map(describe), total: nouns.length })
}

function one(call: Call): Reply {
  const noun = call.read.noun(call.params.type!)
  return json(200, { ...describe(noun), own: call.read.ownNotation(noun) })
}

function* put({ read, params, body }: Call, write: TenantWriter): Steps<Reply> {
  const name = read.nouns.get(params.type!)?.name ?? params.type!
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(
      'invalid_schema',
      'Send the type as a JSON object in the noun notation, such as {"name": "string!"}.',
      { type: name },
    )
  }
  const { event } = yield* write.putType(name, body as JsonObject)
  return json(event?.verb === 'create' ? 201 : 200, describe(read.noun(name)))
}

function* rename({ read, params, body }: Call, write: TenantWriter): Steps<Reply> {
  const noun = read.noun(params.type!)
  read.demandArea('admin', 'platform')
  const migrated = yield* write.renameField(noun, textIn(body, 'from'), textIn(body, 'to'))
  return json(200, { migrated, type: describe(read.noun(noun.name)) })
}

function* retype({ read, params, body }: Call, write: TenantWriter): Steps<Reply> {
  const noun = read.noun(params.type!)
  read.demandArea('admin', 'platform')
  const migrated = yield* write.retypeField(noun, textIn(body, 'field'), textIn(body, 'to'))
  return json(200, { migrated, type: describe(read.noun(noun.name)) })
}

function textIn(body: unknown, field: string): string {
  const value = isPlainObject(body) ? body[field] : undefined
  if (typeof value === 'string' && value.length > 0) return value
  throw new Problem('validation_error', `The body needs ${field}, a string.`, {
    field,
    details: [{ field, message: 'is required, a string' }],
  })
}

function* drop({ read, params }: Call, write: TenantWriter): Steps<Reply> {
  yield* write.dropType(read.noun(params.type!).name)
  return empty(204)
}
