import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestApp } from '../host.ts'
import { type Bundle, dryRun, startMiniflare } from '../hosts/miniflare.ts'
import { verifies } from '../verifies.ts'
import { hashOf, send } from './content.ts'

/** More than one part of an upload to R2. */
const LARGE = randomBytes(9_000_000)

let bundle: Bundle
let running: Awaited<ReturnType<typeof startMiniflare>>
const app = { fetch: (path: string, init?: RequestInit) => fetch(`${running.url}${path}`, init) } as TestApp
const json = { 'content-type': 'application/json' }
const request = (method: string, path: string, body?: object) =>
  send(app, method, path, body === undefined ? null : JSON.stringify(body), json)

beforeAll(async () => {
  bundle = await dryRun()
  running = await startMiniflare(bundle.worker, { TILDE_BACKUP_SECONDS: '1', TILDE_FILE_LIMIT: '20000000' })
})
afterAll(async () => {
  await running?.stop()
  bundle?.remove()
})

/** The keys in the bucket of contents. */
async function keys(prefix: string): Promise<string[]> {
  const bucket = (await running.miniflare.getR2Bucket('FILES')) as unknown as {
    list(options: { prefix: string }): Promise<{ objects: { key: string }[] }>
  }
  return (await bucket.list({ prefix })).objects.map(({ key }) => key)
}

async function dealOf(tenant: string): Promise<string> {
  await request('PUT', `/~${tenant}/schema/Deal`, { contract: 'file', papers: 'file[]' })
  const { body } = await request('POST', `/~${tenant}/Deal`, { name: 'D' })
  return `/~${tenant}/Deal/${body.$id}`
}

verifies('file.r2', 'content is in R2, once per tenant, also in parts, and is read in ranges', async () => {
  const deal = await dealOf('r2')

  const sent = await send(app, 'POST', `${deal}/contract?name=large.bin`, LARGE, { 'content-type': 'application/pdf' })
  await send(app, 'POST', `${deal}/papers`, LARGE)
  await send(app, 'POST', `${deal}/papers`, 'small', { 'content-type': 'text/plain' })

  expect(sent.body.contract).toEqual({
    hash: hashOf(LARGE),
    size: LARGE.length,
    type: 'application/pdf',
    name: 'large.bin',
  })
  expect(await keys('r2/')).toHaveLength(2)
  expect(hashOf((await send(app, 'GET', `${deal}/contract`, null)).bytes)).toBe(hashOf(LARGE))
  const part = await send(app, 'GET', `${deal}/contract`, null, { range: 'bytes=8388600-8388700' })
  expect([part.status, Buffer.compare(part.bytes, LARGE.subarray(8_388_600, 8_388_701))]).toEqual([206, 0])
  expect((await send(app, 'GET', `${deal}/papers/1?inline=true`, null)).text).toBe('small')
  const { body: link } = await request('POST', `${deal}/papers/1/link`, { expires: '1m' })
  expect(await (await fetch(link.url.replace(/^https?:\/\/[^/]+/, running.url))).text()).toBe('small')
  expect((await send(app, 'POST', `${deal}/contract`, Buffer.alloc(20_000_001))).status).toBe(413)
  expect(await keys('r2/')).toHaveLength(2)
})

test('uploads in pieces work, and an erasure removes the bytes', async () => {
  const deal = await dealOf('pieces')
  const tus = { 'tus-resumable': '1.0.0' }
  const begun = await send(app, 'POST', '/~pieces/uploads', null, { ...tus, 'upload-length': `${LARGE.length}` })
  const path = `/~pieces/uploads/${begun.headers.get('location')!.split('/').at(-1)}`
  const octets = { ...tus, 'content-type': 'application/offset+octet-stream' }
  await send(app, 'PATCH', path, LARGE.subarray(0, 4_000_000), { ...octets, 'upload-offset': '0' })
  const last = await send(app, 'PATCH', path, LARGE.subarray(4_000_000), { ...octets, 'upload-offset': '4000000' })
  const hash = last.headers.get('upload-hash')
  expect(hash).toBe(hashOf(LARGE))
  const { body: made } = await request('PUT', deal, { contract: { hash } })
  expect(made.contract.size).toBe(LARGE.length)

  expect((await request('POST', `${deal}/erase`, {})).status).toBe(200)
  await expect.poll(() => keys('pieces/'), { timeout: 30_000 }).toEqual([])
})

test('a fork and a restore from the backup have the content as their own', { timeout: 120_000 }, async () => {
  const deal = await dealOf('origin')
  await send(app, 'POST', `${deal}/contract`, LARGE)

  expect((await request('POST', '/operator/tenants/origin/fork', { to: 'branch' })).status).toBe(201)
  const bucket = (await running.miniflare.getR2Bucket('BACKUPS')) as unknown as {
    list(options: { prefix: string }): Promise<{ objects: { key: string }[] }>
  }
  const saved = async () =>
    (await bucket.list({ prefix: 'origin/' })).objects.filter(({ key }) => key.includes('/files/'))
  await expect.poll(saved, { timeout: 60_000 }).toHaveLength(1)
  await new Promise((done) => setTimeout(done, 3_000))
  await request('DELETE', '/operator/tenants/origin')
  expect(await keys('origin/')).toEqual([])
  await request('PUT', '/operator/tenants/back/restore?from=origin')
  await expect
    .poll(async () => (await request('GET', '/operator/tenants/back')).body.restoring, { timeout: 60_000 })
    .toBe(undefined)

  for (const slug of ['branch', 'back']) {
    const read = await send(app, 'GET', deal.replace('~origin', `~${slug}`).concat('/contract'), null)
    expect([slug, read.status, hashOf(read.bytes)]).toEqual([slug, 200, hashOf(LARGE)])
    expect((await request('GET', `/operator/tenants/${slug}/verify`)).body.ok).toBe(true)
  }
  const moved = await send(app, 'GET', `/operator/tenants/branch/files/${hashOf(LARGE)}`, null)
  expect(hashOf(moved.bytes)).toBe(hashOf(LARGE))
  expect((await send(app, 'GET', `/operator/tenants/branch/files/${hashOf('x')}`, null, {}, ROOT)).status).toBe(404)
})
