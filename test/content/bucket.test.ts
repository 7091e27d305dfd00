import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bucket } from '../../packages/server/src/host/files/bucket.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Fault, TestBucket } from './bucket.ts'
import { hashOf, send, until } from './content.ts'

let app: TestApp
let bucket: TestBucket

beforeAll(async () => {
  bucket = await new TestBucket().start()
  app = await testApp({ ...bucket.settings, TILDE_FILE_ORPHANS: '2s' })
  await app.request('PUT', '/~acme/schema/Deal', { contract: 'file', papers: 'file[]' })
})
afterAll(async () => {
  await app.stop()
  await bucket.stop()
})

const keysOf = (tenant: string) => [...bucket.objects.keys()].filter((key) => key.startsWith(`pre/fix/${tenant}/`))

async function newDeal(): Promise<string> {
  const { body } = await app.request('POST', '/~acme/Deal', { name: 'Engine' })
  return `/~acme/Deal/${body.$id}`
}

verifies('file.bucket', 'content is in the bucket, also in parts, and nothing is on the disk', async () => {
  const deal = await newDeal()
  const [small, large] = [randomBytes(1_000), randomBytes(20_000_000)]

  expect((await send(app, 'POST', `${deal}/papers`, small)).status).toBe(200)
  expect((await send(app, 'POST', `${deal}/papers`, large)).status).toBe(200)
  expect((await send(app, 'POST', `${deal}/papers`, new Uint8Array())).status).toBe(200)

  expect(keysOf('acme')).toHaveLength(3)
  expect(bucket.uploads.size).toBe(0)
  expect(hashOf((await send(app, 'GET', `${deal}/papers/1`, null)).bytes)).toBe(hashOf(large))
  const part = await send(app, 'GET', `${deal}/papers/1`, null, { range: 'bytes=8388600-8388619' })
  expect(hashOf(part.bytes)).toBe(hashOf(large.subarray(8_388_600, 8_388_620)))
  expect((await send(app, 'GET', `${deal}/papers/2`, null)).bytes).toHaveLength(0)
  expect(existsSync(join(app.data, 'files'))).toBe(false)
  expect((await app.request('POST', '/operator/tenants/acme/fork', { to: 'forked' })).status).toBe(201)
  expect(keysOf('forked')).toHaveLength(3)
  expect((await app.request('GET', '/operator/tenants/forked/verify')).body).toMatchObject({ ok: true })
  expect((await app.request('DELETE', '/operator/tenants/forked')).status).toBe(204)
  expect(keysOf('forked')).toHaveLength(0)
})

test.each<Fault>(['error', 'reset', 'lost answer'])(
  'a bucket that fails in passing (%s) loses nothing',
  async (fault) => {
    const deal = await newDeal()
    const bytes = randomBytes(17_000_000)
    let n = 0
    // Every third request fails, of any kind.
    bucket.fault = () => (++n % 3 === 0 ? fault : null)

    const sent = await send(app, 'POST', `${deal}/contract`, bytes)
    const read = await send(app, 'GET', `${deal}/contract`, null)
    bucket.fault = () => null

    expect(sent.status).toBe(200)
    expect(hashOf(read.bytes)).toBe(hashOf(bytes))
    expect(bucket.uploads.size).toBe(0)
  },
  60_000,
)

test.each<Fault>(['silence', 'late silence'])(
  'a bucket that does not answer (%s) loses nothing',
  async (fault) => {
    // The service asks the other one now and then, and would wait.
    const silent = await new TestBucket().start()
    const { TILDE_S3_ENDPOINT, TILDE_S3_REGION, TILDE_S3_ACCESS_KEY_ID, TILDE_S3_SECRET_ACCESS_KEY } = silent.settings
    const patient = new Bucket(
      {
        bucket: 'tilde',
        prefix: 'slow',
        endpoint: TILDE_S3_ENDPOINT!,
        region: TILDE_S3_REGION!,
        accessKeyId: TILDE_S3_ACCESS_KEY_ID!,
        secretAccessKey: TILDE_S3_SECRET_ACCESS_KEY!,
      },
      2_000,
    )
    const bytes = randomBytes(17_000_000)
    let n = 0
    silent.fault = () => (++n % 2 === 0 ? fault : null)

    await patient.put('large', [bytes])
    const read: Uint8Array[] = []
    for await (const chunk of patient.read('large', 0, bytes.length)) read.push(chunk)
    silent.fault = () => fault
    const refused = await patient.put('never', [Buffer.from('x')]).then(
      () => 'acknowledged',
      (reason: Error) => reason.name,
    )
    await silent.stop()

    expect(hashOf(Buffer.concat(read))).toBe(hashOf(bytes))
    expect(silent.uploads.size).toBe(0)
    expect(refused).toBe('TimeoutError')
  },
  60_000,
)

test('a bucket that is away refuses the upload, and nothing is acknowledged', async () => {
  const deal = await newDeal()
  bucket.fault = (request) => (request.method === 'PUT' ? 'error' : null)

  const sent = await send(app, 'POST', `${deal}/contract`, 'never stored')
  bucket.fault = () => null

  expect(sent.status).toBeGreaterThanOrEqual(500)
  expect((await app.request('GET', deal)).body).not.toHaveProperty('contract')
}, 60_000)

test('content that nothing names is removed from the bucket, and so are bytes without a tenant’s knowledge', async () => {
  await send(app, 'POST', '/~acme/files', 'orphan')
  bucket.objects.set('pre/fix/acme/left-by-a-crash', { bytes: Buffer.from('x'), at: '2020-01-01T00:00:00.000Z' })
  const before = keysOf('acme').length

  await until(() => keysOf('acme').length === before - 2, 20_000)

  expect((await app.request('GET', '/operator/tenants/acme/verify')).body).toMatchObject({ ok: true })
}, 30_000)
