import { ANY_OBJECT, OBJECT_OR_NULL, record, ref, type Schema, TEXT, TEXT_OR_NULL, TIME, WHOLE } from '../schema.ts'
import { AUTOMATION_RECORDS } from './automation.ts'
import { CHANGESET_RECORDS } from './changesets.ts'
import { PROOF_RECORDS } from './proofs.ts'

/** The answers that are not entities. */
export const RECORDS: { readonly [name: string]: Schema } = {
  ChangeEvent: record(
    'One record of the change stream.',
    {
      id: TEXT,
      type: { ...TEXT, examples: ['Contact.qualified'] },
      timestamp: { ...TIME, description: 'When it happened.' },
      recordedAt: { ...TIME, description: 'When a change of an imported past was recorded; absent otherwise.' },
      tenant: TEXT,
      data: { ...OBJECT_OR_NULL, description: 'The entity after the event; null once it was erased.' },
      previous: { ...OBJECT_OR_NULL, description: 'The previous values of the changed fields.' },
      seq: { ...WHOLE, description: 'The number of the event in the log, without gaps.' },
      verb: TEXT,
      entityType: TEXT,
      entityId: TEXT,
      version: WHOLE,
      actor: TEXT,
      onBehalfOf: { ...TEXT, description: 'The actor on whose behalf this actor acted; absent if there is none.' },
      correlation: TEXT_OR_NULL,
      args: { ...OBJECT_OR_NULL, description: 'The arguments of the verb, if it had any.' },
    },
    ['id', 'type', 'timestamp', 'tenant', 'data', 'seq', 'verb', 'entityType', 'entityId', 'version', 'actor'],
  ),
  File: record(
    'The value of a file field. A write may give the hash alone, or with a name.',
    {
      hash: { ...TEXT, pattern: '^sha256:[0-9a-f]{64}$' },
      size: { ...WHOLE, description: 'The number of bytes.' },
      type: { ...TEXT, description: 'The media type.' },
      name: TEXT,
    },
    ['hash'],
  ),
  Version: record(
    'One version of an entity.',
    {
      version: WHOLE,
      seq: WHOLE,
      timestamp: TIME,
      recordedAt: { ...TIME, description: 'When a change of an imported past was recorded; absent otherwise.' },
      verb: TEXT,
      event: TEXT,
      actor: TEXT,
      onBehalfOf: { ...TEXT, description: 'The actor on whose behalf this actor acted; absent if there is none.' },
      correlation: TEXT_OR_NULL,
      data: OBJECT_OR_NULL,
      previous: OBJECT_OR_NULL,
      args: OBJECT_OR_NULL,
    },
    ['version', 'seq', 'timestamp', 'verb', 'event', 'actor', 'data', 'previous'],
  ),
  Submission: record(
    'A submission of a form.',
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
    'The changes between two versions.',
    {
      from: OBJECT_OR_NULL,
      to: OBJECT_OR_NULL,
      changes: { type: 'array', items: record('', { field: TEXT, from: {}, to: {} }, ['field', 'from', 'to']) },
    },
    ['from', 'to', 'changes'],
  ),
  BuiltInMetric: record(
    'A metric that is computed from the data. It is not an entity and has no $id.',
    {
      $type: { const: 'Metric' },
      $context: { type: 'string', format: 'uri' },
      name: TEXT,
      value: { type: ['number', 'null'], description: 'Null if the data is not sufficient.' },
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
    'The metrics snapshot by section; null if the data is not sufficient.',
    Object.fromEntries([
      ...['revenue', 'pipeline', 'product', 'support', 'marketing'].map((section) => [section, OBJECT_OR_NULL]),
      ['asOf', TIME],
    ]),
    ['asOf'],
  ),
  HistoryReport: record(
    'The result of an import of past changes.',
    {
      success: { type: 'boolean' },
      imported: WHOLE,
      repeated: { ...WHOLE, description: 'Rows that the log has already. They change nothing.' },
      errors: WHOLE,
      details: {
        type: 'array',
        items: record(
          'A row that was rejected. `head` is the time of the newest event, if the row is out_of_order.',
          { row: WHOLE, line: WHOLE, error: TEXT, head: TIME },
          ['row', 'error'],
        ),
      },
      detailsTruncated: { type: 'boolean' },
    },
    ['success', 'imported', 'repeated', 'errors', 'details'],
  ),
  ImportReport: record(
    'The result of an import.',
    {
      success: { type: 'boolean' },
      imported: WHOLE,
      errors: WHOLE,
      details: {
        type: 'array',
        items: record('', { row: WHOLE, line: WHOLE, error: TEXT }, ['row', 'error']),
      },
      detailsTruncated: { type: 'boolean' },
      waiting: {
        type: 'array',
        description: 'With more: rows that refer to rows of the file that have not come. Send them again after those.',
        items: WHOLE,
      },
      warnings: {
        type: 'array',
        description: 'Names in the rows that are neither declared nor stored.',
        items: record('', { field: TEXT, nearest: TEXT_OR_NULL }, ['field', 'nearest']),
      },
      assumed: record(
        'Assumptions about a CSV file that is not UTF-8 with commas and field names.',
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
    'The changes of the client.',
    {
      lastSyncAt: TEXT_OR_NULL,
      replica: TEXT,
      changes: { type: 'array', items: ref('SyncChange') },
      types: { type: 'array', items: TEXT, description: 'The types that the answer has; all by default.' },
      limit: { ...WHOLE, minimum: 1, maximum: 10_000 },
    },
    [],
  ),
  SyncAnswer: record(
    'The result, and the changes of the server.',
    {
      success: { type: 'boolean' },
      applied: WHOLE,
      conflicts: WHOLE,
      rejected: { type: 'array', items: record('', { index: WHOLE, error: TEXT }, ['index', 'error']) },
      serverChanges: { type: 'array', items: ref('SyncChange') },
      hasMore: { type: 'boolean' },
      syncedAt: TIME,
    },
    ['success', 'applied', 'conflicts', 'serverChanges', 'syncedAt'],
  ),
  CodeAnswer: record(
    'The result of code, its log lines, and the correlation of its events.',
    {
      result: {},
      logs: { type: 'array', items: TEXT },
      correlation: TEXT_OR_NULL,
      events: { type: 'array', items: ANY_OBJECT },
      changeset: { ...OBJECT_OR_NULL, description: 'The changeset, if the code proposed its writes.' },
    },
    ['logs', 'correlation'],
  ),
  OAuthError: record(
    'An error of OAuth, as RFC 6749, 7591 and 8628 have it.',
    { error: TEXT, error_description: TEXT, error_uri: TEXT },
    ['error'],
  ),
  Types: record('The types of the lens.', { types: { type: 'array', items: ANY_OBJECT } }, []),
  ...PROOF_RECORDS,
  ...AUTOMATION_RECORDS,
  ...CHANGESET_RECORDS,
}
