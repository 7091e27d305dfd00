import type { TenantWriter } from '@tildebase/tenant'
import { limitOf } from '@tildebase/tenant/internal'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, either, listOf, record, ref, TEXT } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { readRoute, streamRoute, writeRoute } from '../route.ts'

/** A change to a run: the run, or what would happen. */
const CHANGE = {
  needs: 'write:platform',
  also: 'the rights of the workflow',
  params: ['dryRun'],
  body: null,
  answers: { 200: answer(either(ref('Run'), ref('DryRun'))) },
} as const

/** The runs of a workflow, or the calls of an agent. */
const RUNS = {
  params: [
    query('status', 'Only runs of this status.', 'Failed', {
      ...TEXT,
      enum: ['Waiting', 'Running', 'Succeeded', 'Failed', 'Cancelled'],
    }),
    'limit',
    'cursor',
  ],
  answers: { 200: answer(listOf(ref('Run'))) },
} as const

/** What a workflow and an agent have in addition to the verbs of every type. */
export const workflowRoutes: readonly Route[] = [
  readRoute('GET /Workflow/:id/runs', {
    summary: 'List the runs of a workflow',
    needs: 'read:platform',
    ...RUNS,
    handle: runsOf('Workflow'),
  }),
  readRoute('GET /Workflow/:id/runs/:run', {
    summary: 'Read a run with its steps',
    needs: 'read:platform',
    answers: { 200: answer(ref('Run')) },
    handle: runOf('Workflow'),
  }),
  readRoute('GET /Agent/:id/runs', {
    summary: 'List the calls of an agent',
    needs: 'read:platform',
    ...RUNS,
    handle: runsOf('Agent'),
  }),
  readRoute('GET /Agent/:id/runs/:run', {
    summary: 'Read a call of an agent with its request and answer',
    needs: 'read:platform',
    answers: { 200: answer(ref('Run')) },
    handle: runOf('Agent'),
  }),
  writeRoute('POST /Workflow/:id/runs/:run/retry', {
    summary: 'Retry a failed run from the step that failed',
    ...CHANGE,
    handle: retry,
  }),
  writeRoute('POST /Workflow/:id/runs/:run/cancel', {
    summary: 'Cancel a run that waits or is in progress',
    ...CHANGE,
    handle: cancel,
  }),
  streamRoute('POST /Workflow/:id/test', {
    summary: 'Test a workflow with an event, without writing',
    needs: 'write:platform',
    also: 'the rights of the workflow',
    body: jsonBody(
      record(
        '',
        {
          event: either({ ...TEXT, description: 'The id of a past event.' }, ANY_OBJECT),
          workflow: {
            ...ANY_OBJECT,
            description: 'Changes to try without storing them: steps, triggerEvent, filter, …',
          },
        },
        [],
      ),
      { event: { type: 'Deal.won', data: { name: 'A deal', value: 100 } } },
      'The event to try the workflow with: an id, or a record.',
      false,
    ),
    answers: { 200: answer(ref('WorkflowTest')) },
    handle: test,
  }),
]

function runsOf(type: 'Workflow' | 'Agent') {
  return ({ read, params, query }: Call): Reply => {
    const status = textParam(query, 'status') ?? null
    const cursor = textParam(query, 'cursor') || null
    return json(
      200,
      read.reactions.runs(type, params.id!, { status, cursor, limit: limitOf(query.get('limit') ?? 25) }),
    )
  }
}

function runOf(type: 'Workflow' | 'Agent') {
  return ({ read, params }: Call): Reply => json(200, read.reactions.run(type, params.id!, params.run!))
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
