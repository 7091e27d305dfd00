import fs, { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pageSumsOf, refuseDamaged } from '../../packages/server/src/node/sqlite/checks/file-damage.ts'
import { writeSumRecord } from '../../packages/server/src/node/sqlite/checks/sum-file.ts'
import type { FileSync } from '../../packages/server/src/node/sqlite/disk-sync.ts'
import { type NodeSql, openSql } from '../../packages/server/src/node/sqlite/sql.ts'

let folder: string
let path: string
/** Ends the syncs that a disk has held back: the thread counts those that are in progress. */
const held: (() => void)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-copies-'))
  path = join(folder, 'tenant.db')
  const fresh = openSql(path)
  fresh.run('CREATE TABLE t (n INTEGER PRIMARY KEY, filler BLOB) STRICT')
  fresh.close()
})
afterEach(() => {
  for (const end of held.splice(0)) end()
  rmSync(folder, { recursive: true, force: true })
})

/** A disk whose syncs of the database end when the test ends them, and what it has of each file. */
class SlowDisk implements FileSync {
  readonly synced = new Map<string, Buffer>()
  /** Ends the sync of the database, with a failure or without. */
  end: ((failure: Error | null) => void) | null = null

  /** Called when the disk has the checksum. */
  noted = (): void => {}
  /** How long a sync takes that the thread waits for. */
  ms = 0
  /** Whether syncs of the log do not end next to the thread. */
  holdsLog = false

  now(_: number, file: string): void {
    const end = performance.now() + this.ms
    while (performance.now() < end);
    this.synced.set(file, readFileSync(file))
    if (file.endsWith('-sum')) this.noted()
  }

  later(_: number, file: string, done: (reason: Error | null) => void): void {
    const content = readFileSync(file)
    const end = (failure: Error | null) => {
      if (!failure) this.synced.set(file, content)
      done(failure)
    }
    if (file === path) this.end = end
    else if (this.holdsLog) held.push(() => end(null))
    else setImmediate(() => end(null))
  }

  folder(_: number, __: string, done: (reason: null) => void): void {
    setImmediate(() => done(null))
  }
}

/** A file with two acknowledged rows whose log was copied into it. The disk does not have the copy yet. */
async function copying(): Promise<{ disk: SlowDisk; sql: NodeSql }> {
  const disk = new SlowDisk()
  disk.now(0, path)
  const sums = pageSumsOf(path)
  writeSumRecord(path, sums)
  const sql = openSql(path, { deferred: true, sums, disk: { sync: disk, mostPages: 20 } })
  for (let n = 1; n <= 2; n++) {
    sql.run('INSERT INTO t VALUES (?, zeroblob(30000))', n)
    await sql.pending()
  }
  await expect.poll(() => disk.end).not.toBeNull()
  return { disk, sql }
}

/** The rows of a file of which the disk has lost what was not synced. */
function rowsAfterPowerCut(disk: SlowDisk): number {
  const left = join(folder, 'left.db')
  writeFileSync(left, disk.synced.get(path)!)
  if (existsSync(`${path}-wal`)) writeFileSync(`${left}-wal`, readFileSync(`${path}-wal`))
  const sql = openSql(left)
  const [[count]] = sql.rows('SELECT count(*) FROM t') as [[number]]
  sql.close()
  return count
}

test.each([
  ['closed', (sql: NodeSql) => sql.close()],
  ['scrubbed', (sql: NodeSql) => sql.scrub!()],
  ['opened for a long write', async (sql: NodeSql) => (await sql.long!(() => {})).rollback()],
])('the disk has a copy of the log before the log is removed from a file that is %s', async (_, work) => {
  const { disk, sql } = await copying()

  await work(sql)

  expect(rowsAfterPowerCut(disk)).toBe(2)
})

test('the disk has the log of an erasure before the checksum tells that it is copied', async () => {
  const { disk, sql } = await copying()
  disk.end!(null)
  disk.ms = 3
  sql.run('INSERT INTO t VALUES (3, NULL)')
  await sql.pending()
  // Syncs are left to another thread by now.
  disk.holdsLog = true
  sql.run('UPDATE t SET filler = zeroblob(200000) WHERE n = 1')
  const left = join(folder, 'left.db')
  disk.noted = () => {
    for (const suffix of ['', '-sum']) copyFileSync(`${path}${suffix}`, `${left}${suffix}`)
    // The log is as long as it was written, with what was synced of it.
    const log = Buffer.alloc(statSync(`${path}-wal`).size)
    readFileSync(`${path}-wal`).copy(log, 0, 0, 32)
    disk.synced.get(`${path}-wal`)?.copy(log)
    writeFileSync(`${left}-wal`, log)
  }

  sql.scrub!()

  expect(existsSync(left)).toBe(true)
  expect(() => refuseDamaged(left)).not.toThrow()
})

test('a checksum that the disk does not take ends the use of its file, not the process', async () => {
  const { disk, sql } = await copying()
  const { ftruncateSync, writeSync } = fs
  const fail = () => {
    throw Object.assign(new Error('EROFS'), { code: 'EROFS' })
  }
  try {
    Object.assign(fs, { writeSync: fail, ftruncateSync: fail })
    syncBuiltinESMExports()

    expect(() => disk.end!(null)).not.toThrow()
  } finally {
    Object.assign(fs, { writeSync, ftruncateSync })
    syncBuiltinESMExports()
  }

  expect(() => sql.run('DELETE FROM t')).toThrow('EROFS')
  sql.close()
})

test('a log whose copy does not come to the disk stays when the file is closed', async () => {
  const { disk, sql } = await copying()

  disk.end!(new Error('EIO'))
  sql.close()

  expect(rowsAfterPowerCut(disk)).toBe(2)
})

test('the log is copied, and writes that waited for it continue, while work in the background commits without a pause', async () => {
  const disk = new SlowDisk()
  disk.now(0, path)
  const sums = pageSumsOf(path)
  writeSumRecord(path, sums)
  const mostPages = 20
  const sql = openSql(path, { deferred: true, sums, disk: { sync: disk, mostPages } })
  // Each sync finds one more commit, as those of timers and workflows that have more to do.
  const later = disk.later.bind(disk)
  let n = 0
  disk.later = (file, name, done) => {
    if (n < 500 && name !== path) sql.run('INSERT INTO t VALUES (?, zeroblob(3000))', ++n)
    later(file, name, done)
    if (name === path) disk.end!(null)
  }

  sql.run('INSERT INTO t VALUES (0, zeroblob(60000))')
  await sql.pending()
  await sql.ready!(1)

  expect(n).toBeLessThan(10)
  sql.close()
})

test('a file whose log is copied at its end alone does not change before', async () => {
  const sql = openSql(path, { deferred: true, disk: { mostPages: Number.POSITIVE_INFINITY } })
  const before = readFileSync(path)

  for (let n = 0; n < 3; n++) {
    sql.run('INSERT INTO t VALUES (?, zeroblob(9000000))', n)
    await sql.pending()
  }

  expect(readFileSync(path).equals(before)).toBe(true)
  sql.close()
  expect(readFileSync(path).equals(before)).toBe(false)
})
