import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)

const GATE = {
  name: 'string',
  status: 'Draft | Queued | Open | Shut = Draft',
  open: { from: ['Draft', 'Queued'], set: { status: 'Open' } },
  reopen: { from: 'Shut', set: { status: 'Open' } },
  shut: { from: 'Open', set: { status: 'Shut' } },
  $guarded: true,
  $start: ['Queued'],
}

beforeAll(async () => {
  host = await testApp()
  await sent('PUT', '/~acme/schema/Gate', GATE)
})
afterAll(() => host.stop())

async function made(fields: object = {}): Promise<string> {
  const { status, body } = await sent('POST', '/~acme/Gate', fields)
  expect(status).toBe(201)
  return body.$id
}

verifies('guard.state', 'only verbs change a guarded state; the refusal names those that lead there', async () => {
  const id = await made()

  const put = await sent('PUT', `/~acme/Gate/${id}`, { status: 'Open', name: 'x' })
  const verb = await sent('POST', `/~acme/Gate/${id}/update`, { status: 'Shut' })
  const cleared = await sent('PUT', `/~acme/Gate/${id}`, { status: null })
  const same = await sent('PUT', `/~acme/Gate/${id}`, { status: 'Draft', name: 'y' })
  const opened = await sent('POST', `/~acme/Gate/${id}/open`, { status: 'Shut' })

  expect([put.status, put.body.error, put.body.field, put.body.verbs]).toEqual([
    409,
    'invalid_transition',
    'status',
    ['open', 'reopen'],
  ])
  expect(put.body.message).toBe(
    'The status of Gate is guarded. Only verbs can change status. open or reopen leads to Open.',
  )
  expect([verb.body.verbs, cleared.status]).toEqual([['shut'], 409])
  expect([same.status, opened.status, opened.body.status, opened.body.name]).toEqual([200, 200, 'Open', 'y'])
})

verifies('guard.start', 'a guarded type begins in its default or a declared state', async () => {
  const answers = []
  for (const status of ['Draft', 'Queued', 'Open', 'Shut', null]) {
    answers.push((await sent('POST', '/~acme/Gate', { status })).status)
  }

  expect(answers).toEqual([201, 201, 409, 409, 409])
})

verifies('guard.ways', 'guards hold for imports, batches and syncs; rollbacks and undos go back', async () => {
  const id = await made()
  const imported = await sent('POST', '/~acme/import/Gate', [{ name: 'a' }, { status: 'Open' }, { status: 'Queued' }])
  const upserted = await sent('POST', '/~acme/import/Gate?upsert=$id', [{ $id: id, status: 'Open' }])
  const batch = await sent('POST', '/~acme/batch', {
    operations: [{ id: 'a', method: 'PUT', path: `/Gate/${id}`, body: { status: 'Open' } }],
  })
  const synced = await sent('POST', '/~acme/sync', {
    changes: [{ type: 'Gate', id, operation: 'update', data: { status: 'Open' }, timestamp: '2030-01-01T00:00:00Z' }],
  })
  const done = await sent('POST', '/~acme/batch', {
    operations: [{ id: 'a', method: 'POST', path: `/Gate/${id}/open` }],
  })

  const undone = await sent('POST', `/~acme/undo/${done.body.correlation}`)

  expect(imported.body.details.map((one: any) => one.row)).toEqual([1])
  expect(upserted.body.details).toHaveLength(1)
  expect(batch.body.results[0].status).toBe(409)
  expect(synced.body.rejected).toHaveLength(1)
  expect([undone.status, (await sent('GET', `/~acme/Gate/${id}`)).body.status]).toEqual([200, 'Draft'])
})

test('a guarded Deal advances to a state in its order, and nowhere else', async () => {
  await sent('PUT', '/~guarded/schema/Deal', { $guarded: true })
  const { body: deal } = await sent('POST', '/~guarded/Deal', { name: 'D' })

  const won = await sent('PUT', `/~guarded/Deal/${deal.$id}`, { stage: 'Won' })
  const lost = await sent('POST', `/~guarded/Deal/${deal.$id}/advance`, { stage: 'Lost' })
  const proposal = await sent('POST', `/~guarded/Deal/${deal.$id}/advance`, { stage: 'Proposal' })

  expect([won.status, won.body.verbs]).toEqual([409, ['win', 'advance']])
  expect([lost.status, lost.body.verbs]).toEqual([409, ['lose']])
  expect([proposal.status, proposal.body.stage]).toEqual([200, 'Proposal'])
})

verifies('guard.default', 'built-in types are not guarded until a tenant says so', async () => {
  const free = await sent('POST', '/~free/Deal', { name: 'D', stage: 'Won' })

  expect([free.status, (await sent('GET', '/~free/schema/Deal')).body.guarded]).toEqual([201, false])
})

test.each([
  [{ name: 'string', $guarded: true }, '$guarded'],
  [{ ...GATE, $guarded: 'yes' }, '$guarded'],
  [{ ...GATE, $start: ['Nowhere'] }, '$start'],
])('%j is refused', async (notation, field) => {
  const { status, body } = await sent('PUT', '/~acme/schema/Odd', notation)

  expect([status, body.details[0].field]).toEqual([422, field])
})
