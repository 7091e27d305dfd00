import { createHash } from 'node:crypto'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const PAGE = 2_048
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-damage-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = (data: string) => join(data, 'tenants', 'il', 'ill.db')
const digest = (path: string) =>
  existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : null

describe('a file that was damaged while the service was down', () => {
  const cases = [
    ['cut to half its length', (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2)), /bytes of/],
    ['cut by one page', (path: string) => truncateSync(path, statSync(path).size - PAGE), /bytes of/],
    ['cut by one byte', (path: string) => truncateSync(path, statSync(path).size - 1), /bytes of/],
    ['cut in its header', (path: string) => truncateSync(path, 50), /does not begin with the header/],
    ['without its first page', (path: string) => writePage(path, Buffer.alloc(PAGE)), /does not begin with the header/],
    ['empty', (path: string) => truncateSync(path, 0), /is empty/],
  ] as const
  for (const [title, damage, reason] of cases)
    verifies('files.damaged', `${title} answers 503 and is not written to`, async () => {
      await stock(folder)
      damage(fileOf(folder))
      const before = digest(fileOf(folder))

      const app = await testApp({}, { data: folder })
      const replies = [
        await app.request('GET', '/~ill/Contact?limit=100'),
        await app.request('POST', '/~ill/Contact', { name: 'x' }),
        await app.request('GET', '/operator/tenants/ill/backup'),
        await app.request('GET', '/~ill/events'),
      ]
      const other = await app.request('POST', '/~well/Contact', { name: 'y' })
      await app.stop()

      for (const { status, body } of replies) {
        expect([status, body.error]).toEqual([503, 'unavailable'])
        expect(body.message).toMatch(/The file of this tenant is damaged/)
        expect(body.message).toMatch(reason)
      }
      expect(other.status).toBe(201)
      expect(digest(fileOf(folder))).toBe(before)
      expect(existsSync(`${fileOf(folder)}-wal`)).toBe(false)
    })

  test('can be deleted and restored', async () => {
    const app = await stocked(folder)
    const backup = await app.fetch('/operator/tenants/ill/backup', { headers: operator })
    const bytes = new Uint8Array(await backup.arrayBuffer())
    await app.stop()
    truncateSync(fileOf(folder), PAGE)

    const again = await testApp({}, { data: folder })
    const deleted = await again.request('DELETE', '/operator/tenants/ill')
    const restored = await again.request('PUT', '/operator/tenants/ill/restore', bytes)
    const { body } = await again.request('GET', '/~ill/Contact')
    await again.stop()

    expect([deleted.status, restored.status, body.total]).toEqual([204, 201, 40])
  })
})

verifies('files.damaged', 'a file that was damaged while it was open is refused when it is opened again', async () => {
  await stock(folder)
  const app = await testApp({}, { data: folder })
  await app.request('GET', '/~ill/Contact?limit=1')
  const bytes = readFileSync(fileOf(folder))
  writeAt(fileOf(folder), Buffer.alloc(bytes.length - 2 * PAGE, 0xa5), 2 * PAGE)
  const during = await app.request('GET', '/~ill/Contact?limit=100')
  await app.stop()
  // Only a value differs in the end: SQLite does not find that.
  const at = bytes.lastIndexOf('"name":"n7"')
  bytes[at + '"name":"n'.length]! ^= 1
  writeAt(fileOf(folder), bytes, 0)

  const again = await testApp({}, { data: folder })
  const { status, body } = await again.request('GET', '/~ill/Contact?limit=1')
  await again.stop()

  expect([during.status, status]).toEqual([503, 503])
  expect(body.message).toMatch(/differ from their checksum/)
})

describe('a file whose write-ahead log was not copied into it yet', () => {
  test('is whole: its missing pages are in the log', async () => {
    const copy = await crashed()
    // A crash in the midst of copying: the first page, which tells the length, was copied and the last ones were not.
    writePage(fileOf(copy), readFileSync(fileOf(join(folder, 'data'))).subarray(0, PAGE))
    // The power went before the checksum was on the disk.
    truncateSync(`${fileOf(copy)}-sum`)
    const length = statSync(fileOf(copy)).size

    const app = await testApp({}, { data: copy })
    const { body } = await app.request('GET', '/~ill/Contact')
    const verdict = await app.request('GET', '/operator/tenants/ill/verify')
    await app.stop()

    expect(length).toBeLessThan(statSync(fileOf(copy)).size)
    expect([body.total, verdict.body.ok]).toEqual([40, true])
  })

  verifies('files.damaged', 'is damaged when a page is missing from both', async () => {
    const copy = await crashed(3)
    truncateSync(fileOf(copy), statSync(fileOf(copy)).size - 20 * PAGE)
    const before = [digest(fileOf(copy)), digest(`${fileOf(copy)}-wal`)]

    const app = await testApp({}, { data: copy })
    const { status, body } = await app.request('GET', '/~ill/Contact')
    await app.stop()

    expect([status, body.error]).toEqual([503, 'unavailable'])
    expect(body.message).toMatch(/bytes of/)
    expect([digest(fileOf(copy)), digest(`${fileOf(copy)}-wal`)]).toEqual(before)
  })

  /** The data folder as a crash leaves it, with all rows in the log, or with only the last `late` of them. */
  async function crashed(late?: number): Promise<string> {
    const copy = join(folder, 'copy')
    const data = join(folder, 'data')
    if (late !== undefined) await stock(data, 40 - late)
    const app = late === undefined ? await stocked(data) : await testApp({}, { data })
    for (let i = 0; i < (late ?? 0); i++) await app.request('POST', '/~ill/Contact', { name: `late ${i}` })
    cpSync(data, copy, { recursive: true })
    await app.stop()
    return copy
  }
})

const operator = { authorization: 'Bearer root-key-of-the-tests-which-is-long-enough' }

async function stocked(data: string, count = 40): Promise<TestApp> {
  const app = await testApp({}, { data })
  for (let i = 0; i < count; i++)
    await app.request('POST', '/~ill/Contact', { name: `n${i}`, notes: 'x'.repeat(1_000) })
  return app
}

async function stock(data: string, count?: number): Promise<void> {
  const app = await stocked(data, count)
  await app.stop()
}

/** Replaces the first page. */
function writePage(path: string, page: Uint8Array): void {
  writeAt(path, page.subarray(0, PAGE), 0)
}

function writeAt(path: string, bytes: Uint8Array, at: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}
