import { answer, DELETED, jsonBody } from '../doors/describe/description.ts'
import { query } from '../doors/describe/parameters.ts'
import {
  ANY_OBJECT,
  FLAG,
  listOf,
  record,
  type Schema,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
  WHOLE,
  whole,
} from '../doors/describe/schema.ts'
import type { OperatorEndpoint } from '../doors/openapi/operator-document.ts'

/** An endpoint of the operator, with the action that answers it. */
interface OperatorRoute extends OperatorEndpoint {
  readonly action: OperatorAction
}

export type OperatorAction =
  | 'describe'
  | 'journal'
  | 'allTasks'
  | 'rotateKey'
  | 'list'
  | 'create'
  | 'info'
  | 'delete'
  | 'verify'
  | 'tasks'
  | 'fork'
  | 'release'
  | 'setAside'
  | 'salvage'
  | 'backup'
  | 'restore'
  | 'log'
  | 'replay'
  | 'readContent'
  | 'writeContent'

const NEEDS = 'the operator key'
const TENANT = { needs: NEEDS, tag: 'tenants' } as const
const SERVICE = { needs: NEEDS, tag: 'service' } as const

const INFO = record(
  '',
  {
    tenant: TEXT,
    events: WHOLE,
    entities: { type: 'object', additionalProperties: WHOLE, description: 'The number of entities by type.' },
    createdAt: TIME_OR_NULL,
    updatedAt: TIME_OR_NULL,
    bytes: { ...WHOLE, description: 'The size of its file.' },
    restoring: { ...FLAG, description: 'It is being restored.' },
    of: { ...WHOLE, description: 'How many events the log has that it is restored from.' },
  },
  ['tenant', 'events'],
)

/** What the list says about the space of a tenant, where the operator limits it. */
export const QUOTA = {
  limit: { ...WHOLE, description: 'The most bytes that it may have.' },
  warning: {
    enum: ['near_quota', 'over_quota'],
    description: '`near_quota` from 80 % of the limit on, `over_quota` once writes are refused.',
  },
} as const

const LISTED = record(
  '',
  { tenant: TEXT, bytes: WHOLE, ...QUOTA, updatedAt: TIME_OR_NULL, restoring: FLAG, quarantined: FLAG, damage: TEXT },
  ['tenant'],
)

const ENTRY = { ...record('', { at: TIME, action: TEXT, tenant: TEXT }, ['at', 'action']), additionalProperties: true }

const VERDICT = record('', { tenant: TEXT, ok: FLAG, events: WHOLE, faults: { type: 'array', items: ANY_OBJECT } }, [
  'tenant',
  'ok',
  'events',
  'faults',
])

const TASK = record(
  '',
  {
    tenant: TEXT,
    task: TEXT,
    step: TEXT,
    since: TIME,
    done: WHOLE,
    of: { type: ['integer', 'null'] },
    unit: TEXT,
    actor: { ...TEXT, description: 'Who sent a write that takes long.' },
    id: { ...TEXT, description: 'The id of such a write: `DELETE /~{tenant}/tasks/{id}` cancels it.' },
  },
  ['tenant', 'task', 'step', 'since'],
)

const TAKEN = answer(
  record(
    '',
    {
      tenant: TEXT,
      events: WHOLE,
      missing: { type: 'array', items: TEXT, description: 'The hashes of contents whose bytes are still to come.' },
      verified: {
        type: 'boolean',
        description: 'Whether the new file was verified, too. Each event was tested in any case.',
      },
    },
    ['tenant', 'events'],
  ),
  { description: 'The tenant is there.' },
)

const LINES = 'application/x-ndjson'

function file(type: string, example: string, description: string) {
  return { description, required: true, content: { [type]: { schema: { ...TEXT, format: 'binary' }, example } } }
}

const pageOf = (items: Schema) => ({ 200: answer(listOf(items)) })

/** Every path below `/operator`, for all hosts. */
export const operatorRoutes: readonly OperatorRoute[] = [
  {
    method: 'GET',
    path: '/operator/openapi.json',
    ...SERVICE,
    summary: 'Describe the endpoints of the operator',
    answers: { 200: answer(ANY_OBJECT) },
    action: 'describe',
  },
  {
    method: 'GET',
    path: '/operator/log',
    ...SERVICE,
    summary: 'List the actions of the operator, newest first',
    params: [query('limit', 'The maximum number.', 100, { ...WHOLE, minimum: 1, maximum: 1_000 }), 'cursor'],
    answers: pageOf(ENTRY),
    action: 'journal',
  },
  {
    method: 'GET',
    path: '/operator/tasks',
    ...TENANT,
    summary: 'List the tasks in progress with all tenants',
    answers: { 200: answer(whole({ results: { type: 'array', items: TASK } })) },
    action: 'allTasks',
  },
  {
    method: 'POST',
    path: '/operator/signing-key',
    ...SERVICE,
    summary: 'Sign checkpoints with a new key from now on',
    body: null,
    answers: { 201: answer(ANY_OBJECT) },
    action: 'rotateKey',
  },
  {
    method: 'GET',
    path: '/operator/tenants',
    ...TENANT,
    summary: 'List the tenants by name',
    params: [query('limit', 'The maximum number.', 100, { ...WHOLE, minimum: 1, maximum: 10_000 }), 'offset', 'cursor'],
    answers: pageOf(LISTED),
    action: 'list',
  },
  {
    method: 'POST',
    path: '/operator/tenants',
    ...TENANT,
    summary: 'Create a tenant without events',
    body: jsonBody(whole({ tenant: TEXT }), { tenant: 'acme' }, 'The name of the tenant.'),
    answers: { 201: answer(whole({ tenant: TEXT })) },
    action: 'create',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant',
    ...TENANT,
    summary: 'Read the state of a tenant',
    answers: { 200: answer(INFO) },
    action: 'info',
  },
  {
    method: 'DELETE',
    path: '/operator/tenants/:tenant',
    ...TENANT,
    summary: 'Delete a tenant permanently',
    answers: DELETED,
    action: 'delete',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant/verify',
    ...TENANT,
    summary: 'Verify the file, the chain of the log and all that is made from it',
    answers: { 200: answer(VERDICT) },
    action: 'verify',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant/tasks',
    ...TENANT,
    summary: 'List the tasks in progress with a tenant',
    answers: { 200: answer(whole({ results: { type: 'array', items: TASK } })) },
    action: 'tasks',
  },
  {
    method: 'POST',
    path: '/operator/tenants/:tenant/fork',
    ...TENANT,
    summary: 'Make another tenant of a tenant, as it is or as it was',
    body: jsonBody(
      record(
        '',
        { to: TEXT, asOf: { ...TEXT_OR_NULL, description: 'A time, now, today, 7d ago, or the seq of an event.' } },
        ['to'],
      ),
      { to: 'acme-copy' },
      'The name of the new tenant, and the moment of the state that it begins with.',
    ),
    answers: { 201: TAKEN },
    action: 'fork',
  },
  {
    method: 'POST',
    path: '/operator/tenants/:tenant/release',
    ...TENANT,
    summary: 'End the quarantine of a tenant',
    body: null,
    answers: { 200: answer(whole({ tenant: TEXT, released: FLAG })) },
    action: 'release',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant/backup',
    ...TENANT,
    summary: 'Read a copy of the file of a tenant',
    answers: { 200: { content: { 'application/vnd.sqlite3': { ...TEXT, format: 'binary' } } } },
    action: 'backup',
  },
  {
    method: 'PUT',
    path: '/operator/tenants/:tenant/restore',
    ...TENANT,
    summary: 'Restore a tenant from a file',
    body: file('application/vnd.sqlite3', 'SQLite format 3…', 'The file of a backup.'),
    answers: { 201: TAKEN },
    action: 'restore',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant/log',
    ...TENANT,
    summary: 'Read the log of a tenant, one event per line',
    params: [
      query('after', 'The seq of the event that it continues after.', 0, { ...WHOLE, minimum: 0 }),
      query('wait', 'For how many seconds an empty answer may be held back.', 30, {
        ...WHOLE,
        minimum: 0,
        maximum: 60,
      }),
      query('beside', 'The tables beside the log: all, or secrets.', 'all', { ...TEXT, enum: ['all', 'secrets'] }),
    ],
    answers: { 200: { content: { [LINES]: TEXT } } },
    action: 'log',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant/files/:hash',
    ...TENANT,
    summary: 'Read the bytes of a content',
    answers: { 200: { content: { 'application/octet-stream': { ...TEXT, format: 'binary' } } } },
    action: 'readContent',
  },
  {
    method: 'PUT',
    path: '/operator/tenants/:tenant/files/:hash',
    ...TENANT,
    summary: 'Bring the bytes of a content that a log or a file names',
    body: file('application/octet-stream', '…', 'The bytes. They must have the hash of the path.'),
    answers: { 204: { description: 'The bytes are stored.' } },
    action: 'writeContent',
  },
  {
    method: 'PUT',
    path: '/operator/tenants/:tenant/log',
    ...TENANT,
    summary: 'Restore a tenant from a log',
    params: [
      query('more', 'Other slices of the log follow.', true, FLAG),
      query('of', 'How many events the log has.', 1_000, WHOLE),
    ],
    body: file(LINES, '{"tilde":1}\n', 'The lines of a log, or a slice of them.'),
    answers: {
      201: TAKEN,
      202: answer(record('', { tenant: TEXT, events: WHOLE, restoring: FLAG }, ['tenant', 'events']), {
        description: 'The slice is there; send the next one.',
      }),
    },
    action: 'replay',
  },
  {
    method: 'POST',
    path: '/operator/tenants/:tenant/set-aside',
    ...TENANT,
    summary: 'Take a damaged file out of use for a restore',
    body: null,
    answers: {
      200: answer(
        record('', { tenant: TEXT, file: { ...TEXT, description: 'Where the damaged file is.' } }, ['tenant']),
        {
          description:
            'All requests get 503 `restoring` until a log is restored. A node of a cluster has loaded its state again instead.',
        },
      ),
    },
    action: 'setAside',
  },
  {
    method: 'GET',
    path: '/operator/tenants/:tenant/salvage',
    ...TENANT,
    summary: 'Read what a file that was set aside still has',
    params: [query('after', 'The seq of the event that it continues after.', 0, { ...WHOLE, minimum: 0 })],
    answers: { 200: { content: { [LINES]: TEXT } } },
    action: 'salvage',
  },
]
