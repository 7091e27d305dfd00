import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let whole: Buffer
let etag: string
const AT = '/~ranges/export/Contact?format=parquet'

beforeAll(async () => {
  host = await testHost()
  const rows = Array.from({ length: 2_000 }, (_, i) => ({ name: `Contact ${i}`, leadScore: i }))
  await host.request('POST', '/~ranges/import/Contact', rows)
  const response = await asked({})
  whole = response.body
  etag = response.headers.get('etag')!
})
afterAll(() => host.stop())

async function asked(headers: Record<string, string>, path = AT, method = 'GET') {
  const response = await fetch(`${host.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ROOT}`, ...headers },
  })
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

verifies('export.ranges', 'HEAD of a Parquet export tells its length', async () => {
  const { status, headers, body } = await asked({}, AT, 'HEAD')

  expect([status, headers.get('content-length'), headers.get('accept-ranges'), body.length]).toEqual([
    200,
    String(whole.length),
    'bytes',
    0,
  ])
  expect(headers.get('etag')).toBe(etag)
})

verifies('export.ranges', 'Range gives that part of a Parquet export', async () => {
  const size = whole.length
  for (const [range, start, end] of [
    ['bytes=0-3', 0, 4],
    ['bytes=-8', size - 8, size],
    [`bytes=${size - 100}-`, size - 100, size],
    ['bytes=1000-1999', 1_000, 2_000],
    [`bytes=10-${size + 100}`, 10, size],
  ] as const) {
    const { status, headers, body } = await asked({ range })
    expect([range, status, headers.get('content-range')]).toEqual([range, 206, `bytes ${start}-${end - 1}/${size}`])
    expect(Buffer.compare(body, whole.subarray(start, end)), range).toBe(0)
  }
  expect((await asked({ range: 'bytes=0-3' })).body.toString()).toBe('PAR1')
})

verifies('export.ranges', 'a part of another file than is meant is not given', async () => {
  expect((await asked({ range: 'bytes=0-3', 'if-range': etag })).status).toBe(206)
  expect((await asked({ range: 'bytes=0-3', 'if-range': '"other"' })).body.length).toBe(whole.length)
  const beyond = await asked({ range: `bytes=${whole.length}-` })
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`])
  for (const range of ['bytes=0-1,5-9', 'lines=0-3', 'bytes=-', 'bytes=x-1'])
    expect([range, (await asked({ range })).status]).toEqual([range, 200])
})

test('a part that is asked for after a change is of the file that is there then', async () => {
  const path = '/~ranges/export/Deal?format=parquet'
  await host.request('POST', '/~ranges/Deal', { name: 'One' })
  const before = await asked({}, path, 'HEAD')
  await host.request('POST', '/~ranges/Deal', { name: 'Two, which makes the file longer' })
  const after = await asked({ range: 'bytes=-4' }, path)

  expect(after.body.toString()).toBe('PAR1')
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  expect(after.headers.get('content-range')).not.toContain(`/${before.headers.get('content-length')}`)
})

verifies('export.ranges', 'the other formats stream, and say that they have no ranges', async () => {
  for (const format of ['json', 'ndjson', 'csv']) {
    const { status, headers } = await asked({ range: 'bytes=0-3' }, `/~ranges/export/Contact?format=${format}`)
    expect([format, status, headers.get('accept-ranges')]).toEqual([format, 200, 'none'])
  }
})
