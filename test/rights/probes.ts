import { createHash } from 'node:crypto'
import { catalogue } from '@tildebase/nouns'
import type { Route } from '../../packages/server/src/doors/call.ts'
import type { Planted } from './planted.ts'
import { HIDDEN_CONTENT, MARK } from './planted.ts'

/** A request of the walk. */
export interface Probe {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
}

type Probes = (planted: Planted) => readonly Probe[]

const TYPES = [
  'Contact',
  'Organization',
  'Deal',
  'Ticket',
  'Metric',
  'FeatureFlag',
  'Funnel',
  'Workflow',
  'Event',
  'Changeset',
]
const filter = (json: object) => encodeURIComponent(JSON.stringify(json))

const get = (path: string, headers?: Probe['headers']): Probe => ({ method: 'GET', path, ...(headers && { headers }) })
const send = (method: string, path: string, body: unknown = {}): Probe => ({ method, path, body })

/** Both rows of a type: the visible and the hidden one. */
const rows = ({ visible, hidden }: Planted) =>
  Object.keys(visible).flatMap((type) => [
    { type, id: visible[type]! },
    { type, id: hidden[type]! },
  ])

/** How a list can be asked for. */
const QUESTIONS = [
  '',
  `?filter=${filter({ name: { $regex: 'HIDDEN' } })}`,
  `?filter=${filter({ $text: MARK })}`,
  `?filter=${filter({ $or: [{ name: { $exists: true } }, { $id: 'x' }] })}`,
  '?sort=-name&limit=100',
  '?asOf=2030-01-01T00:00:00Z',
  '?fields=name',
  '?total=true&offset=0&limit=1',
]

/** What others may know of the hidden file. */
const HIDDEN_HASH = `sha256:${createHash('sha256').update(HIDDEN_CONTENT).digest('hex')}`

/** The files of both rows: now, shown, as a list, and at all times. */
const files = ({ visible, hidden }: Planted) =>
  [visible.Asset, hidden.Asset].filter((id) => id !== undefined).map((id) => `/Asset/${id}/file`)

/** Requests for routes whose example is not enough, under the name of method and path. */
export const PROBES: { readonly [route: string]: Probes } = {
  'GET /:type/:id/:field': (planted) => [
    ...files(planted).flatMap((path) => [
      get(path),
      get(`${path}?inline=true`),
      get(path, { range: 'bytes=0-' }),
      ...Array.from({ length: 40 }, (_, seq) => get(`${path}?asOf=${seq + 10}`)),
    ]),
    get('/Contact/x/file'),
  ],
  'GET /:type/:id/:field/:n': (planted) => [
    ...files(planted).map((path) => get(`${path}/0`)),
    get('/Contact/x/file/0'),
  ],
  'POST /:type/:id/:field/link': (planted) => [
    ...files(planted).map((path) => send('POST', `${path}/link`, { expires: '1m' })),
    send('POST', '/Contact/x/file/link', { expires: '1m' }),
  ],
  'GET /files/:link': () => [get(`/files/${HIDDEN_HASH}`), get(`/files/${HIDDEN_HASH.slice(7)}`), get('/files/AAAA')],
  'GET /:type': () => [
    ...TYPES.flatMap((type) => QUESTIONS.map((question) => get(`/${type}${question}`))),
    get('/Contact?include=organization.contacts'),
    get('/Organization?include=contacts'),
    get(`/Contact?filter=${filter({ 'organization.name': { $regex: '.' } })}`),
    get('/api-keys'),
    get('/webhooks'),
    ...['Contact', 'Event'].map((type) => get(`/${type}`, { accept: 'text/event-stream' })),
    ...['Contact', 'Event'].map((type) => get(`/${type}`, { accept: 'text/event-stream', 'last-event-id': '0' })),
  ],
  'GET /:type/count': () => TYPES.flatMap((type) => QUESTIONS.map((question) => get(`/${type}/count${question}`))),
  'GET /:type/aggregate': () =>
    TYPES.flatMap((type) => [
      get(`/${type}/aggregate?group=name`),
      get(`/${type}/aggregate?max=name,value&min=name&sum=value`),
    ]).concat(get('/Contact/aggregate?group=organization.name')),
  'GET /:type/:id': (planted) =>
    rows(planted).flatMap(({ type, id }) => [
      get(`/${type}/${id}`),
      get(`/${type}/${id}?asOf=2030-01-01T00:00:00Z`),
      get(`/${type}/${id}?include=${type === 'Contact' ? 'organization' : ''}`),
    ]),
  'GET /:type/:id/history': (planted) => rows(planted).map(({ type, id }) => get(`/${type}/${id}/history`)),
  'GET /:type/:id/timers': (planted) => rows(planted).map(({ type, id }) => get(`/${type}/${id}/timers`)),
  'GET /:type/:id/diff': (planted) =>
    rows(planted).flatMap(({ type, id }) => [
      get(`/${type}/${id}/diff?from=1&to=1`),
      get(`/${type}/${id}/diff?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z`),
    ]),
  'POST /:type': () => [
    send('POST', '/Asset', { name: 'guess', license: 'mine', file: { hash: HIDDEN_HASH } }),
    send('POST', '/Contact', { name: 'new', title: 'mine' }),
    send('POST', '/Contact', { name: 'new', title: 'theirs' }),
    send('POST', '/Contact', { name: 'same', title: 'mine', email: `${MARK.toLowerCase()}@example.org` }),
    send('POST', '/Contact?dryRun=true', { name: 'dry', title: 'mine' }),
    send('POST', '/Contact?propose=walk', { name: 'proposed', title: 'mine' }),
    send('POST', '/Contact?propose=walk', { name: 'proposed', title: 'theirs' }),
    send('POST', '/Contact?propose=walk', { name: 'p', title: 'mine', email: `${MARK.toLowerCase()}@example.org` }),
    send('POST', '/Metric', { name: 'x', description: 'mine' }),
    send('POST', '/Goal', { name: 'g', target: 1 }),
  ],
  'PUT /:type/:id': (planted) => rows(planted).map(({ type, id }) => send('PUT', `/${type}/${id}`, { tags: 'walked' })),
  'PATCH /:type/:id': (planted) =>
    rows(planted).map(({ type, id }) => send('PATCH', `/${type}/${id}`, { tags: 'patched' })),
  'DELETE /:type/:id': ({ hidden }) =>
    Object.keys(hidden).map((type) => ({ method: 'DELETE', path: `/${type}/${hidden[type]}` })),
  'POST /:type/:id/:verb': (planted) => [
    ...rows(planted).flatMap(({ type, id }) => [
      send('POST', `/${type}/${id}/update`, { tags: 'verb' }),
      send('POST', `/${type}/${id}/rollback`, { version: 1 }),
      send('POST', `/${type}/${id}/restore`),
    ]),
    send('POST', `/Funnel/${planted.visible.Funnel}/analyze`),
    send('POST', `/Funnel/${planted.hidden.Funnel}/analyze`),
    send('POST', `/Contact/${planted.hidden.Contact}/qualify`),
    ...[planted.changeset, ...planted.hiddenChangesets].flatMap((id) => [
      send('POST', `/changesets/${id}/comment`, { text: 'walked' }),
      send('POST', `/changesets/${id}/approve`),
      send('POST', `/changesets/${id}/rebase`, { keep: [] }),
      send('POST', `/changesets/${id}/reject`),
    ]),
    send('POST', `/Contact/${planted.hidden.Contact}/update?propose=walked`, { phone: '3' }),
  ],
  'GET /tasks': () => [get('/tasks')],
  'GET /tasks/:task': ({ task }) => [get(`/tasks/${task}`)],
  'DELETE /tasks/:task': ({ task }) => [{ method: 'DELETE', path: `/tasks/${task}` }],
  'GET /Form/:id/submissions': ({ hidden }) => [get(`/Form/${hidden.Contact}/submissions`)],
  'POST /:type/:id/erase': ({ hidden }) =>
    Object.keys(hidden).map((type) => send('POST', `/${type}/${hidden[type]}/erase`)),
  'GET /events': () => [
    get('/events?limit=1000'),
    get('/events?type=Contact.*'),
    get('/events?filter=%7B%7D&limit=100'),
    get(`/events?name=${MARK}`),
    get('/events', { accept: 'text/event-stream', 'last-event-id': '0' }),
    get('/events?type=Contact', { accept: 'text/event-stream', 'last-event-id': '0' }),
  ],
  'POST /events': () => [
    send('POST', '/events', { name: 'mine', type: 'track' }),
    send('POST', '/events', [{ name: 'x', type: 'track' }]),
  ],
  'GET /Event/count': () => QUESTIONS.map((question) => get(`/Event/count${question}`)),
  'GET /Event/aggregate': () => [get('/Event/aggregate?group=name'), get('/Event/aggregate?group=name,data.name')],
  'GET /Event/:id': ({ secretIds }) => secretIds.map((id) => get(`/Event/${id}`)),
  'POST /batch': (planted) => [
    send('POST', '/batch', {
      operations: [
        ...TYPES.map((type) => ({ id: type, method: 'GET', path: `/${type}` })),
        { id: 'one', method: 'GET', path: `/Contact/${planted.hidden.Contact}` },
        { id: 'write', method: 'PUT', path: `/Contact/${planted.hidden.Contact}`, body: { tags: 'batch' } },
      ],
    }),
  ],
  'GET /Changeset': () => [
    ...QUESTIONS.map((question) => get(`/Changeset${question}`)),
    get(`/Changeset`, { accept: 'text/event-stream' }),
  ],
  'GET /Changeset/count': () => QUESTIONS.map((question) => get(`/Changeset/count${question}`)),
  'GET /Changeset/aggregate': () => [get(`/Changeset/aggregate?group=title`), get(`/Changeset/aggregate?max=title`)],
  'GET /Changeset/:id': ({ changeset, hiddenChangesets }) =>
    [changeset, ...hiddenChangesets].flatMap((id) => [
      get(`/Changeset/${id}`),
      get(`/Changeset/${id}?asOf=2030-01-01T00:00:00Z`),
      get(`/Changeset/${id}/history`),
    ]),
  'GET /Changeset/:id/effect': ({ changeset, hiddenChangesets }) =>
    [changeset, ...hiddenChangesets].map((id) => get(`/Changeset/${id}/effect`)),
  'POST /Changeset': ({ hidden }) => [
    send('POST', `/Changeset`, { title: 'empty' }),
    send('POST', `/Changeset`, { from: 'nowhere' }),
    send('POST', `/Changeset`, {
      title: 'given',
      operations: [{ type: 'Contact', verb: 'update', id: hidden.Contact, data: { phone: '2' } }],
    }),
  ],
  'GET /metrics': () => [get('/metrics'), get('/metrics?asOf=2030-01-01T00:00:00Z')],
  'GET /Metric/:id/series': (planted) =>
    rows(planted)
      .filter(({ type }) => type === 'Metric')
      .map(({ id }) => get(`/Metric/${id}/series`)),
  'POST /FeatureFlag/:id/evaluate': ({ hidden }) => [
    send('POST', `/FeatureFlag/${hidden.FeatureFlag}/evaluate`),
    send('POST', '/FeatureFlag/hidden/evaluate'),
  ],
  'POST /import/:type': () => [
    send('POST', '/import/Contact', [
      { name: 'i', title: 'mine' },
      { name: 'j', title: 'mine', email: `${MARK}@example.org` },
    ]),
    send('POST', '/import/Contact?upsert=email', [{ name: 'up', email: `${MARK}@example.org`, title: 'mine' }]),
    send('POST', '/import/Contact?dryRun=true', [{ name: 'i', title: 'mine' }]),
  ],
  'GET /export/:type': () =>
    TYPES.flatMap((type) =>
      ['json', 'ndjson', 'csv', 'parquet'].map((format) => get(`/export/${type}?format=${format}`)),
    ),
  'POST /sync': (planted) => [
    send('POST', '/sync', { changes: [] }),
    send('POST', '/sync', {
      changes: [
        {
          type: 'Contact',
          id: planted.hidden.Contact,
          operation: 'update',
          data: { tags: 's' },
          timestamp: '2030-01-01T00:00:00Z',
        },
        { type: 'Contact', id: planted.hidden.Contact, operation: 'delete', timestamp: '2030-01-01T00:00:00Z' },
      ],
    }),
  ],
  'GET /checkpoint': () => [get('/checkpoint'), get('/checkpoint', { accept: 'application/json' })],
  'GET /consistency': () => [get('/consistency?from=1'), get('/consistency?from=2&to=3')],
  'GET /proof/:eventId': ({ secretIds }) => [
    ...secretIds.map((id) => get(`/proof/${id}`)),
    ...Array.from({ length: 60 }, (_, i) => get(`/proof/${i + 1}`)),
    ...Array.from({ length: 10 }, (_, i) => get(`/proof/${i + 1}?format=html`)),
  ],
  'POST /mcp': (planted) => mcp(planted),
  'POST /do': (planted) => [
    ...scripts(planted),
    ...scripts(planted).map((probe) => ({ ...probe, path: '/do?dryRun=true' })),
  ],
  'POST /undo/:correlation': ({ correlation }) => [send('POST', `/undo/${correlation}`)],
  'GET /schema/:type/hooks/:name': () => [get('/schema/Contact/hooks/creating')],
  'PUT /schema/:type/hooks/:name': () => [
    send('PUT', '/schema/Contact/hooks/creating', { code: '(entity) => { throw new Error(JSON.stringify(entity)) }' }),
  ],
  'DELETE /schema/:type/hooks/:name': () => [{ method: 'DELETE', path: '/schema/Contact/hooks/creating' }],
  'POST /session': () => [
    send('POST', '/session', { email: `${MARK}@example.org`, password: 'correct horse battery' }),
  ],
  'GET /account/sessions': () => [get('/account/sessions'), get('/account/sessions?user=user_x')],
  'GET /account/passkeys': () => [get('/account/passkeys'), get('/account/passkeys?user=user_x')],
  'GET /account/tokens': () => [get('/account/tokens'), get('/account/tokens?user=all')],
  'GET /schema/roles/:name': () => [get('/schema/roles/Admin'), get('/schema/roles/Hidden')],
  'PUT /schema/roles/:name': () => [send('PUT', '/schema/roles/Walker', { scopes: 'read:crm' })],
  'DELETE /schema/roles/:name': () => [{ method: 'DELETE', path: '/schema/roles/Walker' }],
  'PUT /schema/:type': () => [
    send('PUT', '/schema/Contact', { $domain: 'billing' }),
    send('PUT', '/schema/Ship', { name: 'string' }),
  ],
  'POST /schema/:type/rename': () => [send('POST', '/schema/Contact/rename', { from: 'name', to: 'label' })],
  'POST /schema/:type/retype': () => [send('POST', '/schema/Contact/retype', { field: 'name', to: 'number' })],
  'POST /schema/plan': () => [
    send('POST', '/schema/plan'),
    send('POST', '/schema/plan', {
      types: { Contact: { name: 'number', rank: 'string!' }, Ship: { name: 'string!', flag: 'string' } },
      hooks: { Contact: { creating: '(contact) => ({})' } },
      roles: { Walker: { scopes: 'admin:all' } },
      prune: true,
    }),
  ],
  'DELETE /schema/:type': () => [{ method: 'DELETE', path: '/schema/Ship' }],
  'GET /Webhook/:id/deliveries': ({ webhook, hiddenWebhook }) => [
    get(`/Webhook/${webhook}/deliveries`),
    get(`/Webhook/${hiddenWebhook}/deliveries`),
  ],
  'POST /Webhook/:id/redeliver': ({ hiddenWebhook }) => [send('POST', `/Webhook/${hiddenWebhook}/redeliver`)],
  'POST /Webhook/:id/rotate': ({ hiddenWebhook }) => [send('POST', `/Webhook/${hiddenWebhook}/rotate`)],
  'POST /Webhook/:id/test': ({ hiddenWebhook }) => [send('POST', `/Webhook/${hiddenWebhook}/test`)],
  'GET /Workflow/:id/runs': (planted) => workflows(planted).map((id) => get(`/Workflow/${id}/runs`)),
  'GET /Workflow/:id/runs/:run': (planted) =>
    workflows(planted).map((id) => get(`/Workflow/${id}/runs/${planted.run}`)),
  'GET /Agent/:id/runs': ({ hidden }) => [get(`/Agent/${hidden.Agent}/runs`)],
  'GET /Agent/:id/runs/:run': ({ hidden, run }) => [get(`/Agent/${hidden.Agent}/runs/${run}`)],
  'POST /Workflow/:id/runs/:run/retry': (planted) =>
    workflows(planted).map((id) => send('POST', `/Workflow/${id}/runs/${planted.run}/retry`)),
  'POST /Workflow/:id/runs/:run/cancel': (planted) =>
    workflows(planted).map((id) => send('POST', `/Workflow/${id}/runs/${planted.run}/cancel`)),
  'POST /Workflow/:id/test': (planted) =>
    workflows(planted).flatMap((id) => [
      send('POST', `/Workflow/${id}/test`, { event: planted.hiddenEvent }),
      send('POST', `/Workflow/${id}/test`, { event: { type: 'Contact.created', data: { name: 'x' } } }),
      send('POST', `/Workflow/${id}/test`, {
        event: { type: 'Contact.created', data: {} },
        workflow: {
          steps: [{ verb: 'update', type: 'Contact', id: planted.hidden.Contact, args: { tags: 'x' } }],
        },
      }),
    ]),
}

/** The requests for a route: its own, or the one that its description has as the example. */
export function probesOf(route: Route, planted: Planted): readonly Probe[] {
  const own = PROBES[`${route.method} ${route.path}`]
  return own ? own(planted).flatMap((probe) => [probe, ...atPlural(probe)]) : [exampleOf(route)]
}

function exampleOf({ method, path, body }: Route): Probe {
  const at = path.replace(':type', 'Contact').replace(/:\w+/g, 'x')
  if (method === 'GET' || method === 'DELETE') return { method, path: at }
  const content = body && 'content' in body ? Object.values(body.content) : []
  return send(method, at, content[0]?.example)
}

/** The same request at the plural path of a type that has routes of its own. */
function atPlural(probe: Probe): Probe[] {
  const [, type = ''] = /^\/(\w+)/.exec(probe.path) ?? []
  const { path } = Object.values(catalogue).find(({ name }) => name === type) ?? {}
  return path && OWN_ROUTES.includes(type) ? [{ ...probe, path: probe.path.replace(type, path) }] : []
}

const OWN_ROUTES = ['Changeset', 'Event', 'FeatureFlag', 'Form', 'Metric', 'Webhook', 'Workflow']

/** Both workflows: the one that the key sees has run for hidden contacts. */
const workflows = ({ visible, hidden }: Planted) => [visible.Workflow!, hidden.Workflow!]

/** Every tool of MCP over every type. */
function mcp(planted: Planted): Probe[] {
  const call = (name: string, input: object) =>
    send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } })
  return [
    send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    ...TYPES.flatMap((type) => [
      call('search', { type }),
      call('search', { type, filter: { name: { $regex: 'HIDDEN' } } }),
    ]),
    ...rows(planted).map(({ type, id }) => call('fetch', { type, id })),
    ...['Schema', 'Status'].map((type) => call('fetch', { type })),
    call('fetch', { type: 'Metric', id: 'pipeline' }),
    ...scripts(planted).map(({ body }) => call('do', body as object)),
  ]
}

/** Every function that code can call. */
function scripts({ hidden, visible, run }: Planted): Probe[] {
  const codes = [
    ...TYPES.flatMap((type) => [
      `await $.${type}.find({})`,
      `await $.${type}.findOne({ name: { $regex: 'HIDDEN' } })`,
      `await $.${type}.count({ name: { $regex: 'HIDDEN' } })`,
    ]),
    ...Object.entries(hidden).flatMap(([type, id]) => [
      `await $.${type}.get('${id}')`,
      `await $.${type}.update('${id}', { tags: 'code' })`,
      `await $.${type}.delete('${id}')`,
    ]),
    ...[visible.Workflow, hidden.Workflow].flatMap((id) => [
      `await $.Workflow.runs('${id}')`,
      `await $.Workflow.run('${id}', '${run}')`,
      `await $.Workflow.retryRun('${id}', '${run}')`,
    ]),
    ...Object.entries(hidden).map(([type, id]) => `await $.${type}.timers('${id}')`),
    'await $.events({ limit: 1000 })',
    "await $.Contact.create({ name: 'by code', title: 'mine' })",
  ]
  return codes.map((code) =>
    send('POST', '/do', { code: `try { ${code.replace('await', 'return await')} } catch (e) { return e.message }` }),
  )
}
