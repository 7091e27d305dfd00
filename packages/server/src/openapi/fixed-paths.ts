import type { Route } from '../call.ts'
import { ANY_OBJECT, answers, body, listOf, ref } from './common.ts'
import { type Description, errorsOf, proposed } from './entity-paths.ts'
import { IDENTITY_PATHS, identitySuccess } from './identity-paths.ts'
import { params, pathParam, query } from './parameters.ts'
import type { Schema } from './schemas.ts'

const OBJECT = ANY_OBJECT
const TEXT = { schema: { type: 'string' } }
const SIZE = { type: 'integer', minimum: 0 }

/** What JSON-RPC answers: a message, or several at once. */
const MESSAGES = { anyOf: [OBJECT, { type: 'array', items: OBJECT }] }

/** An object of these strings. */
function strings(...names: readonly string[]): Schema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names }
}

/** What a migration answers, or what it would do. */
const MIGRATED = {
  anyOf: [
    {
      type: 'object',
      properties: { migrated: { type: 'integer' }, type: OBJECT },
      required: ['migrated', 'type'],
    },
    ref('DryRun'),
  ],
}

/** A run, or what would happen. */
const RUN_OR_DRY = { anyOf: [ref('Run'), ref('DryRun')] }

/** What is known of paths beyond their route: parameters, a body, and what they answer. */
const KNOWN: {
  readonly [route: string]: Partial<Description> & {
    readonly success?: Schema
    /** The other kinds of content that it answers. */
    readonly others?: { readonly [contentType: string]: Schema }
    /** True for a path that answers plain text and no JSON. */
    readonly isText?: true
  }
} = {
  'POST /batch': {
    parameters: params('dryRun', 'propose', 'reason'),
    requestBody: body(
      {
        type: 'object',
        properties: {
          atomic: { type: 'boolean', default: false },
          operations: {
            type: 'array',
            maxItems: 100,
            items: {
              type: 'object',
              properties: {
                id: { type: 'string' },
                method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
                path: { type: 'string' },
                query: OBJECT,
                body: {},
                ifMatch: { type: ['string', 'integer'] },
              },
              required: ['path'],
            },
          },
        },
        required: ['operations'],
      },
      true,
      {
        atomic: true,
        operations: [
          // No {"$ref": …} here: tools take it for a reference of the document.
          { id: 'ada', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
          { id: 'qualify', method: 'POST', path: '/Contact/${ada.$id}/qualify' },
        ],
      },
      'Up to 100 operations, run in order. With atomic, all of them or none.',
    ),
    success: {
      type: 'object',
      properties: {
        correlation: { type: 'string' },
        results: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, status: { type: 'integer' }, body: {} },
            required: ['id', 'status', 'body'],
          },
        },
      },
    },
  },
  ...IDENTITY_PATHS,
  'GET /metrics': {
    parameters: params('asOf'),
    success: ref('Snapshot'),
  },
  'GET /Changeset/:id/effect': { success: ref('ChangesetEffect') },
  'GET /events': {
    parameters: [
      query('since', 'Only events after this time.', '2026-01-31T09:00:00Z', { type: 'string', format: 'date-time' }),
      query('type', 'Contact, Contact.created, *.created or Contact.*.', 'Contact.created', { type: 'string' }),
      query('limit', 'The maximum number.', 100, { type: 'integer', minimum: 1, maximum: 1_000, default: 100 }),
      ...params('cursor'),
    ],
    // On the analytics lens, or with parameters of the Event resource, it is the collection of Events.
    success: listOf({ anyOf: [ref('ChangeEvent'), OBJECT] }),
    others: { 'text/event-stream': TEXT },
  },
  'POST /events': {
    requestBody: body(
      OBJECT,
      true,
      { name: 'signed_up', type: 'track', userId: 'u1' },
      'One Event, or a list of up to 1,000 of which all or none are stored.',
    ),
  },
  'POST /import/:type': {
    parameters: [
      ...params('dryRun'),
      query('more', 'The body is a part of a file; other requests send the rest.', true, { type: 'boolean' }),
    ],
    requestBody: {
      description: 'The rows: a JSON list, one JSON object per line, or CSV with a header.',
      required: true,
      content: {
        'application/json': { schema: { type: 'array', items: OBJECT }, example: [{ name: 'Ada' }] },
        'application/x-ndjson': { schema: { type: 'string' }, example: '{"name":"Ada"}\n{"name":"Bob"}\n' },
        'text/csv': { schema: { type: 'string' }, example: 'name,email\nAda,ada@example.com\n' },
      },
    },
    success: { anyOf: [ref('ImportReport'), ref('DryRun')] },
  },
  'GET /export/:type': {
    parameters: [
      query('format', 'json, ndjson, csv or parquet.', 'csv', {
        type: 'string',
        enum: ['json', 'ndjson', 'csv', 'parquet'],
        default: 'json',
      }),
      ...params('filter', 'asOf', 'fields'),
    ],
    success: { type: 'array', items: OBJECT },
    others: {
      'application/x-ndjson': TEXT,
      'text/csv': TEXT,
      'application/vnd.apache.parquet': { schema: { type: 'string', format: 'binary' } },
    },
  },
  'GET /manifest': { success: ref('Manifest') },
  'GET /checkpoint': { success: ref('Checkpoint'), others: { 'text/plain': TEXT } },
  'GET /consistency': {
    parameters: [
      { ...query('from', 'The size of the earlier log.', 100, SIZE), required: true },
      query('to', 'The size of the later log; default the newest.', 200, SIZE),
    ],
    success: ref('ConsistencyProof'),
  },
  'GET /proof/:eventId': {
    parameters: [
      query('size', 'The size of an earlier log in which to prove the event.', 100, SIZE),
      query('format', 'json, or html for a page that verifies the proof.', 'html', {
        type: 'string',
        enum: ['json', 'html'],
      }),
    ],
    success: ref('EventProof'),
    others: { 'text/html': TEXT },
  },
  'GET /Form/:id/submissions': { parameters: params('limit', 'cursor'), success: listOf(ref('Submission')) },
  'GET /forms/:id/submissions': { parameters: params('limit', 'cursor'), success: listOf(ref('Submission')) },
  'GET /schema': { success: ref('Types') },
  'GET /llms.txt': { isText: true },
  'POST /schema/:type/rename': {
    parameters: params('dryRun'),
    requestBody: body(
      strings('from', 'to'),
      true,
      { from: 'plate', to: 'registration' },
      'The present name of the field, and the new one.',
    ),
    success: MIGRATED,
  },
  'POST /schema/:type/retype': {
    parameters: params('dryRun'),
    requestBody: body(
      strings('field', 'to'),
      true,
      { field: 'size', to: 'number' },
      'The field, and its new notation.',
    ),
    success: MIGRATED,
  },
  'POST /sync': {
    requestBody: body(ref('SyncRequest'), true, { changes: [] }, 'The changes of the client since lastSyncAt.'),
    success: ref('SyncAnswer'),
  },
  'POST /do': {
    requestBody: body(
      {
        type: 'object',
        properties: {
          code: { type: 'string' },
          dryRun: { type: 'boolean' },
          propose: { type: 'string' },
          reason: { type: 'string' },
        },
        required: ['code'],
      },
      true,
      { code: 'await $.Contact.count()' },
      'The code to run, with $ as the tenant.',
    ),
    success: ref('CodeAnswer'),
  },
  'PUT /schema/:type': {
    requestBody: body(
      OBJECT,
      true,
      { name: 'string!', colour: 'Red | Green = Red', paint: { args: ['colour'] } },
      'The type in the noun notation: strings are fields, objects are verbs.',
    ),
  },
  'PUT /schema/:type/hooks/:name': {
    requestBody: body(
      { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
      true,
      { code: '(entity) => ({ name: entity.name.trim() })' },
      'The code of the hook: a function of the entity, the tenant and the arguments.',
    ),
  },
  'POST /FeatureFlag/:id/evaluate': {
    requestBody: body(
      { type: 'object', properties: { userId: { type: 'string' }, context: OBJECT } },
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
          event: { anyOf: [{ type: 'string', description: 'The id of a past event.' }, OBJECT] },
          workflow: { ...OBJECT, description: 'Changes to try without storing them: steps, triggerEvent, filter, …' },
        },
      },
      false,
      { event: { type: 'Deal.won', data: { name: 'A deal', value: 100 } } },
      'The event to try the workflow with: an id, or a record.',
    ),
    success: ref('WorkflowTest'),
  },
  'GET /Metric/:id/series': { parameters: params('limit') },
  'POST /mcp': {
    requestBody: body(
      MESSAGES,
      true,
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      'A message of JSON-RPC 2.0, or several.',
    ),
    success: MESSAGES,
    others: { 'text/event-stream': TEXT },
  },
}

/** Describes a route that is not of every type. */
export function describeFixed(route: Route, types: readonly string[]): Description {
  const known = KNOWN[`${route.method} ${route.path}`] ?? {}
  const { parameters = [], requestBody } = known
  const named = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) =>
    name === 'id' ? { $ref: '#/components/parameters/id' } : pathParam(name!, types),
  )
  const once = route.method === 'POST' && !route.repeats ? params('idempotencyKey') : []
  const status = route.method === 'DELETE' ? 204 : 200
  const answer = status === 204 ? { description: 'Done.' } : answerOf(route, known)
  return {
    description: `${route.summary}.`,
    parameters: [...named, ...parameters, ...once],
    ...(requestBody && { requestBody }),
    responses: {
      ...(identitySuccess(`${route.method} ${route.path}`, route.summary) ?? { [status]: answer }),
      ...created(route),
      ...errorsOf(route),
    },
  }
}

function answerOf({ summary }: Route, { success = OBJECT, others, isText }: (typeof KNOWN)[string]): Schema {
  return isText ? { description: summary, content: { 'text/plain': TEXT } } : answers(summary, success, [], others)
}

function created({ method, path }: Route): Description['responses'] {
  if (path === '/mcp') return { 202: { description: 'Notifications are accepted and not answered.' } }
  const creates = (method === 'PUT' && path.startsWith('/schema')) || (method === 'POST' && path === '/events')
  if (path === '/batch') return proposed()
  if (path === '/do') return { 202: answers('The writes are proposed.', ref('CodeAnswer')) }
  return creates ? { 201: answers('It was created.', OBJECT) } : {}
}
