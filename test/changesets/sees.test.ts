import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
beforeAll(async () => {
  // On a busy machine, a proposal would become a task.
  app = await testApp({ TILDE_QUERY_TIMEOUT: '1m' })
})
afterAll(() => app.stop())

const at = (path: string) => `/~acme${path}`
const NORTH = { Contact: { city: 'north' } }

verifies('changeset.sees', 'a grant sees a changeset if it covers the rights it was proposed with', async () => {
  const north = (await app.request('POST', at('/Contact'), { name: 'Ada', city: 'north' })).body.$id
  const keys = {
    same: await app.key('acme', 'write:crm', { filter: { Contact: { city: 'north' } } }),
    wider: await app.key('acme', 'write:all'),
    other: await app.key('acme', 'write:crm', { filter: { Contact: { city: 'south' } } }),
    area: await app.key('acme', 'write:billing'),
    'read only': await app.key('acme', 'read:crm'),
    elsewhere: await app.key('acme', 'write:crm', { filter: { Deal: { name: 'x' } } }),
    none: await app.key('acme', ''),
  }
  const narrow = await app.key('acme', 'admin:all', { filter: NORTH })
  // A key that a narrowed key made is within its filter, and so is what it proposes.
  const child = (
    await app.as(narrow)('POST', at('/api-keys'), {
      name: 'c',
      scopes: 'propose:crm',
      filter: { Contact: { stage: 'Lead' } },
    })
  ).body.secret
  const agent = app.as(child)
  const { body } = await agent('PUT', at(`/Contact/${north}?propose=From+the+north`), { phone: '1' })
  const sees = async (key: string) => {
    const send = app.as(key)
    const lists = [
      (await send('GET', at('/changesets'))).body.total ?? 0,
      (await send('GET', at('/changesets/count'))).body.count ?? 0,
      (await send('GET', at('/events?type=Changeset'))).body.results?.length ?? 0,
      (await send('GET', at('/export/Changeset?format=json'))).body?.length ?? 0,
      (await send('GET', at(`/changesets/${body.$id}/history`))).body.total ?? 0,
      (await send('GET', at(`/changesets/${body.$id}`))).status === 200 ? 1 : 0,
    ]
    expect(new Set(lists).size).toBe(1)
    return lists[0]
  }

  const seen = Object.fromEntries(
    await Promise.all(Object.entries(keys).map(async ([name, key]) => [name, await sees(key)])),
  )

  expect(seen).toEqual({ same: 1, wider: 1, other: 0, area: 0, 'read only': 1, elsewhere: 1, none: 0 })
  expect(await sees(narrow)).toBe(1)
  expect(await sees(child)).toBe(1)
  expect((await app.request('GET', at(`/changesets/${body.$id}`))).text).not.toContain('stage')
  expect((await app.as(keys.same)('POST', at(`/changesets/${body.$id}/approve`))).status).toBe(200)
})

test('what the rows of a changeset hold now is shown to those who see them now', async () => {
  const id = (await app.request('POST', at('/Contact'), { name: 'Ada', city: 'north' })).body.$id
  const narrow = app.as(await app.key('acme', 'write:crm', { filter: NORTH }))
  const { body } = await narrow('PUT', at(`/Contact/${id}?propose=Call`), { phone: '1', name: 'Ada L' })
  await app.request('PUT', at(`/Contact/${id}`), { city: 'south', name: 'Secret name', phone: '99' })

  const shown = await narrow('GET', at(`/changesets/${body.$id}`))

  expect(shown.status).toBe(200)
  expect(shown.text).not.toContain('Secret')
  expect(shown.text).not.toContain('99"')
  expect(shown.body.conflicts).toMatchObject([{ operation: 1, reason: `There is no Contact ${id}.` }])
  expect(shown.body.diff[0].changes).toEqual({ phone: { from: null, to: '1' }, name: { from: null, to: 'Ada L' } })
})

verifies('changeset.bounds', 'a changeset is bounded in operations and bytes', async () => {
  const operation = { type: 'Contact', verb: 'create', data: { name: 'x' } }
  const large = { type: 'Contact', verb: 'create', data: { name: 'x', notes: 'y'.repeat(900_000) } }

  const many = await app.request('POST', at('/changesets'), {
    title: 'many',
    operations: Array(10_001).fill(operation),
  })
  // Each proposal repeats those before it: few large ones fill a changeset with less work.
  const proposeSix = async (into: string): Promise<string> => {
    let { body } = await app.request('POST', at(`/batch?propose=${into}`), {
      operations: Array(6).fill({ path: '/Contact', method: 'POST', body: large.data }),
    })
    // A batch that takes long continues as a task.
    while (body.state === 'running') body = (await app.request('GET', at(`/tasks/${body.id}`))).body
    return (body.result ?? body).$id
  }
  const $id = await proposeSix('big')
  const filled = [await proposeSix($id), await proposeSix($id)]
  const big = await app.request('POST', at(`/Contact?propose=${$id}`), large.data)

  expect(many.status).toBe(400)
  expect(many.body).toMatchObject({ error: 'too_many', limit: 10_000 })
  expect(filled).toEqual([$id, $id])
  expect(big.status).toBe(413)
  expect(big.body).toMatchObject({ error: 'too_large', limit: 16_777_216 })
})

test('operations that are given as such are checked like a proposal', async () => {
  const reader = app.as(await app.key('acme', 'read:all'))
  const create = (body: object, send = app.request) => send('POST', at('/changesets'), { title: 't', ...body })
  const operations = [{ type: 'Contact', verb: 'create', data: { name: 'Given' } }]

  const statuses = [
    await create({ operations: [{ type: 'Nope', verb: 'create' }] }),
    await create({ operations: [{ type: 'Contact', verb: 'update' }] }),
    await create({ operations: 'x' }),
    await create({ operations, base: 1_000_000 }),
    await create({ operations: [{ type: 'Webhook', verb: 'create', data: { secret: 'x' } }] }),
    await create({ operations: [{ type: 'Changeset', verb: 'approve', id: 'changeset_x' }] }),
    await create({ operations }, reader),
    await create({ operations }),
  ].map(({ status }) => status)

  expect(statuses).toEqual([422, 422, 422, 422, 400, 400, 403, 201])
})
