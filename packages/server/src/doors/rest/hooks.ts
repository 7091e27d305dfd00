import { isoOf } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { codeOf, demandHook, stepsOf } from '@tildebase/tenant/hooks'
import type { Call, Route } from '../call.ts'
import { empty, json, type Reply } from '../reply.ts'

const ADMIN = { action: 'admin', on: 'area', area: 'platform' } as const

/** Code that the tenant runs before and after the verbs of a type. */
export const hookRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/schema/:type/hooks',
    needs: ADMIN,
    mode: 'read',
    summary: 'List the hooks of a type and its steps',
    handle: list,
  },
  {
    method: 'GET',
    path: '/schema/:type/hooks/:name',
    needs: ADMIN,
    mode: 'read',
    summary: 'Read a hook and its failures',
    handle: read,
  },
  {
    method: 'PUT',
    path: '/schema/:type/hooks/:name',
    needs: ADMIN,
    mode: 'stream',
    uses: 'code',
    summary: 'Store code for a step of a type',
    handle: put,
  },
  {
    method: 'DELETE',
    path: '/schema/:type/hooks/:name',
    needs: ADMIN,
    mode: 'write',
    summary: 'Delete a hook',
    handle: drop,
  },
]

function list({ read, params }: Call): Reply {
  const noun = read.noun(params.type!)
  const hooks = read.reactions.hooks(noun).map(shown)
  return json(200, { hooks, total: hooks.length, steps: stepsOf(noun) })
}

function read({ read: reader, params }: Call): Reply {
  return json(200, shown(reader.reactions.hook(reader.noun(params.type!), params.name!)))
}

async function put(call: Call): Promise<Reply> {
  const { tenant, grant, body, writes, budget, read: reader } = call
  const noun = reader.noun(call.params.type!)
  const step = call.params.name!
  demandHook(grant, noun, step)
  const code = codeOf(body)
  await tenant.checkHookCode(code)
  const isNew = await tenant.write(grant, writes, budget, (write) => write.putHook(noun, step, code))
  return json(isNew ? 201 : 200, shown(reader.reactions.hook(noun, step)))
}

function drop({ read: reader, params }: Call, write: TenantWriter): Reply {
  write.dropHook(reader.noun(params.type!), params.name!)
  return empty(204)
}

function shown(hook: ReturnType<Call['read']['reactions']['hook']>): object {
  const failures = hook.failures.map(({ seq, failures: count, due, error }) => ({
    seq,
    failures: count,
    error,
    next: due === null ? null : isoOf(due),
  }))
  const { suspended, ...rest } = hook
  return { ...rest, ...(suspended && { suspended }), failures }
}
