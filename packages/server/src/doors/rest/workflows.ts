import { limitOf, type TenantWriter } from '@tildebase/tenant'
import { type Call, type Route, textParam } from '../call.ts'
import { json, type Reply } from '../reply.ts'

/** What a workflow has in addition to the verbs of every type, under both of its names. */
export const workflowRoutes: readonly Route[] = ['workflows', 'Workflow'].flatMap((name): Route[] => [
  {
    method: 'GET',
    path: `/${name}/:id/runs`,
    needs: 'key',
    mode: 'read',
    summary: 'List the runs of a workflow',
    handle: runs,
  },
  {
    method: 'GET',
    path: `/${name}/:id/runs/:run`,
    needs: 'key',
    mode: 'read',
    summary: 'Read a run with its steps',
    handle: run,
  },
  {
    method: 'POST',
    path: `/${name}/:id/runs/:run/retry`,
    needs: 'key',
    mode: 'write',
    summary: 'Retry a failed run from the step that failed',
    handle: retry,
  },
  {
    method: 'POST',
    path: `/${name}/:id/runs/:run/cancel`,
    needs: 'key',
    mode: 'write',
    summary: 'Cancel a run that waits or is in progress',
    handle: cancel,
  },
  {
    method: 'POST',
    path: `/${name}/:id/test`,
    needs: 'key',
    mode: 'stream',
    summary: 'Test a workflow with an event, without writing',
    handle: test,
  },
])

function runs({ read, params, query }: Call): Reply {
  return json(
    200,
    read.reactions.runs(params.id!, {
      status: textParam(query, 'status') ?? null,
      cursor: textParam(query, 'cursor') || null,
      limit: limitOf(query.get('limit') ?? 25),
    }),
  )
}

function run({ read, params }: Call): Reply {
  return json(200, read.reactions.run(params.id!, params.run!))
}

function retry({ params }: Call, write: TenantWriter): Reply {
  return json(200, write.retryRun(params.id!, params.run!))
}

function cancel({ params }: Call, write: TenantWriter): Reply {
  return json(200, write.cancelRun(params.id!, params.run!))
}

async function test({ tenant, grant, params, body, writes, budget }: Call): Promise<Reply> {
  return json(200, await tenant.testWorkflow(grant, writes, budget, params.id!, body))
}
