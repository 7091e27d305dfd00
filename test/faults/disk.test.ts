import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs, {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { type TestHost, testHost } from '../host.ts'
import { ask, startServer } from './server.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-disk-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = (tenant: string) => join(folder, 'tenants', tenant.slice(0, 2), `${tenant}.db`)
const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Two tenants with data, and nothing running. */
async function stocked(): Promise<void> {
  const host = await testHost({}, { data: folder })
  for (const tenant of ['ill', 'well']) {
    for (let i = 0; i < 200; i++)
      await host.request('POST', `/~${tenant}/Contact`, { name: `n${i}`, notes: 'x'.repeat(500) })
  }
  await host.stop()
}

async function isWell(host: TestHost): Promise<void> {
  expect((await host.request('POST', '/~well/Contact', { name: 'y' })).status).toBe(201)
}

describe('a damaged file', () => {
  test.each([
    ['cut short', (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['with another head', (path: string) => overwrite(path, 0, Buffer.from('not a database at all'))],
    ['with a page of noise', (path: string) => overwrite(path, 4_096, Buffer.alloc(2_048, 0xa5))],
  ])('%s takes its tenant out, with a clear answer; others continue, and nothing is overwritten', async (_, damage) => {
    await stocked()
    damage(fileOf('ill'))
    const before = digest(fileOf('ill'))

    const host = await testHost({}, { data: folder })
    const read = await host.request('GET', '/~ill/Contact?limit=100')
    const write = await host.request('POST', '/~ill/Contact', { name: 'x' })
    await isWell(host)
    await host.stop()

    expect([read.status, read.body.error]).toEqual([503, 'unavailable'])
    expect([write.status, write.body.error]).toEqual([503, 'unavailable'])
    expect(write.body.message).toMatch(/damaged/)
    expect(digest(fileOf('ill'))).toBe(before)
  })

  test('with one flipped bit in a value is found by verify, which names the event', async () => {
    await stocked()
    const bytes = readFileSync(fileOf('ill'))
    const value = Buffer.from('"name":"n77"')
    for (let at = bytes.indexOf(value); at !== -1; at = bytes.indexOf(value, at + 1)) bytes[at + value.length - 2]! ^= 1
    writeFileSync(fileOf('ill'), bytes)

    const host = await testHost({}, { data: folder })
    const { body } = await host.request('GET', '/operator/tenants/ill/verify')
    await host.stop()

    expect(body).toMatchObject({ ok: false, firstBad: 78 })
  })
})

describe('a disk that is full', () => {
  const mounted = canMount()

  test.skipIf(!mounted)(
    'refuses writes with a clear answer, still reads, and takes writes again once there is room',
    async () => {
      const disk = join(folder, 'disk')
      execFileSync('mkdir', [disk])
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk])
      try {
        const host = await testHost({}, { data: disk })
        const acknowledged: string[] = []
        let refused: Awaited<ReturnType<TestHost['request']>> | null = null
        for (let i = 0; i < 100 && refused === null; i++) {
          const reply = await host.request('POST', '/~ill/Contact', { name: `n${i}`, notes: 'x'.repeat(100_000) })
          if (reply.status === 201) acknowledged.push(reply.body.$id)
          else refused = reply
        }
        const reads = await Promise.all(acknowledged.map((id) => host.request('GET', `/~ill/Contact/${id}`)))
        execFileSync('mount', ['-o', 'remount,size=30m', disk])
        const again = await host.request('POST', '/~ill/Contact', { name: 'room' })
        const verdict = await host.request('GET', '/operator/tenants/ill/verify')
        await host.stop()

        expect([refused?.status, refused?.body.error]).toEqual([503, 'unavailable'])
        expect(reads.every(({ status }) => status === 200)).toBe(true)
        expect(again.status).toBe(201)
        expect(verdict.body).toMatchObject({ ok: true, events: acknowledged.length + 1 })
      } finally {
        execFileSync('umount', [disk])
      }
    },
  )
})

describe('a disk that is full when the log of a long write is copied', () => {
  test.skipIf(!canMount())('does not keep the file from being written to once there is room', async () => {
    const disk = join(folder, 'disk')
    execFileSync('mkdir', [disk])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=14m', 'tmpfs', disk])
    const sql = openSql(join(disk, 'tenant.db'), { deferred: true })
    try {
      sql.run('CREATE TABLE t (n INTEGER PRIMARY KEY, filler BLOB) STRICT')
      const long = await sql.long!(() => {})
      for (let n = 1; n <= 10; n++) long.sql.run('INSERT INTO t VALUES (?, zeroblob(1000000))', n)
      await long.commit()
      await long.release()
      execFileSync('mount', ['-o', 'remount,size=60m', disk])
      sql.run('INSERT INTO t VALUES (11, NULL)')
      await sql.pending()

      expect(sql.rows('SELECT count(*) FROM t')).toEqual([[11]])
    } finally {
      sql.close()
      // Syncs next to the thread may still have handles.
      execFileSync('umount', ['--lazy', disk])
    }
  })
})

test('a disk that fails while a tenant is closed does not keep the others from being closed', async () => {
  const host = await testHost({}, { data: folder })
  for (const tenant of ['ill', 'well']) await host.request('POST', `/~${tenant}/Contact`, { name: 'x' })
  const { fdatasyncSync } = fs
  const fail = (handle: number) => {
    if (fs.fstatSync(handle).ino === statSync(`${fileOf('ill')}-sum`).ino) throw new Error('EIO: i/o error, fdatasync')
    fdatasyncSync(handle)
  }
  try {
    Object.assign(fs, { fdatasyncSync: fail })
    syncBuiltinESMExports()

    await host.stop()
  } finally {
    Object.assign(fs, { fdatasyncSync })
    syncBuiltinESMExports()
  }
  const again = await testHost({}, { data: folder })
  const { body } = await again.request('GET', '/~ill/Contact')
  await again.stop()

  expect(existsSync(`${fileOf('well')}-wal`)).toBe(false)
  expect(body.total).toBe(1)
})

describe('a disk that may only be read', () => {
  // Root may write whatever its mode says, unless it gives that right up.
  const under = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : []

  test('takes its tenant out, with a clear answer, until it may be written again; others continue', async () => {
    await stocked()
    const before = digest(fileOf('ill'))
    chmodSync(fileOf('ill'), 0o444)
    chmodSync(dirname(fileOf('ill')), 0o555)
    const server = await startServer(folder, {}, [], under)
    try {
      const read = await ask(server.url, 'GET', '/~ill/Contact')
      const write = await ask(server.url, 'POST', '/~ill/Contact', { name: 'x' })
      const other = await ask(server.url, 'POST', '/~well/Contact', { name: 'y' })
      const after = digest(fileOf('ill'))
      chmodSync(dirname(fileOf('ill')), 0o755)
      chmodSync(fileOf('ill'), 0o644)
      const again = await ask(server.url, 'POST', '/~ill/Contact', { name: 'x' })
      const verdict = await ask(server.url, 'GET', '/operator/tenants/ill/verify')

      expect([read?.status, read?.body.error]).toEqual([503, 'unavailable'])
      expect([write?.status, write?.body.error]).toEqual([503, 'unavailable'])
      expect(write?.body.message).toMatch(/nothing was written/)
      expect(other?.status).toBe(201)
      expect(after).toBe(before)
      expect(again?.status).toBe(201)
      expect(verdict?.body).toMatchObject({ ok: true, events: 201 })
    } finally {
      await server.kill()
    }
  })

  test('prevents the start, with the reason', async () => {
    await stocked()
    const places = [join(folder, 'tenants'), folder]
    for (const place of places) chmodSync(place, 0o555)
    try {
      await expect(startServer(folder, {}, [], under)).rejects.toThrow(/The data folder cannot be written to/)
    } finally {
      for (const place of places) chmodSync(place, 0o755)
    }
  })

  test.skipIf(!canFreeze())('refuses writes while the server runs, still reads, and takes writes again', async () => {
    const server = await startServer(folder)
    const files = [fileOf('ill'), `${fileOf('ill')}-wal`]
    try {
      const made = await ask(server.url, 'POST', '/~ill/Contact', { name: 'Ada' })
      execFileSync('chattr', ['+i', ...files])
      const write = await ask(server.url, 'POST', '/~ill/Contact', { name: 'Bob' })
      const read = await ask(server.url, 'GET', `/~ill/Contact/${made?.body.$id}`)
      execFileSync('chattr', ['-i', ...files])
      const again = await ask(server.url, 'POST', '/~ill/Contact', { name: 'Eve' })
      const verdict = await ask(server.url, 'GET', '/operator/tenants/ill/verify')

      expect([write?.status, write?.body.error]).toEqual([503, 'unavailable'])
      expect(read?.body.name).toBe('Ada')
      expect(again?.status).toBe(201)
      expect(verdict?.body).toMatchObject({ ok: true, events: 2 })
    } finally {
      await server.kill()
      for (const file of files) if (existsSync(file)) execFileSync('chattr', ['-i', file])
    }
  })
})

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

/** Whether this machine lets us take a file's right to change away, also from those who have it open. */
function canFreeze(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'tildebase-freeze-'))
  const file = join(place, 'x')
  writeFileSync(file, '')
  try {
    execFileSync('chattr', ['+i', file], { stdio: 'ignore' })
    execFileSync('chattr', ['-i', file])
    return true
  } catch {
    return false
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Whether this machine lets us have our own small disk. */
function canMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'tildebase-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place], { stdio: 'ignore' })
    execFileSync('umount', [place])
    return true
  } catch {
    return false
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
