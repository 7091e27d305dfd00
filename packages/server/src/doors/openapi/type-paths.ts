import { ANY_OBJECT, body, listOf, ref } from './common.ts'
import type { KnownPaths } from './known-path.ts'
import { params, query } from './parameters.ts'

/** A run, or what would happen. */
const RUN_OR_DRY = { anyOf: [ref('Run'), ref('DryRun')] }

/** What single built-in types have in addition. */
export const TYPE_PATHS: KnownPaths = {
  'GET /metrics': {
    parameters: params('asOf'),
    success: ref('Snapshot'),
  },
  'GET /Changeset/:id/effect': { success: ref('ChangesetEffect') },
  'GET /Form/:id/submissions': { parameters: params('limit', 'cursor'), success: listOf(ref('Submission')) },
  'GET /forms/:id/submissions': { parameters: params('limit', 'cursor'), success: listOf(ref('Submission')) },
  'POST /FeatureFlag/:id/evaluate': {
    requestBody: body(
      { type: 'object', properties: { userId: { type: 'string' }, context: ANY_OBJECT } },
      false,
      { userId: 'u1', context: { plan: 'pro' } },
      'The user to evaluate the flag for, and what its rules ask for.',
    ),
    success: {
      type: 'object',
      properties: { key: { type: 'string' }, value: {}, enabled: { type: 'boolean' }, reason: { type: 'string' } },
      required: ['key', 'value', 'enabled', 'reason'],
    },
  },
  'GET /Workflow/:id/runs': {
    parameters: [
      query('status', 'Only runs of this status.', 'Failed', {
        type: 'string',
        enum: ['Waiting', 'Running', 'Succeeded', 'Failed', 'Cancelled'],
      }),
      ...params('limit', 'cursor'),
    ],
    success: listOf(ref('Run')),
  },
  'GET /Workflow/:id/runs/:run': { success: ref('Run') },
  'POST /Workflow/:id/runs/:run/retry': { parameters: params('dryRun'), success: RUN_OR_DRY },
  'POST /Workflow/:id/runs/:run/cancel': { parameters: params('dryRun'), success: RUN_OR_DRY },
  'POST /Workflow/:id/test': {
    requestBody: body(
      {
        type: 'object',
        properties: {
          event: { anyOf: [{ type: 'string', description: 'The id of a past event.' }, ANY_OBJECT] },
          workflow: {
            ...ANY_OBJECT,
            description: 'Changes to try without storing them: steps, triggerEvent, filter, …',
          },
        },
      },
      false,
      { event: { type: 'Deal.won', data: { name: 'A deal', value: 100 } } },
      'The event to try the workflow with: an id, or a record.',
    ),
    success: ref('WorkflowTest'),
  },
  'GET /Metric/:id/series': { parameters: params('limit') },
}
