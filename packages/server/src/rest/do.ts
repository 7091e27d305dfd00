import { runCode, undo } from '@tildebase/tenant'
import { type Call, flagParam } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

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

async function run(call: Call): Promise<HttpResponse> {
  const { tenant, commits, grant, body, query, correlation } = call
  const dryRun = flagParam(query, 'dryRun')
  const asked = dryRun && typeof body === 'object' ? { ...body, dryRun } : body
  return json(200, await runCode(tenant, commits, grant, asked, correlation))
}

function takeBack(call: Call): HttpResponse {
  return json(200, undo(call.tenant, call.grant, call.params.correlation!))
}
