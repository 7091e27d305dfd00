import { Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import type { Call, Route } from '../call.ts'
import { empty, json, type Reply } from '../reply.ts'

const ADMIN = { action: 'admin', on: 'area', area: 'identity' } as const

/** The roles of a tenant's people. */
export const roleRoutes: readonly Route[] = [
  { method: 'GET', path: '/schema/roles', needs: 'key', mode: 'read', summary: 'List the roles', handle: all },
  { method: 'GET', path: '/schema/roles/:name', needs: 'key', mode: 'read', summary: 'Read a role', handle: one },
  {
    method: 'PUT',
    path: '/schema/roles/:name',
    needs: ADMIN,
    mode: 'write',
    summary: 'Define a role, or change it',
    handle: put,
  },
  {
    method: 'DELETE',
    path: '/schema/roles/:name',
    needs: ADMIN,
    mode: 'write',
    summary: 'Delete your own role',
    handle: drop,
  },
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

function put({ params, body }: Call, write: TenantWriter): Reply {
  const { role, isNew } = write.putRole(params.name!, body)
  return json(isNew ? 201 : 200, role)
}

function drop({ params }: Call, write: TenantWriter): Reply {
  write.dropRole(params.name!)
  return empty(204)
}
