import type { Steps, TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, type Route, textParam } from '../call.ts'
import { onBehalfOf } from '../caller.ts'
import { answer, jsonBody, PROPOSE, TASK } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, ref, TEXT } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { streamRoute, writeRoute } from '../route.ts'
import { warned } from './unknown-fields.ts'

/** Code that runs on the tenant, and undo. */
export const doRoutes: readonly Route[] = [
  streamRoute('POST /do', {
    summary: 'Run code on the tenant',
    needs: 'any valid key',
    uses: 'code',
    params: ['dryRun', ...PROPOSE],
    body: jsonBody(
      record('', { code: TEXT, dryRun: FLAG, propose: TEXT, reason: TEXT }, ['code']),
      { code: 'await $.Contact.count()' },
      'The code to run, with $ as the tenant.',
    ),
    answers: {
      200: answer(ref('CodeAnswer')),
      202: answer(ref('CodeAnswer'), { description: 'The writes are proposed.' }),
    },
    handle: runCode,
  }),
  writeRoute('POST /undo/:correlation', {
    summary: 'Undo all writes of a correlation',
    needs: 'write on the types involved',
    body: null,
    answers: { 200: answer(ANY_OBJECT), ...TASK },
    taskResult: ['correlation', 'undone'],
    handle: takeBack,
  }),
]

async function runCode(call: Call): Promise<Reply> {
  const { tenant, grant, writes, budget, body, query } = call
  const dryRun = flagParam(query, 'dryRun')
  const strict = flagParam(query, 'strict')
  const propose = textParam(query, 'propose')
  const reason = textParam(query, 'reason')
  const more = {
    ...(dryRun && { dryRun }),
    ...(strict && { strict }),
    ...(propose !== undefined && { propose }),
    ...(reason !== undefined && { reason }),
  }
  const asked = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, ...more } : body
  const run = () => tenant.runCode(grant, writes, budget, asked)
  const answer = await onBehalfOf(call.request.signal, run)
  return warned(json(answer.changeset ? 202 : 200, answer), answer.warnings ?? [])
}

function* takeBack(call: Call, write: TenantWriter): Steps<Reply> {
  return json(200, yield* write.undo(call.params.correlation!))
}
