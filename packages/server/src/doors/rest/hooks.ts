import { isoOf } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { codeOf, demandHook, stepsOf } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, DELETED, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, TEXT, whole } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, streamRoute, writeRoute } from '../route.ts'

/** Code that the tenant runs before and after the verbs of a type. */
export const hookRoutes: readonly Route[] = [
  readRoute('GET /schema/:type/hooks', {
    summary: 'List the hooks of a type and its steps',
    needs: 'admin:platform',
    answers: { 200: answer(ANY_OBJECT) },
    handle: list,
  }),
  readRoute('GET /schema/:type/hooks/:name', {
    summary: 'Read a hook and its failures',
    needs: 'admin:platform',
    answers: { 200: answer(ANY_OBJECT) },
    handle: read,
  }),
  streamRoute('PUT /schema/:type/hooks/:name', {
    summary: 'Store code for a step of a type',
    needs: 'admin:platform',
    also: 'write on the type',
    uses: 'code',
    body: jsonBody(
      whole({ code: TEXT }),
      { code: '(entity) => ({ name: entity.name.trim() })' },
      'The code of the hook: a function of the entity, the tenant and the arguments.',
    ),
    answers: { 200: answer(ANY_OBJECT), 201: answer(ANY_OBJECT, { description: 'It was created.' }) },
    handle: put,
  }),
  writeRoute('DELETE /schema/:type/hooks/:name', {
    summary: 'Delete a hook',
    needs: 'admin:platform',
    answers: DELETED,
    handle: drop,
  }),
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
