import { expect, test } from 'vitest'
import { type Reply, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const LIMIT = 1_048_576
/** Text that no page of the database holds twice. */
const words = (seed: number) =>
  Array.from({ length: 2_000 }, (_, i) => (seed * 7_919 + i * 104_729).toString(36)).join(' ')

/** Writes contacts until the service refuses one. Returns those that it took, and the refusal. */
async function fill(app: TestApp): Promise<{ ids: string[]; refused: Reply; warnings: (string | undefined)[] }> {
  const ids: string[] = []
  const warnings: (string | undefined)[] = []
  for (let i = 0; i < 200; i++) {
    const before = (await app.request('GET', '/~acme/status')).body.storage
    const reply = await app.request('POST', '/~acme/Contact', { name: `c${i}`, notes: words(i) })
    // A write is refused exactly if the tenant would be beyond its limit.
    if (before.bytes >= LIMIT) expect(reply.status, reply.text).toBe(507)
    if (reply.status === 507) expect(reply.body.bytes).toBeGreaterThanOrEqual(LIMIT)
    else expect(reply.status, reply.text).toBe(201)
    if (reply.status === 507) return { ids, refused: reply, warnings }
    warnings.push(before.warning)
    ids.push(reply.body.$id)
  }
  throw new Error('The tenant has no limit.')
}

verifies(
  'tenant.quota',
  'a tenant without room refuses writes and still reads, deletes and erases; then it has room again',
  async () => {
    const app = await testApp({ TILDE_TENANT_LIMIT: '1MiB' })
    const { body: workflow } = await app.request('POST', '/~acme/Workflow', {
      name: 'w',
      triggerEvent: 'Deal.created',
      steps: [{ verb: 'create', type: 'Comment', args: { body: 'x' } }],
    })
    await app.request('POST', `/~acme/Workflow/${workflow.$id}/activate`)
    const key = await app.key('acme', 'write:all')
    const { ids, refused, warnings } = await fill(app)

    expect(refused.body).toMatchObject({ error: 'over_quota', limit: LIMIT })
    // First nothing, then the warning, in this order.
    const first = warnings.indexOf('near_quota')
    expect(first).toBeGreaterThan(0)
    expect(warnings.map((warning) => warning === 'near_quota')).toEqual(warnings.map((_, i) => i >= first))
    // Events of deletes need room as well. Beyond the limit there is none for the smallest write.
    for (let i = 1; (await app.request('GET', '/~acme/status')).body.storage.bytes < LIMIT + 8_192; i++) {
      expect((await app.request('DELETE', `/~acme/Contact/${ids[i]}`)).status).toBe(204)
    }
    const ask = async (method: string, path: string, body?: unknown) => {
      const { status } = await app.request(method, `/~acme${path}`, body)
      return `${method} ${path.replace(/\/\w+_\w+/, '/:id')} ${status}`
    }
    expect([
      await ask('PATCH', `/Contact/${ids[0]}`, { name: 'n' }),
      await ask('PUT', '/schema/Ship', { name: 'string' }),
      await ask('PUT', '/schema/Contact/hooks/created', { code: '() => {}' }),
      await ask('POST', '/api-keys', { name: 'k', scopes: 'read:all' }),
      await ask('GET', '/Contact?limit=2'),
      await ask('GET', `/Contact/${ids[0]}/history`),
      await ask('GET', '/events?limit=1'),
      await ask('POST', `/Workflow/${workflow.$id}/pause`),
      await ask('DELETE', `/Contact/${ids[0]}`),
    ]).toEqual([
      'PATCH /Contact/:id 507',
      'PUT /schema/Ship 507',
      'PUT /schema/Contact/hooks/created 507',
      'POST /api-keys 507',
      'GET /Contact?limit=2 200',
      'GET /Contact/:id/history 200',
      'GET /events?limit=1 200',
      'POST /Workflow/:id/pause 200',
      'DELETE /Contact/:id 204',
    ])
    const imported = await app.request('POST', '/~acme/import/Contact', [{ name: 'i' }])
    expect(imported.status, imported.text).toBe(507)
    expect((await app.as(key)('POST', '/~acme/Contact', { name: 'other key' })).status).toBe(507)
    const { body: listed } = await app.request('GET', '/operator/tenants')
    expect(listed.results).toEqual([expect.objectContaining({ tenant: 'acme', warning: 'over_quota' })])

    for (const id of ids) {
      const erased = await app.request('POST', `/~acme/Contact/${id}/erase`, { reason: 'room' })
      expect(erased.status, erased.text).toBe(200)
    }

    expect((await app.request('POST', '/~acme/Contact', { name: 'again' })).status).toBe(201)
    expect((await app.request('GET', '/~acme/status')).body.storage.warning).not.toBe('over_quota')
    await app.stop()
  },
  60_000,
)

test('without the setting a tenant has no limit, and its status says how many bytes it has', async () => {
  const app = await testApp()
  await app.request('POST', '/~acme/Contact', { name: 'a' })

  const { storage, automation } = (await app.request('GET', '/~acme/status')).body

  expect(storage).toEqual({ bytes: expect.any(Number) })
  expect(storage.bytes).toBeGreaterThan(10_000)
  expect(automation).toEqual({ perMinute: 10_000, left: 10_000, resumesAt: null })
  await app.stop()
})

verifies('automation.rate', 'a workflow that triggers itself is bounded by the rate of the operator', async () => {
  const app = await testApp({ TILDE_AUTOMATION_RATE: '30' })
  const step = { verb: 'create', type: 'Comment', args: { body: 'x' } }
  const { body: workflow } = await app.request('POST', '/~acme/Workflow', {
    name: 'w',
    triggerEvent: 'Comment.created',
    steps: Array.from({ length: 10 }, () => step),
  })
  await app.request('POST', `/~acme/Workflow/${workflow.$id}/activate`)

  await app.request('POST', '/~acme/Comment', { body: 'first' })

  const automation = async () => (await app.request('GET', '/~acme/status')).body.automation
  await expect.poll(async () => (await automation()).resumesAt, { timeout: 20_000 }).not.toBe(null)
  const { perMinute, left, resumesAt } = await automation()
  expect({ perMinute, left }).toEqual({ perMinute: 30, left: 0 })
  expect(Date.parse(resumesAt)).toBeGreaterThan(Date.now())
  const count = (await app.request('GET', '/~acme/Comment/count')).body.count
  // Whole runs of ten, and the one that uses the budget up.
  expect(count % 10).toBe(1)
  expect(count).toBeLessThanOrEqual(41)
  // A person's own writes do not wait.
  expect((await app.request('POST', '/~acme/Contact', { name: 'a' })).status).toBe(201)
  await app.stop()
})
