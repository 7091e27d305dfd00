import type { Planted } from './planted.ts'
import { MARK } from './planted.ts'

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

/** Requests for every route, under the name of its method and path. A route without an entry fails the walk. */
export const PROBES: { readonly [route: string]: Probes } = {
  'GET ': () => [get('')],
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
  'GET /Form/:id/submissions': ({ hidden }) => [get(`/Form/${hidden.Contact}/submissions`)],
  'GET /forms/:id/submissions': ({ hidden }) => [get(`/forms/${hidden.Contact}/submissions`)],
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
  'GET /events/count': () => QUESTIONS.map((question) => get(`/events/count${question}`)),
  'GET /events/aggregate': () => [get('/events/aggregate?group=name'), get('/events/aggregate?group=name,data.name')],
  'GET /events/:id': ({ secretIds }) => secretIds.map((id) => get(`/events/${id}`)),
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
  ...Object.fromEntries(
    ['changesets', 'Changeset'].flatMap((name): [string, Probes][] => [
      [
        `GET /${name}`,
        () => [
          ...QUESTIONS.map((question) => get(`/${name}${question}`)),
          get(`/${name}`, { accept: 'text/event-stream' }),
        ],
      ],
      [`GET /${name}/count`, () => QUESTIONS.map((question) => get(`/${name}/count${question}`))],
      [`GET /${name}/aggregate`, () => [get(`/${name}/aggregate?group=title`), get(`/${name}/aggregate?max=title`)]],
      [
        `GET /${name}/:id`,
        ({ changeset, hiddenChangesets }) =>
          [changeset, ...hiddenChangesets].flatMap((id) => [
            get(`/${name}/${id}`),
            get(`/${name}/${id}?asOf=2030-01-01T00:00:00Z`),
            get(`/${name}/${id}/history`),
          ]),
      ],
      [
        `GET /${name}/:id/effect`,
        ({ changeset, hiddenChangesets }) => [changeset, ...hiddenChangesets].map((id) => get(`/${name}/${id}/effect`)),
      ],
      [
        `POST /${name}`,
        ({ hidden }) => [
          send('POST', `/${name}`, { title: 'empty' }),
          send('POST', `/${name}`, { from: 'nowhere' }),
          send('POST', `/${name}`, {
            title: 'given',
            operations: [{ type: 'Contact', verb: 'update', id: hidden.Contact, data: { phone: '2' } }],
          }),
        ],
      ],
    ]),
  ),
  'GET /fork': () => [get('/fork')],
  'GET /metrics': () => [get('/metrics'), get('/metrics?asOf=2030-01-01T00:00:00Z')],
  'GET /Metric/:id/series': (planted) =>
    rows(planted)
      .filter(({ type }) => type === 'Metric')
      .map(({ id }) => get(`/Metric/${id}/series`)),
  'GET /metrics/:id/series': (planted) =>
    rows(planted)
      .filter(({ type }) => type === 'Metric')
      .map(({ id }) => get(`/metrics/${id}/series`)),
  'POST /FeatureFlag/:id/evaluate': ({ hidden }) => [
    send('POST', `/FeatureFlag/${hidden.FeatureFlag}/evaluate`),
    send('POST', '/FeatureFlag/hidden/evaluate'),
  ],
  'POST /feature-flags/:id/evaluate': () => [send('POST', '/feature-flags/hidden/evaluate')],
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
  'GET /manifest': () => [get('/manifest')],
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
  'GET /status': () => [get('/status')],
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
  'GET /schema/:type/hooks': () => [get('/schema/Contact/hooks')],
  'GET /schema/:type/hooks/:name': () => [get('/schema/Contact/hooks/creating')],
  'PUT /schema/:type/hooks/:name': () => [
    send('PUT', '/schema/Contact/hooks/creating', { code: '(entity) => { throw new Error(JSON.stringify(entity)) }' }),
  ],
  'DELETE /schema/:type/hooks/:name': () => [{ method: 'DELETE', path: '/schema/Contact/hooks/creating' }],
  'POST /session': () => [
    send('POST', '/session', { email: `${MARK}@example.org`, password: 'correct horse battery' }),
  ],
  'GET /session': () => [get('/session')],
  'DELETE /session': () => [{ method: 'DELETE', path: '/session' }],
  'GET /account/sessions': () => [get('/account/sessions'), get('/account/sessions?user=user_x')],
  'DELETE /account/sessions/:id': () => [{ method: 'DELETE', path: '/account/sessions/session_x' }],
  'PUT /account/password': () => [
    send('PUT', '/account/password', { current: 'x', password: 'correct horse battery' }),
  ],
  'POST /invitation': () => [send('POST', '/invitation', { token: 'x' })],
  'POST /invitation/accept': () => [
    send('POST', '/invitation/accept', { token: 'x', password: 'correct horse battery' }),
  ],
  'POST /session/passkey/options': () => [send('POST', '/session/passkey/options')],
  'POST /session/passkey': () => [send('POST', '/session/passkey', { challenge: 'x', response: {} })],
  'POST /invitation/passkey/options': () => [send('POST', '/invitation/passkey/options', { token: 'x' })],
  'POST /invitation/passkey': () => [send('POST', '/invitation/passkey', { token: 'x', challenge: 'x', response: {} })],
  'GET /account/passkeys': () => [get('/account/passkeys'), get('/account/passkeys?user=user_x')],
  'POST /account/passkeys/options': () => [send('POST', '/account/passkeys/options')],
  'POST /account/passkeys': () => [send('POST', '/account/passkeys', { challenge: 'x', response: {} })],
  'DELETE /account/passkeys/:id': () => [{ method: 'DELETE', path: '/account/passkeys/x' }],
  'GET /session/oidc': () => [get('/session/oidc')],
  'GET /session/oidc/callback': () => [get('/session/oidc/callback?state=x&code=x')],
  'GET /oauth/authorize': () => [get('/oauth/authorize?client_id=x')],
  'POST /oauth/authorize': () => [send('POST', '/oauth/authorize', { request: 'x', decision: 'allow' })],
  'POST /oauth/token': () => [send('POST', '/oauth/token', { grant_type: 'authorization_code', code: 'x' })],
  'POST /oauth/revoke': () => [send('POST', '/oauth/revoke', { token: 'x' })],
  'POST /oauth/register': () => [send('POST', '/oauth/register', { redirect_uris: ['https://app.example/cb'] })],
  'POST /oauth/device': () => [send('POST', '/oauth/device', { client_id: 'tilde-cli' })],
  'GET /oauth/device': () => [get('/oauth/device?user_code=AAAA-AAAA')],
  'GET /account/tokens': () => [get('/account/tokens'), get('/account/tokens?user=all')],
  'DELETE /account/tokens/:id': () => [{ method: 'DELETE', path: '/account/tokens/consent_x' }],
  'GET /schema/roles': () => [get('/schema/roles')],
  'GET /schema/roles/:name': () => [get('/schema/roles/Admin'), get('/schema/roles/Hidden')],
  'PUT /schema/roles/:name': () => [send('PUT', '/schema/roles/Walker', { scopes: 'read:crm' })],
  'DELETE /schema/roles/:name': () => [{ method: 'DELETE', path: '/schema/roles/Walker' }],
  'GET /openapi.json': () => [get('/openapi.json')],
  'GET /llms.txt': () => [get('/llms.txt')],
  'GET /schema': () => [get('/schema')],
  'GET /schema/:type': () => [get('/schema/Contact')],
  'PUT /schema/:type': () => [
    send('PUT', '/schema/Contact', { $domain: 'billing' }),
    send('PUT', '/schema/Ship', { name: 'string' }),
  ],
  'POST /schema/:type/rename': () => [send('POST', '/schema/Contact/rename', { from: 'name', to: 'label' })],
  'POST /schema/:type/retype': () => [send('POST', '/schema/Contact/retype', { field: 'name', to: 'number' })],
  'DELETE /schema/:type': () => [{ method: 'DELETE', path: '/schema/Ship' }],
  ...Object.fromEntries(
    ['webhooks', 'Webhook'].flatMap((name): [string, Probes][] => [
      [
        `GET /${name}/:id/deliveries`,
        ({ webhook, hiddenWebhook }) => [
          get(`/${name}/${webhook}/deliveries`),
          get(`/${name}/${hiddenWebhook}/deliveries`),
        ],
      ],
      [`POST /${name}/:id/redeliver`, ({ hiddenWebhook }) => [send('POST', `/${name}/${hiddenWebhook}/redeliver`)]],
      [`POST /${name}/:id/rotate`, ({ hiddenWebhook }) => [send('POST', `/${name}/${hiddenWebhook}/rotate`)]],
      [`POST /${name}/:id/test`, ({ hiddenWebhook }) => [send('POST', `/${name}/${hiddenWebhook}/test`)]],
    ]),
  ),
  ...Object.fromEntries(
    ['workflows', 'Workflow'].flatMap((name): [string, Probes][] => [
      [`GET /${name}/:id/runs`, (planted) => workflows(planted).map((id) => get(`/${name}/${id}/runs`))],
      [
        `GET /${name}/:id/runs/:run`,
        (planted) => workflows(planted).map((id) => get(`/${name}/${id}/runs/${planted.run}`)),
      ],
      [
        `POST /${name}/:id/runs/:run/retry`,
        (planted) => workflows(planted).map((id) => send('POST', `/${name}/${id}/runs/${planted.run}/retry`)),
      ],
      [
        `POST /${name}/:id/runs/:run/cancel`,
        (planted) => workflows(planted).map((id) => send('POST', `/${name}/${id}/runs/${planted.run}/cancel`)),
      ],
      [
        `POST /${name}/:id/test`,
        (planted) =>
          workflows(planted).flatMap((id) => [
            send('POST', `/${name}/${id}/test`, { event: planted.hiddenEvent }),
            send('POST', `/${name}/${id}/test`, { event: { type: 'Contact.created', data: { name: 'x' } } }),
            send('POST', `/${name}/${id}/test`, {
              event: { type: 'Contact.created', data: {} },
              workflow: {
                steps: [{ verb: 'update', type: 'Contact', id: planted.hidden.Contact, args: { tags: 'x' } }],
              },
            }),
          ]),
      ],
    ]),
  ),
}

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
