import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { blobsOf, hashOf, send, until } from './content.ts'

let host: TestHost
const TUS = { 'tus-resumable': '1.0.0' }

beforeAll(async () => {
  host = await testHost({ TILDE_FILE_ORPHANS: '3s' }, { workers: '1' })
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
})
afterAll(() => host.stop())

const base64 = (text: string) => Buffer.from(text).toString('base64')

async function begin(size: number, key?: string): Promise<string> {
  const metadata = `filename ${base64('Größe.bin')},filetype ${base64('application/x-test')},empty`
  const headers = { ...TUS, 'upload-length': String(size), 'upload-metadata': metadata }
  const begun = await send(host, 'POST', '/~acme/uploads', null, headers, key ?? ROOT)
  expect(begun.status).toBe(201)
  return new URL(begun.headers.get('location')!, host.url).pathname
}

const patch = (path: string, offset: number, bytes: Uint8Array, more: Record<string, string> = {}, key?: string) =>
  send(
    host,
    'PATCH',
    path,
    bytes,
    { ...TUS, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset), ...more },
    key ?? ROOT,
  )

verifies(['file.tus', 'file.tus.hash'], 'an upload in parts becomes content that a write can name', async () => {
  const bytes = randomBytes(700_000)
  const path = await begin(bytes.length)

  const first = await patch(path, 0, bytes.subarray(0, 300_000))
  const head = await send(host, 'HEAD', path, null, TUS)
  const second = await patch(path, 300_000, bytes.subarray(300_000, 600_000))
  const last = await patch(path, 600_000, bytes.subarray(600_000))
  const done = await send(host, 'HEAD', path, null, TUS)

  expect([first.status, second.status, last.status]).toEqual([204, 204, 204])
  expect(head.headers.get('upload-offset')).toBe('300000')
  expect(head.headers.get('upload-length')).toBe('700000')
  expect(head.headers.get('cache-control')).toBe('no-store')
  expect(head.headers.get('upload-hash')).toBeNull()
  expect(Date.parse(first.headers.get('upload-expires')!)).toBeGreaterThan(Date.now() - 1_000)
  for (const answer of [first, head, second, last, done]) expect(answer.headers.get('tus-resumable')).toBe('1.0.0')
  for (const answer of [last, done]) {
    expect(answer.headers.get('upload-hash')).toBe(hashOf(bytes))
    expect(answer.headers.get('upload-offset')).toBe('700000')
  }
  await host.request('PUT', '/~acme/schema/Contact', { scan: 'file' })
  const made = await host.request('POST', '/~acme/Contact', { name: 'Bob', scan: { hash: hashOf(bytes) } })
  expect(made.body.scan).toEqual({
    hash: hashOf(bytes),
    size: 700_000,
    type: 'application/x-test',
    name: 'Größe.bin',
  })
  expect(hashOf((await send(host, 'GET', `/~acme/Contact/${made.body.$id}/scan`, null)).bytes)).toBe(hashOf(bytes))
  await until(() => blobsOf(host.data, 'acme').whole.length === 1)
})

test('wrong offsets, versions, types, lengths and foreign uploads', async () => {
  const path = await begin(10)
  const bytes = new Uint8Array(5)
  const other = await host.key('acme', 'write:Contact')
  const reader = await host.key('acme', 'read:all')

  expect((await patch(path, 1, bytes)).status).toBe(409)
  expect((await patch(path, 0, new Uint8Array(11))).status).toBe(413)
  expect((await patch(path, 0, bytes, { 'content-type': 'text/plain' })).status).toBe(415)
  const version = await patch(path, 0, bytes, { 'tus-resumable': '0.2.2' })
  expect([version.status, version.headers.get('tus-version')]).toEqual([412, '1.0.0'])
  expect((await patch(path, 0, bytes, {}, other)).status).toBe(404)
  expect((await send(host, 'DELETE', path, null, TUS, other)).status).toBe(404)
  expect((await patch(path, 0, bytes, {}, reader)).status).toBe(403)
  expect((await send(host, 'POST', '/~acme/uploads', null, { ...TUS, 'upload-length': 'x' })).status).toBe(400)
  expect((await send(host, 'POST', '/~acme/uploads', null, { ...TUS, 'upload-defer-length': '1' })).status).toBe(400)
  expect((await send(host, 'POST', '/~acme/uploads', null, { ...TUS, 'upload-length': '6000000000' })).status).toBe(413)
  const options = await send(host, 'OPTIONS', '/~acme/uploads', null, {}, null)
  expect(options.headers.get('tus-extension')).toBe('creation,checksum,expiration,termination')
  expect(options.headers.get('tus-checksum-algorithm')).toContain('sha1')
  expect((await send(host, 'HEAD', path, null, TUS)).headers.get('upload-offset')).toBe('0')
})

verifies('file.tus', 'a POST may name the method that it means', async () => {
  const path = await begin(4)
  const means = (method: string, body: Uint8Array | null, more = {}) =>
    send(host, 'POST', path, body, { ...TUS, 'x-http-method-override': method, ...more })

  const bytes = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
  const part = await means('PATCH', new Uint8Array([1, 2]), bytes)
  const head = await means('HEAD', null)
  const ended = await means('DELETE', null)
  const elsewhere = await send(host, 'POST', '/~acme/Contact', '{"name":"Eve"}', {
    'content-type': 'application/json',
    'x-http-method-override': 'DELETE',
  })

  expect([part.status, head.status, ended.status, elsewhere.status]).toEqual([204, 200, 204, 201])
  expect([part, head].map(({ headers }) => headers.get('upload-offset'))).toEqual(['2', '2'])
  expect((await send(host, 'HEAD', path, null, TUS)).status).toBe(404)
})

verifies('file.tus', 'a part with a wrong checksum is dropped, one with the right checksum is kept', async () => {
  const bytes = randomBytes(1_000)
  const path = await begin(2_000)
  const sum = (name: string, of: Uint8Array) => `${name} ${createHash(name).update(of).digest('base64')}`

  expect((await patch(path, 0, bytes, { 'upload-checksum': sum('sha1', randomBytes(3)) })).status).toBe(460)
  expect((await send(host, 'HEAD', path, null, TUS)).headers.get('upload-offset')).toBe('0')
  expect((await patch(path, 0, bytes, { 'upload-checksum': sum('sha1', bytes) })).status).toBe(204)
  expect((await patch(path, 1_000, bytes, { 'upload-checksum': sum('sha256', bytes) })).status).toBe(204)
  expect((await patch(path, 0, bytes, { 'upload-checksum': 'crc32 AAAA' })).status).toBe(409)
})

verifies(['file.tus', 'file.tus.expires'], 'uploads end by DELETE, and by their time', async () => {
  const [ended, late] = [await begin(10), await begin(10)]
  for (const path of [ended, late]) await patch(path, 0, new Uint8Array(5))
  const before = blobsOf(host.data, 'acme').whole.length

  expect((await send(host, 'DELETE', ended, null, TUS)).status).toBe(204)

  expect((await send(host, 'HEAD', ended, null, TUS)).status).toBe(404)
  await until(() => blobsOf(host.data, 'acme').whole.length < before)
  await until(async () => [404, 410].includes((await send(host, 'HEAD', late, null, TUS)).status))
})

test('an empty upload is finished at once', async () => {
  const path = await begin(0)

  expect((await send(host, 'HEAD', path, null, TUS)).headers.get('upload-hash')).toBe(hashOf(''))
})

/** Sends the head of a request and some of its body, and disconnects. */
async function cutOff(method: string, path: string, headers: Record<string, string>, bytes: Uint8Array): Promise<void> {
  const { hostname, port, host: name } = new URL(host.url)
  const socket = connect(Number(port), hostname)
  const all = { host: name, authorization: `Bearer ${ROOT}`, ...headers }
  const lines = Object.entries(all).map(([header, value]) => `${header}: ${value}\r\n`)
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  await new Promise<void>((done) => socket.write(bytes, () => done()))
  await new Promise((done) => setTimeout(done, 100))
  socket.destroy()
}

verifies(
  ['file.tus', 'file.interrupted'],
  'an interrupted part is continued; an interrupted upload leaves nothing',
  async () => {
    const bytes = randomBytes(500_000)
    const path = await begin(bytes.length)
    const headers = { ...TUS, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }

    await cutOff('PATCH', path, { ...headers, 'content-length': '500000' }, bytes.subarray(0, 200_000))

    let offset = 0
    await until(async () => {
      offset = Number((await send(host, 'HEAD', path, null, TUS)).headers.get('upload-offset'))
      return offset > 0
    })
    expect(offset).toBeLessThanOrEqual(200_000)
    const last = await patch(path, offset, bytes.subarray(offset))
    expect(last.headers.get('upload-hash')).toBe(hashOf(bytes))
    const before = blobsOf(host.data, 'acme').whole.length
    await cutOff('POST', '/~acme/files', { 'content-length': '500000' }, bytes.subarray(0, 200_000))
    await until(() => blobsOf(host.data, 'acme').parts.length === 0)
    expect(blobsOf(host.data, 'acme').whole.length).toBeLessThanOrEqual(before)
  },
)
