import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

type Contact = components['schemas']['Contact']

const [url = '', key = ''] = process.argv.slice(2)
const api = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
const done: string[] = []

/** What the call gave, or a sentence on why not. */
function given<T>(job: string, { data, error }: { data?: T; error?: components['schemas']['Error'] }): NonNullable<T> {
  if (error) throw new Error(`${job}: ${error.error} ${error.message}`)
  if (data === undefined || data === null) throw new Error(`${job}: nothing`)
  return data
}

/** The entity of a write, which is not a dry run. */
function entity<T extends { $id: string }>(job: string, result: T | components['schemas']['DryRun']): T {
  if ('$id' in result) return result
  throw new Error(`${job}: a dry run`)
}

function isTrue(job: string, holds: boolean): void {
  if (!holds) throw new Error(job)
  done.push(job)
}

const organization = entity(
  'create',
  given('create', await api.POST('/Organization', { body: { name: 'Analytical Engines', industry: 'Software' } })),
)
const ada: Contact = entity(
  'create',
  given('create', await api.POST('/Contact', { body: { name: 'Ada', organization: organization.$id } })),
)
for (const name of ['Bob', 'Cleo', 'Dan']) await api.POST('/Contact', { body: { name, leadScore: name.length } })
isTrue('create', ada.name === 'Ada' && ada.stage === 'Lead')

const read = given(
  'read',
  await api.GET('/Contact/{id}', { params: { path: { id: ada.$id }, query: { include: 'organization' } } }),
)
const employer = read.organization
isTrue('read', employer !== null && typeof employer === 'object' && employer.name === 'Analytical Engines')

const names: string[] = []
let cursor: string | null | undefined
do {
  const filter = JSON.stringify({ stage: 'Lead', name: { $gte: 'B' } })
  const query = { filter, sort: 'name', limit: 2, ...(cursor && { cursor }) }
  const page = given('list', await api.GET('/Contact', { params: { query } }))
  names.push(...page.results.map((one) => one.name ?? ''))
  cursor = page.cursor
} while (cursor)
const first = given('list', await api.GET('/Contact', { params: { query: { sort: 'name' } } })).results[0]?.name
isTrue('list', names.join() === 'Bob,Cleo,Dan' && first === 'Ada')

const updated = entity(
  'update',
  given(
    'update',
    await api.PUT('/Contact/{id}', {
      params: { path: { id: ada.$id }, header: { 'If-Match': '"1"' } },
      body: { email: 'ada@example.com', phone: null },
    }),
  ),
)
isTrue('update', updated.$version === 2 && updated.email === 'ada@example.com')

const verb = given(
  'verb',
  await api.POST('/Contact/{id}/qualify', { params: { path: { id: ada.$id } }, body: { leadScore: 9 } }),
)
isTrue('verb', entity('verb', verb).stage === 'Qualified')

const past = given('past', await api.GET('/Contact/{id}', { params: { path: { id: ada.$id }, query: { asOf: '2' } } }))
const history = given('past', await api.GET('/Contact/{id}/history', { params: { path: { id: ada.$id } } }))
isTrue('past', past.stage === 'Lead' && history.results.map(({ verb }) => verb).join() === 'qualify,update,create')

const batch = given(
  'batch',
  await api.POST('/batch', {
    body: {
      atomic: true,
      operations: [
        { id: 'eve', method: 'POST', path: '/Contact', body: { name: 'Eve' } },
        { id: 'qualify', method: 'POST', path: '/Contact/${eve.$id}/qualify' },
      ],
    },
  }),
)
isTrue('batch', (batch.results ?? []).map(({ status }) => status).join() === '201,200')

const groups = given(
  'aggregate',
  await api.GET('/Contact/aggregate', { params: { query: { group: 'stage', max: 'leadScore' } } }),
)
isTrue('aggregate', groups.total === 5 && groups.results[0]?.count === 3)

const rows: components['schemas']['ContactDraft'][] = [{ name: 'Fay' }, { name: 'Gus' }]
const report = given('import', await api.POST('/import/{type}', { params: { path: { type: 'Contact' } }, body: rows }))
const exported = given(
  'export',
  await api.GET('/export/{type}', { params: { path: { type: 'Contact' }, query: { format: 'json' } } }),
)
isTrue(
  'import and export',
  'imported' in report && report.imported === 2 && Array.isArray(exported) && exported.length === 7,
)

const apiKey = entity('key', given('key', await api.POST('/ApiKey', { body: { name: 'reader', scopes: 'read:crm' } })))
isTrue('key', 'secret' in apiKey && typeof apiKey.secret === 'string')

const events = given(
  'events',
  await api.GET('/events', { params: { query: { type: 'Contact.qualified', limit: 10 } } }),
)
const stream = typeof events === 'string' ? [] : events.results
isTrue('events', stream.length === 2 && stream.every((one) => one.seq !== undefined))

const metric = given('metric', await api.GET('/Metric/{id}', { params: { path: { id: 'mrr' } } }))
isTrue('metric', 'builtIn' in metric && (metric.value === null || metric.value >= 0))

const gone = await api.DELETE('/Contact/{id}', { params: { path: { id: ada.$id } } })
const missing = await api.GET('/Contact/{id}', { params: { path: { id: ada.$id } } })
isTrue('delete', gone.response.status === 204 && missing.error?.error === 'not_found')

process.stdout.write(JSON.stringify(done))
