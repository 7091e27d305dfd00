import { ANY_OBJECT, body, listOf, ref } from './common.ts'
import { type KnownPaths, TEXT } from './known-path.ts'
import { params, query } from './parameters.ts'

const SIZE = { type: 'integer', minimum: 0 }

/** Events, bulk transfer, synchronisation and proofs. */
export const DATA_PATHS: KnownPaths = {
  'GET /events': {
    parameters: [
      query('since', 'Only events after this time.', '2026-01-31T09:00:00Z', { type: 'string', format: 'date-time' }),
      query('type', 'Contact, Contact.created, *.created or Contact.*.', 'Contact.created', { type: 'string' }),
      query('limit', 'The maximum number.', 100, { type: 'integer', minimum: 1, maximum: 1_000, default: 100 }),
      ...params('cursor'),
    ],
    // On the analytics lens, or with parameters of the Event resource, it is the collection of Events.
    success: listOf({ anyOf: [ref('ChangeEvent'), ANY_OBJECT] }),
    others: { 'text/event-stream': TEXT },
  },
  'POST /events': {
    requestBody: body(
      ANY_OBJECT,
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
        'application/json': { schema: { type: 'array', items: ANY_OBJECT }, example: [{ name: 'Ada' }] },
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
    success: { type: 'array', items: ANY_OBJECT },
    others: {
      'application/x-ndjson': TEXT,
      'text/csv': TEXT,
      'application/vnd.apache.parquet': { schema: { type: 'string', format: 'binary' } },
    },
  },
  'POST /sync': {
    requestBody: body(ref('SyncRequest'), true, { changes: [] }, 'The changes of the client since lastSyncAt.'),
    success: ref('SyncAnswer'),
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
}
