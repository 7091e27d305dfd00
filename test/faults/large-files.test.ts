import fs, { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

const LARGE = 10
let folder: string
/** How many bytes of the large file were read by steps, and where its disk cannot be read. */
let bytesRead = 0
let unreadable = Number.POSITIVE_INFINITY

const { readSync } = fs

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-large-'))
  bytesRead = 0
  unreadable = Number.POSITIVE_INFINITY
  fs.readSync = ((file: number, buffer: Buffer, offset: number, length: number, position: number) => {
    // Only files that are compared are read in parts of this size.
    if (length === 256 * 1024) {
      if (position >= unreadable) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
      bytesRead += length
    }
    return readSync(file, buffer, offset, length, position)
  }) as typeof readSync
  syncBuiltinESMExports()
})
afterEach(() => {
  fs.readSync = readSync
  syncBuiltinESMExports()
  rmSync(folder, { recursive: true, force: true })
})

async function write(app: TestApp, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await app.request('POST', '/~large/Contact', { name: `Name ${i}`, notes: `${i} `.padEnd(900_000, 'x') })
}

test('a large file that its disk cannot read answers 503, and is not read again at once', async () => {
  const first = await testApp({}, { data: join(folder, 'first') })
  await write(first, LARGE)
  await first.stop()
  // At another path, as another process finds it.
  cpSync(join(folder, 'first'), join(folder, 'data'), { recursive: true })
  unreadable = 4 * 1_048_576

  const app = await testApp({}, { data: join(folder, 'data') })
  const { status, body } = await app.request('GET', '/~large/Contact?limit=1')
  const once = bytesRead
  const again = await app.request('GET', '/~large/Contact?limit=1')
  await app.stop()

  expect([status, again.status, body.error]).toEqual([503, 503, 'unavailable'])
  expect(body.message).toMatch(/cannot be read/)
  expect(bytesRead).toBe(once)
})

test('a large file that a kill has left with a log is read once for its first request', async () => {
  const data = join(folder, 'data')
  const killed = join(folder, 'killed')
  const first = await testApp({}, { data })
  await write(first, LARGE)
  const key = await first.key('large', 'read:all')
  await first.stop()
  const live = await testApp({}, { data })
  await write(live, 1)
  cpSync(data, killed, { recursive: true })
  await live.stop()
  bytesRead = 0

  const app = await testApp({}, { data: killed })
  const { body } = await app.as(key)('GET', '/~large/Contact?limit=1')
  await app.stop()

  expect(body.total).toBe(LARGE + 1)
  expect(bytesRead).toBeLessThan(1.5 * LARGE * 900_000)
})

test('a large file that this process has closed is not read again when it is opened again', async () => {
  const app = await testApp({ TILDE_OPEN_TENANTS: '1' }, { data: folder })
  await write(app, LARGE)
  // More than twice as many as may be open: the oldest is closed at once.
  for (const other of ['a1', 'a2', 'a3']) await app.request('POST', `/~${other}/Contact`, { name: 'other' })
  const closed = bytesRead
  const { body } = await app.request('GET', '/~large/Contact?limit=1')
  await app.stop()

  expect(body.total).toBe(LARGE)
  expect(bytesRead).toBe(closed)
})
