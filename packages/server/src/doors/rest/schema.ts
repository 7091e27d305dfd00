import { isPlainObject, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import type { Call, Route } from '../call.ts'
import { empty, json, type Reply } from '../reply.ts'

const ADMIN = { action: 'admin', on: 'area', area: 'platform' } as const

/** The tenant's types: to read, to add to, to take back. */
export const schemaRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/schema',
    needs: 'key',
    mode: 'read',
    summary: 'List the types of the lens',
    handle: all,
  },
  { method: 'GET', path: '/schema/:type', needs: 'key', mode: 'read', summary: 'Read a type', handle: one },
  {
    method: 'PUT',
    path: '/schema/:type',
    needs: ADMIN,
    mode: 'write',
    summary: 'Declare a type, or add to one',
    handle: put,
  },
  {
    method: 'POST',
    path: '/schema/:type/rename',
    needs: ADMIN,
    mode: 'write',
    summary: 'Rename one of your fields, in the type and in all entities',
    handle: rename,
  },
  {
    method: 'POST',
    path: '/schema/:type/retype',
    needs: ADMIN,
    mode: 'write',
    summary: 'Change the type of a field, and convert the stored values',
    handle: retype,
  },
  {
    method: 'DELETE',
    path: '/schema/:type',
    needs: ADMIN,
    mode: 'write',
    summary: 'Delete your own type',
    handle: drop,
  },
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

function put({ read, params, body }: Call, write: TenantWriter): Reply {
  const name = read.nouns.get(params.type!)?.name ?? params.type!
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(
      'invalid_schema',
      'Send the type as a JSON object in the noun notation, such as {"name": "string!"}.',
      { type: name },
    )
  }
  const { event } = write.putType(name, body as JsonObject)
  return json(event?.verb === 'create' ? 201 : 200, describe(read.noun(name)))
}

function rename({ read, params, body }: Call, write: TenantWriter): Reply {
  const noun = read.noun(params.type!)
  read.demandArea('admin', 'platform')
  const migrated = write.renameField(noun, textIn(body, 'from'), textIn(body, 'to'))
  return json(200, { migrated, type: describe(read.noun(noun.name)) })
}

function retype({ read, params, body }: Call, write: TenantWriter): Reply {
  const noun = read.noun(params.type!)
  read.demandArea('admin', 'platform')
  const migrated = write.retypeField(noun, textIn(body, 'field'), textIn(body, 'to'))
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

function drop({ read, params }: Call, write: TenantWriter): Reply {
  write.dropType(read.noun(params.type!).name)
  return empty(204)
}
