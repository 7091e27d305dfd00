import type { TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, type Route, textParam } from '../call.ts'
import { onBehalfOf } from '../caller.ts'
import { json, type Reply } from '../reply.ts'
import { warned } from './unknown-fields.ts'

/** Code that runs on the tenant, and undo. */
export const doRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/do',
    needs: 'key',
    mode: 'stream',
    uses: 'code',
    summary: 'Run code on the tenant',
    handle: runCode,
  },
  {
    method: 'POST',
    path: '/undo/:correlation',
    needs: 'key',
    mode: 'write',
    summary: 'Undo all writes of a correlation',
    handle: takeBack,
  },
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

function takeBack(call: Call, write: TenantWriter): Reply {
  return json(200, write.undo(call.params.correlation!))
}
