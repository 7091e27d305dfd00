import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT } from '../host.ts'
import { type Stage, stageAt } from './ask.ts'
import { type Bundle, dryRun, startMiniflare } from './miniflare.ts'

let bundle: Bundle
let running: Awaited<ReturnType<typeof startMiniflare>>
let stage: Stage

beforeAll(async () => {
  bundle = await dryRun()
  running = await startMiniflare(bundle.worker, { TILDE_BACKUP_SECONDS: '1' })
  stage = stageAt(() => running.url)
})
afterAll(async () => {
  await running?.stop()
  bundle?.remove()
})

test('wrangler accepts the configuration, and the Worker is small enough for every plan', () => {
  for (const binding of ['TENANTS', 'DIRECTORY', 'LOADER', 'BACKUPS', 'RATE', 'ASSETS'])
    expect(bundle.said).toContain(`env.${binding}`)
  const [, kib] = /gzip: ([\d.]+) KiB/.exec(bundle.said)!
  expect(Number(kib)).toBeLessThan(3_072)
})

test('the console and the page of the API are served with their guards', async () => {
  const get = (path: string, accept = 'text/html') => stage.as('')('GET', path, undefined, { accept })
  const console = await get('/console')
  const script = /src="([^"]+\.js)"/.exec(console.text)![1]!

  expect([console.status, (await get(script)).status]).toEqual([200, 200])
  expect(console.headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const path of ['/docs', '/docs/docs.js', '/docs/swagger-ui.js', '/docs/swagger-ui.css', '/~acme/docs'])
    expect((await get(path)).status, path).toBe(200)
  expect((await get('/console/nothing.js')).status).toBe(404)
  expect((await get('/')).headers.get('location')).toBe('/console')
  expect((await get('/~acme')).headers.get('location')).toBe('/console#/~acme')
  expect((await stage.request('GET', '/~acme/docs')).status).not.toBe(200)
})

test('a key over its rate limit gets 429, and the operator is not counted', async () => {
  const { body } = await stage.request('POST', '/~often/api-keys', { name: 'k', scopes: 'read:crm' })
  const ask = stage.as(body.secret)
  const statuses = new Set<number>()
  // The limit is 500 a minute: a slow machine may need more than one minute for the first ones.
  while (!statuses.has(429)) {
    const replies = await Promise.all(Array.from({ length: 60 }, () => ask('GET', '/~often/Contact/count')))
    for (const { status } of replies) statuses.add(status)
  }

  expect(statuses).toEqual(new Set([200, 429]))
  expect((await ask('GET', '/~often/Contact')).headers.get('retry-after')).toBe('60')
  expect((await stage.request('GET', '/~often/Contact')).status).toBe(200)
})

/** As much of a bucket as is used here: the types of miniflare depend on those of the program around them. */
interface Bucket {
  list(options: { prefix: string }): Promise<{ objects: { key: string }[] }>
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>
}

const bucketOf = async (miniflare: (typeof running)['miniflare']) =>
  (await miniflare.getR2Bucket('BACKUPS')) as unknown as Bucket

describe('backups in R2', () => {
  const keys = async (prefix: string) => {
    const bucket = await bucketOf(running.miniflare)
    return (await bucket.list({ prefix })).objects.map(({ key }) => key)
  }
  const restored = async (slug: string) =>
    expect
      .poll(async () => (await stage.request('GET', `/operator/tenants/${slug}`)).body.restoring, { timeout: 60_000 })
      .toBe(undefined)
  const verdict = async (slug: string) => (await stage.request('GET', `/operator/tenants/${slug}/verify`)).body

  test('are made by alarm, and restored under the same name with keys that work, or under another without', async () => {
    const { body } = await stage.request('POST', '/~kept/api-keys', { name: 'k', scopes: 'write:crm' })
    for (const name of ['Ada', 'Bob']) await stage.request('POST', '/~kept/Contact', { name })
    await expect.poll(() => keys('kept/'), { timeout: 30_000 }).toHaveLength(2)
    const before = await verdict('kept')

    const copy = await stage.request('PUT', '/operator/tenants/copy/restore?from=kept')
    await restored('copy')
    const taken = await stage.request('PUT', '/operator/tenants/kept/restore?from=kept')
    await stage.request('DELETE', '/operator/tenants/kept')
    await stage.request('PUT', '/operator/tenants/kept/restore?from=kept')
    await restored('kept')

    expect([copy.status, taken.status]).toEqual([202, 409])
    expect(await verdict('copy')).toEqual({ ...before, tenant: 'copy' })
    expect(await verdict('kept')).toEqual(before)
    expect((await stage.as(body.secret)('POST', '/~kept/Contact', { name: 'Cleo' })).status).toBe(201)
    expect((await stage.as(`${body.secret.split('~')[0]}~copy`)('GET', '/~copy/Contact')).status).toBe(401)
    expect((await stage.request('PUT', '/operator/tenants/x/restore?from=nobody')).status).toBe(404)
  })

  test('are many segments of a long log, which the command line restores too, as of a moment if asked', async () => {
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => JSON.stringify({ name: `C${from + i}`, note: 'x'.repeat(700) })).join(
        '\n',
      )
    const ndjson = { 'content-type': 'application/x-ndjson' }
    await stage.request('POST', '/~long/import/Contact', rows(0, 1_500), ndjson)
    const { body: info } = await stage.request('GET', '/operator/tenants/long')
    await new Promise((done) => setTimeout(done, 20))
    await stage.request('POST', '/~long/import/Contact', rows(1_500, 1_500), ndjson)
    const before = await verdict('long')
    const bucket = await bucketOf(running.miniflare)
    const settled = async () => (await keys('long/')).filter((key) => key.endsWith('.gz')).length
    await expect.poll(settled, { timeout: 60_000 }).toBeGreaterThan(2)
    await new Promise((done) => setTimeout(done, 3_000))

    await stage.request('PUT', '/operator/tenants/long-2/restore?from=long')
    await stage.request('PUT', `/operator/tenants/long-3/restore?from=long&asOf=${info.updatedAt}`)
    await restored('long-2')
    await restored('long-3')
    const tilde = tildeWith({ TILDE_URL: running.url, TILDE_ROOT_KEY: ROOT })
    mkdirSync(join(tilde.folder, 'from-r2'))
    for (const key of await keys('long/')) {
      const bytes = await (await bucket.get(key))!.arrayBuffer()
      writeFileSync(join(tilde.folder, 'from-r2', key.split('/').at(-1)!), new Uint8Array(bytes))
    }
    const byHand = await tilde('restore', 'from-r2', '--as', 'long-4', '--json')

    expect(readdirSync(join(tilde.folder, 'from-r2')).length).toBeGreaterThan(2)
    expect(await verdict('long-2')).toEqual({ ...before, tenant: 'long-2' })
    expect((await stage.request('GET', '/~long-3/Contact')).body.total).toBe(1_500)
    expect(byHand.json).toMatchObject({ events: 3_000, head: before.head.hash })
  })
})

test('agents run code, and a fork is made slice by slice', async () => {
  const { body } = await stage.request('POST', '/~long/do', { code: 'const n: number = await $.Contact.count(); n' })
  const fork = await stage.request('POST', '/operator/tenants/long/fork', { to: 'long-fork' })

  expect(body.result).toBe(3_000)
  expect([fork.status, fork.body.events]).toEqual([201, 3_000])
})
