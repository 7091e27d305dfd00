import { isoOf, Problem } from '@tildebase/nouns'
import {
  codeOf,
  demandHook,
  demandStep,
  dropHook,
  failedHooks,
  HOOK_LIMITS,
  hooksOf,
  noScript,
  putHook,
  type StoredHook,
  stepsOf,
} from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { empty, type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

const ADMIN = { action: 'admin', on: 'area', area: 'platform' } as const
const MOST_FAILURES = 20

/** Code that the tenant runs before and after the verbs of a type. */
export const hookRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/schema/:type/hooks',
    needs: ADMIN,
    mode: 'read',
    summary: 'List the hooks of a type, and the steps there are',
    handle: list,
  },
  {
    method: 'GET',
    path: '/schema/:type/hooks/:name',
    needs: ADMIN,
    mode: 'read',
    summary: 'Read a hook and how it fared',
    handle: read,
  },
  {
    method: 'PUT',
    path: '/schema/:type/hooks/:name',
    needs: ADMIN,
    mode: 'stream',
    summary: 'Store code for a step of a type',
    handle: put,
  },
  {
    method: 'DELETE',
    path: '/schema/:type/hooks/:name',
    needs: ADMIN,
    mode: 'write',
    summary: 'Take a hook away',
    handle: drop,
  },
]

function list(call: Call): HttpResponse {
  const noun = call.tenant.noun(call.params.type!)
  const hooks = hooksOf(call.tenant, noun.name).map((hook) => view(call, hook))
  return json(200, { hooks, total: hooks.length, steps: stepsOf(noun) })
}

function read(call: Call): HttpResponse {
  return json(200, view(call, demandHook(call.tenant, call.tenant.noun(call.params.type!), call.params.name!)))
}

async function put(call: Call): Promise<HttpResponse> {
  const { tenant, commits, grant, body } = call
  const noun = tenant.noun(call.params.type!)
  const step = call.params.name!
  demandStep(noun, step)
  const code = codeOf(body)
  await tryOut(call, code)
  const isNew = await commits.run(() => putHook(tenant, noun, step, code, grant.actor))
  return json(isNew ? 201 : 200, view(call, demandHook(tenant, noun, step)))
}

function drop(call: Call): HttpResponse {
  dropHook(call.tenant, call.tenant.noun(call.params.type!), call.params.name!, call.grant.actor)
  return empty(204)
}

/** Refuses code that is not a function, before anybody's write depends on it. */
async function tryOut({ tenant }: Call, code: string): Promise<void> {
  const { script } = tenant.ports
  if (!script) throw noScript()
  const { result, error } = await script.run({
    ...HOOK_LIMITS,
    code: `typeof (${code}\n)`,
    owner: tenant.slug,
    call: async () => null,
  })
  if (error) throw new Problem(error.code, error.message, { field: 'code' })
  if (result === 'function') return
  throw new Problem('script_error', 'A hook is a function: (entity, $, args) => …', { field: 'code' })
}

function view(call: Call, hook: StoredHook): object {
  const { type, name, code, version } = hook
  const runs = stepsOf(call.tenant.noun(type)).before.includes(name) ? 'before' : 'after'
  const failures = failedHooks(call.tenant.sql, hook.id, MOST_FAILURES).map(({ seq, failures, due, error }) => ({
    seq,
    failures,
    error,
    next: due === null ? null : isoOf(due),
  }))
  return { type, name, runs, code, version, failures }
}
