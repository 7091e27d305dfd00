import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Reply, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-quarantine-'))
const config = join(folder, 'hooks.mjs')

// What an operator's code can do to the thread it runs in, by the name of the contact.
const HOOKS = `
  export function hooks({ Contact }) {
    Contact.creating((contact) => {
      if (contact.name === 'die') process.exit(1)
      if (contact.name === 'hang') for (;;);
    })
    Contact.created((contact) => {
      if (contact.name === 'die later') process.exit(1)
    })
  }
`

let app: TestApp

beforeAll(() => writeFileSync(config, HOOKS))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => app?.stop())

async function start(env: Record<string, string> = {}): Promise<void> {
  app = await testApp(env, { workers: '1', config })
  for (const tenant of ['ill', 'well']) await app.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })
}

verifies(
  'fair.quarantine',
  'a tenant that ended its thread twice within a minute is alone out of service until it is released',
  async () => {
    await start()
    const key = await app.key('ill', 'admin:all')

    await die('ill')
    const between = await again(() => app.request('GET', '/~ill/Contact'))
    await die('ill')
    const well = await again(() => app.request('POST', '/~well/Contact', { name: 'Bob' }))
    const refused = await app.request('GET', '/~ill/Contact')
    const withKey = await app.as(key)('GET', '/~ill/Contact')
    const nobody = await app.as('')('GET', '/~ill/Contact')
    const verify = await app.request('GET', '/operator/tenants/ill/verify')
    const list = await app.request('GET', '/operator/tenants')
    const numbers = await app.request('GET', '/metrics')
    const released = await app.request('POST', '/operator/tenants/ill/release')
    const after = await app.request('GET', '/~ill/Contact')
    const twice = await app.request('POST', '/operator/tenants/ill/release')
    const log = await app.request('GET', '/operator/log')

    expect(between.status).toBe(200)
    expect(well.status).toBe(201)
    expect([refused, withKey, verify].map(({ status, body }) => [status, body.error])).toEqual(
      Array(3).fill([503, 'quarantined']),
    )
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
    expect(nobody.status).toBe(401)
    expect(list.body.results).toMatchObject([{ tenant: 'ill', quarantined: true }, { tenant: 'well' }])
    expect(list.body.results[1]).not.toHaveProperty('quarantined')
    expect(numbers.text).toMatch(/^tilde_quarantined_tenants 1$/m)
    expect([released.status, released.body]).toEqual([200, { tenant: 'ill', released: true }])
    expect([after.status, after.body.total]).toEqual([200, 1])
    expect(twice.body.released).toBe(false)
    expect(log.body.results).toMatchObject([
      { action: 'release', tenant: 'ill' },
      { action: 'release', tenant: 'ill' },
      { action: 'quarantine', tenant: 'ill' },
    ])
  },
)

test('the tenant that hangs is the one to blame, and not those that wait behind it', async () => {
  await start({ TILDE_WORKER_TIMEOUT: '3s' })

  for (let round = 0; round < 2; round++) {
    const waiting = Array.from({ length: 10 }, () => app.request('GET', '/~well/Contact'))
    const hanging = app.request('POST', '/~ill/Contact', { name: 'hang' })
    const behind = Array.from({ length: 10 }, () => app.request('GET', '/~well/Contact'))
    await Promise.all([...waiting, hanging, ...behind])
    await again(() => app.request('GET', '/~well/Contact'))
  }
  const list = await app.request('GET', '/operator/tenants')

  expect(list.body.results).toMatchObject([{ tenant: 'ill', quarantined: true }, { tenant: 'well' }])
  expect(list.body.results[1]).not.toHaveProperty('quarantined')
})

test('a tenant whose own work ends the thread again when it reopens is quarantined without a request', async () => {
  await start()

  await app.request('POST', '/~ill/Contact', { name: 'die later' })

  await expect
    .poll(async () => (await app.request('GET', '/~ill/Contact')).body.error, { timeout: 20_000 })
    .toBe('quarantined')
  expect((await again(() => app.request('GET', '/~well/Contact'))).body.total).toBe(1)
})

test('a quarantined tenant can be deleted, and its slug used again', async () => {
  await start()
  await die('ill')
  await again(() => app.request('GET', '/~ill/Contact'))
  await die('ill')
  await again(() => app.request('GET', '/~well/Contact'))

  const deleted = await app.request('DELETE', '/operator/tenants/ill')
  const created = await app.request('POST', '/~ill/Contact', { name: 'Ada' })

  expect([deleted.status, created.status]).toEqual([204, 201])
})

test('only a tenant that exists can be released', async () => {
  app = await testApp()

  expect((await app.request('POST', '/operator/tenants/nobody/release')).status).toBe(404)
})

async function die(tenant: string): Promise<void> {
  const { status } = await app.request('POST', `/~${tenant}/Contact`, { name: 'die' })
  expect(status).toBe(503)
}

/** Asks until the answer is not 503, as clients do. */
async function again(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await ask()
    if (reply.status !== 503) return reply
    await new Promise((done) => setTimeout(done, 50))
  }
}
