import type { TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, type Route } from '../call.ts'
import { json, type Reply } from '../reply.ts'

/** Code that runs on the tenant, and the way back from what it wrote. */
export const doRoutes: readonly Route[] = [
  { method: 'POST', path: '/do', needs: 'key', mode: 'stream', summary: 'Run code on the tenant', handle: run },
  {
    method: 'POST',
    path: '/undo/:correlation',
    needs: 'key',
    mode: 'write',
    summary: 'Take back all that shares a correlation',
    handle: takeBack,
  },
]

async function run(call: Call): Promise<Reply> {
  const { tenant, grant, writes, budget, body, query } = call
  const dryRun = flagParam(query, 'dryRun')
  const asked = dryRun && typeof body === 'object' ? { ...body, dryRun } : body
  return json(200, await tenant.runCode(grant, writes, budget, asked))
}

function takeBack(call: Call, write: TenantWriter): Reply {
  return json(200, write.undo(call.params.correlation!))
}
