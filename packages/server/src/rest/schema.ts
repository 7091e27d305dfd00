import { type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import { dropType, putType } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { empty, type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

const ADMIN = { action: 'admin', on: 'area', area: 'platform' } as const

/** The tenant's types: to read, to add to, to take back. */
export const schemaRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/schema',
    needs: 'key',
    mode: 'read',
    summary: 'List the types that the lens surfaces',
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
    method: 'DELETE',
    path: '/schema/:type',
    needs: ADMIN,
    mode: 'write',
    summary: 'Take back a type of your own',
    handle: drop,
  },
]

/** A type as data: the notation it was declared with, and what that means. */
export function describe(noun: Noun): JsonObject {
  const { name, domain, path, strict, stateField, notation, fields, verbs } = noun
  return { name, domain, path, strict, stateField, notation, fields, verbs } as unknown as JsonObject
}

function all(call: Call): HttpResponse {
  const { domains } = call.lens
  const nouns = call.tenant.nouns.all.filter(
    (noun) => domains === null || domains.has(noun.domain) || noun.domain === 'custom',
  )
  return json(200, { types: nouns.map(describe), total: nouns.length })
}

function one(call: Call): HttpResponse {
  return json(200, describe(call.tenant.noun(call.params.type!)))
}

function put(call: Call): HttpResponse {
  const { tenant, grant, body } = call
  const name = tenant.nouns.get(call.params.type!)?.name ?? call.params.type!
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(
      'invalid_schema',
      'Send the type as a JSON object in the noun notation, such as {"name": "string!"}.',
      { type: name },
    )
  }
  const { event } = putType(tenant, name, body as JsonObject, grant.actor)
  return json(event?.verb === 'create' ? 201 : 200, describe(tenant.noun(name)))
}

function drop(call: Call): HttpResponse {
  dropType(call.tenant, call.tenant.noun(call.params.type!).name, call.grant.actor)
  return empty(204)
}
