import { ANY_OBJECT } from './common.ts'
import type { Schema } from './schemas.ts'

const TEXT = { type: 'string' }
const TIME = { type: 'string', format: 'date-time' }
const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' }
const WHOLE = { type: 'integer' }
const TEXT_OR_NULL = { type: ['string', 'null'] }
const OBJECT_OR_NULL = { anyOf: [ANY_OBJECT, { type: 'null' }] }

/** The answers that are no entities. */
export const RECORDS: { readonly [name: string]: Schema } = {
  ChangeEvent: record(
    'One record of the change stream.',
    {
      id: TEXT,
      type: { ...TEXT, examples: ['Contact.qualified'] },
      timestamp: TIME,
      tenant: TEXT,
      data: { ...OBJECT_OR_NULL, description: 'The entity after the event; null once it was erased.' },
      previous: { ...OBJECT_OR_NULL, description: 'The changed fields with their values before.' },
      seq: { ...WHOLE, description: 'Gapless in the tenant.' },
      verb: TEXT,
      entityType: TEXT,
      entityId: TEXT,
      version: WHOLE,
      actor: TEXT,
      onBehalfOf: { ...TEXT, description: 'For whom the actor acted; absent when it acted for itself.' },
      correlation: TEXT_OR_NULL,
      args: { ...OBJECT_OR_NULL, description: 'The arguments of the verb, if it had any.' },
    },
    ['id', 'type', 'timestamp', 'tenant', 'data', 'seq', 'verb', 'entityType', 'entityId', 'version', 'actor'],
  ),
  Version: record(
    'One version of an entity.',
    {
      version: WHOLE,
      seq: WHOLE,
      timestamp: TIME,
      verb: TEXT,
      event: TEXT,
      actor: TEXT,
      onBehalfOf: { ...TEXT, description: 'For whom the actor acted; absent when it acted for itself.' },
      correlation: TEXT_OR_NULL,
      data: OBJECT_OR_NULL,
      previous: OBJECT_OR_NULL,
      args: OBJECT_OR_NULL,
    },
    ['version', 'seq', 'timestamp', 'verb', 'event', 'actor', 'data', 'previous'],
  ),
  Submission: record(
    'What a form was sent.',
    {
      id: { ...TEXT, description: 'The id of its event.' },
      seq: WHOLE,
      timestamp: TIME,
      actor: TEXT,
      data: ANY_OBJECT,
    },
    ['id', 'seq', 'timestamp', 'actor', 'data'],
  ),
  Diff: record(
    'What changed between two versions.',
    {
      from: OBJECT_OR_NULL,
      to: OBJECT_OR_NULL,
      changes: { type: 'array', items: record('', { field: TEXT, from: {}, to: {} }, ['field', 'from', 'to']) },
    },
    ['from', 'to', 'changes'],
  ),
  BuiltInMetric: record(
    'A metric that is worked out from the data. It is no entity and has no $id.',
    {
      $type: { const: 'Metric' },
      $context: { type: 'string', format: 'uri' },
      name: TEXT,
      value: { type: ['number', 'null'], description: 'Null where the data cannot tell.' },
      unit: TEXT_OR_NULL,
      history: {
        type: 'array',
        items: record('', { date: { type: 'string', format: 'date' }, value: { type: ['number', 'null'] } }, [
          'date',
          'value',
        ]),
      },
      builtIn: { const: true },
      asOf: TIME,
    },
    ['$type', 'name', 'value', 'history', 'builtIn', 'asOf'],
  ),
  Snapshot: record(
    'The business at a glance, by section; null where the data cannot tell.',
    Object.fromEntries([
      ...['revenue', 'pipeline', 'product', 'support', 'marketing'].map((section) => [section, OBJECT_OR_NULL]),
      ['asOf', TIME],
    ]),
    ['asOf'],
  ),
  ImportReport: record(
    'What became of the rows.',
    {
      success: { type: 'boolean' },
      imported: WHOLE,
      errors: WHOLE,
      details: {
        type: 'array',
        items: record('', { row: WHOLE, line: WHOLE, error: TEXT }, ['row', 'error']),
      },
      detailsTruncated: { type: 'boolean' },
      warnings: {
        type: 'array',
        description: 'Names in the rows that are neither declared nor stored.',
        items: record('', { field: TEXT, nearest: TEXT_OR_NULL }, ['field', 'nearest']),
      },
      assumed: record(
        'How a CSV file was read that is not UTF-8 with commas and the names of fields.',
        {
          encoding: TEXT,
          separator: TEXT,
          columns: { type: 'object', additionalProperties: TEXT },
        },
        [],
      ),
    },
    ['success', 'imported', 'errors', 'details'],
  ),
  Manifest: record(
    'The data files and their hashes.',
    {
      files: {
        type: 'object',
        additionalProperties: record('', { hash: TEXT, size: WHOLE, records: WHOLE }, ['hash', 'size', 'records']),
      },
      generatedAt: TIME,
    },
    ['files', 'generatedAt'],
  ),
  SyncChange: record(
    'One change of a replica.',
    { type: TEXT, id: TEXT, operation: { enum: ['create', 'update', 'delete'] }, data: ANY_OBJECT, timestamp: TIME },
    ['type', 'id', 'operation'],
  ),
  SyncRequest: record(
    'What changed on the side of the client.',
    { lastSyncAt: TEXT_OR_NULL, replica: TEXT, changes: { type: 'array', items: reference('SyncChange') } },
    [],
  ),
  SyncAnswer: record(
    'What became of it, and what changed on the server.',
    {
      success: { type: 'boolean' },
      applied: WHOLE,
      conflicts: WHOLE,
      rejected: { type: 'array', items: record('', { index: WHOLE, error: TEXT }, ['index', 'error']) },
      serverChanges: { type: 'array', items: reference('SyncChange') },
      hasMore: { type: 'boolean' },
      syncedAt: TIME,
    },
    ['success', 'applied', 'conflicts', 'serverChanges', 'syncedAt'],
  ),
  CodeAnswer: record(
    'The result of code, what it logged, and what its events share.',
    {
      result: {},
      logs: { type: 'array', items: TEXT },
      correlation: TEXT_OR_NULL,
      events: { type: 'array', items: ANY_OBJECT },
      changeset: { ...OBJECT_OR_NULL, description: 'What it proposed, where it was to propose.' },
    },
    ['logs', 'correlation'],
  ),
  Checkpoint: record(
    'A signed checkpoint of the log. With Accept: text/plain it is the signed note alone.',
    {
      origin: TEXT,
      size: WHOLE,
      root: TEXT,
      note: TEXT,
      key: TEXT,
      witnesses: {
        type: 'array',
        items: record('', { name: TEXT, size: WHOLE, cosignedAt: TEXT_OR_NULL, error: TEXT_OR_NULL }, ['name', 'size']),
      },
      lineage: {
        type: 'array',
        items: record('', { origin: TEXT, size: WHOLE, root: TEXT }, ['origin', 'size', 'root']),
      },
    },
    ['origin', 'size', 'root', 'note', 'key', 'witnesses', 'lineage'],
  ),
  EventProof: record(
    'What shows that an event is in the log. Hashes are base64.',
    {
      event: TEXT,
      seq: WHOLE,
      size: WHOLE,
      leaf: TEXT,
      proof: { type: 'array', items: TEXT },
      checkpoint: TEXT_OR_NULL,
      key: TEXT_OR_NULL,
      witnesses: { type: 'array', items: TEXT },
      entry: record(
        'What the hash of the event is computed from.',
        {
          before: TEXT,
          header: TEXT,
          digest: TEXT,
          salt: TEXT_OR_NULL,
          data: TEXT_OR_NULL,
          previous: TEXT_OR_NULL,
          args: TEXT_OR_NULL,
        },
        ['before', 'header', 'digest', 'salt', 'data', 'previous', 'args'],
      ),
    },
    ['event', 'seq', 'size', 'leaf', 'proof', 'checkpoint', 'key', 'witnesses', 'entry'],
  ),
  ConsistencyProof: record(
    'What shows that an earlier log is the beginning of a later one.',
    { from: WHOLE, to: WHOLE, proof: { type: 'array', items: TEXT } },
    ['from', 'to', 'proof'],
  ),
  Timers: record(
    'What is due next for an entity.',
    {
      timers: {
        type: 'array',
        items: record(
          'A verb that runs at the time of a field.',
          {
            name: TEXT,
            at: TIME,
            field: { ...TEXT, description: 'The field that holds the time.' },
            run: { ...TEXT, description: 'The verb.' },
            from: { type: 'array', items: TEXT, description: 'The states in which it runs.' },
            when: ANY_OBJECT,
            status: { enum: ['Waiting', 'Failed'] },
            error: { ...TEXT_OR_NULL, description: 'Why the verb was refused.' },
          },
          ['name', 'at', 'field', 'run', 'status', 'error'],
        ),
      },
      total: WHOLE,
    },
    ['timers', 'total'],
  ),
  Run: record(
    'One run of a workflow. Its steps are left out in lists.',
    {
      id: TEXT,
      workflow: TEXT,
      status: { enum: ['Waiting', 'Running', 'Succeeded', 'Failed', 'Cancelled'] },
      trigger: { enum: ['event', 'schedule', 'manual', 'retry'] },
      event: { ...OBJECT_OR_NULL, description: 'The event that it runs for: its id, type and seq.' },
      scheduledAt: TIME_OR_NULL,
      startedAt: TIME_OR_NULL,
      endedAt: TIME_OR_NULL,
      duration: { type: ['integer', 'null'], description: 'Milliseconds.' },
      nextAttemptAt: TIME_OR_NULL,
      error: TEXT_OR_NULL,
      retryOf: TEXT_OR_NULL,
      retriedBy: TEXT_OR_NULL,
      steps: {
        type: 'array',
        items: record(
          'A step. Input, output and error are left out for keys that may not read all that the workflow reads.',
          {
            step: WHOLE,
            type: TEXT,
            verb: TEXT,
            code: TEXT_OR_NULL,
            fallback: { type: 'boolean' },
            status: { enum: ['Pending', 'Running', 'Waiting', 'Succeeded', 'Failed', 'Skipped'] },
            tries: WHOLE,
            startedAt: TIME_OR_NULL,
            endedAt: TIME_OR_NULL,
            duration: { type: ['integer', 'null'] },
            input: {},
            output: {},
            error: TEXT_OR_NULL,
            hidden: { type: 'boolean' },
          },
          ['step', 'status', 'tries'],
        ),
      },
    },
    ['id', 'workflow', 'status', 'trigger'],
  ),
  WorkflowTest: record(
    'What the steps of a workflow would do.',
    {
      dryRun: { type: 'boolean' },
      matches: { type: 'boolean', description: 'Whether the workflow would run for the event.' },
      status: { enum: ['Succeeded', 'Failed'] },
      event: ANY_OBJECT,
      steps: { type: 'array', items: ANY_OBJECT },
      events: { type: 'array', items: ANY_OBJECT, description: 'The events that it would write.' },
    },
    ['dryRun', 'matches', 'status', 'steps', 'events'],
  ),
  Operation: record(
    'A verb of a changeset, under its number.',
    {
      number: WHOLE,
      type: TEXT,
      verb: TEXT,
      id: TEXT,
      data: ANY_OBJECT,
      fields: { type: 'array', items: TEXT },
      base: WHOLE,
    },
    ['number', 'type', 'verb', 'id'],
  ),
  ChangesetConflict: record(
    'Why an operation cannot run as it was proposed.',
    { operation: WHOLE, type: TEXT, id: TEXT, field: TEXT, reason: TEXT },
    ['operation', 'type', 'id', 'reason'],
  ),
  ChangesetReview: {
    allOf: [reference('Meta')],
    ...record(
      'A changeset with its operations, its diff against the current state and its conflicts.',
      {
        title: TEXT,
        state: { enum: ['Open', 'Approved', 'Rejected', 'Stale'] },
        author: TEXT,
        base: WHOLE,
        operations: { type: 'array', items: reference('Operation') },
        diff: {
          type: 'array',
          items: record(
            '',
            {
              operation: WHOLE,
              type: TEXT,
              id: TEXT,
              verb: TEXT,
              changes: { type: 'object', additionalProperties: record('', { from: {}, to: {} }, ['from', 'to']) },
            },
            ['operation', 'type', 'id', 'verb', 'changes'],
          ),
        },
        conflicts: { type: 'array', items: reference('ChangesetConflict') },
        messages: { type: 'array', items: record('', { operation: WHOLE, message: TEXT }, ['operation', 'message']) },
        preview: { description: 'What the write would have answered; only in the answer to a proposal.' },
      },
      ['title', 'state', 'operations'],
    ),
  },
  Types: record('The types that the lens surfaces.', { types: { type: 'array', items: ANY_OBJECT } }, []),
}

function record(description: string, properties: Schema, required: readonly string[]): Schema {
  return {
    type: 'object',
    ...(description !== '' && { description }),
    properties,
    ...(required.length > 0 && { required }),
  }
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}
