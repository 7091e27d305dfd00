import { Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import type { Call, Route } from '../call.ts'
import { answer, DELETED, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, resultsOf, TEXT } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { unknownInRows, warned } from '../rest/unknown-fields.ts'
import { readRoute, writeRoute } from '../route.ts'

const ROLE = record(
  '',
  { name: TEXT, scopes: TEXT, filter: { type: ['object', 'null'], additionalProperties: true }, builtIn: FLAG },
  ['name', 'scopes', 'builtIn'],
)

/** The roles of a tenant's people. */
export const roleRoutes: readonly Route[] = [
  readRoute('GET /schema/roles', {
    summary: 'List the roles',
    needs: 'any valid key',
    answers: { 200: answer(resultsOf(ROLE)) },
    handle: all,
  }),
  readRoute('GET /schema/roles/:name', {
    summary: 'Read a role',
    needs: 'any valid key',
    answers: { 200: answer(ROLE) },
    handle: one,
  }),
  writeRoute('PUT /schema/roles/:name', {
    summary: 'Define a role, or change it',
    needs: 'admin:identity',
    body: jsonBody(
      record('', { scopes: TEXT, filter: ANY_OBJECT }, ['scopes']),
      { scopes: 'write:crm', filter: { Deal: { owner: '$user.$id' } } },
      'The scopes of the role, and its row filters by type.',
    ),
    answers: { 200: answer(ROLE), 201: answer(ROLE, { description: 'It was created.' }) },
    handle: put,
  }),
  writeRoute('DELETE /schema/roles/:name', {
    summary: 'Delete your own role',
    needs: 'admin:identity',
    answers: DELETED,
    handle: drop,
  }),
]

function all({ read }: Call): Reply {
  const results = read.roles()
  return json(200, { results, total: results.length })
}

function one({ read, params }: Call): Reply {
  const role = read.role(params.name!)
  if (role) return json(200, role)
  throw new Problem('not_found', `There is no role ${params.name}.`)
}

function put({ params, body, read }: Call, write: TenantWriter): Reply {
  const { role, isNew } = write.putRole(params.name!, body)
  return warned(json(isNew ? 201 : 200, role), unknownInRows(read, role.filter))
}

function drop({ params }: Call, write: TenantWriter): Reply {
  write.dropRole(params.name!)
  return empty(204)
}
