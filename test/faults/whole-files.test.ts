import fs, {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pageSumsOf, refuseDamaged } from '../../packages/server/src/node/sqlite/checks/file-damage.ts'
import { SumFile } from '../../packages/server/src/node/sqlite/checks/sum-file.ts'
import { TenantFiles } from '../../packages/server/src/node/sqlite/files.ts'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'

const PAGE = 2_048
const LOCK_BYTE = 1_073_741_824
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-whole-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Copies the files of an open database, as a kill leaves them. */
function killed(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-mark', '-sum'])
    if (existsSync(`${from}${suffix}`)) copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
}

test('a file that grows beyond the byte of its locks is whole while the new pages are in the log', async () => {
  const path = join(folder, 'tenant.db')
  const fresh = openSql(path)
  fresh.run('CREATE TABLE t (filler BLOB) STRICT')
  fresh.close()
  // A file with holes, of 4 pages less: SQLite takes the length from its head.
  const pages = LOCK_BYTE / PAGE - 4
  const file = openSync(path, 'r+')
  fs.ftruncateSync(file, pages * PAGE)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(pages)
  writeSync(file, length, 0, 4, 28)
  closeSync(file)
  const sql = openSql(path, { deferred: true })
  sql.run('INSERT INTO t VALUES (zeroblob(20000))')
  await sql.pending()
  const left = join(folder, 'left.db')
  killed(path, left)
  sql.close()

  expect(fs.statSync(left).size).toBeLessThan(LOCK_BYTE)
  expect(fs.statSync(path).size).toBeGreaterThan(LOCK_BYTE)
  expect(() => refuseDamaged(left)).not.toThrow()
})

/** A tenant with rows in a log next to its file, in a folder of its own. */
async function interrupted(): Promise<{ files: TenantFiles; path: string }> {
  const files = new TenantFiles(join(folder, 'live'))
  files.prepare()
  files.create('acme')
  const sums = files.beginUse('acme', true)
  const sql = openSql(files.pathOf('acme'), { deferred: true, sums })
  sql.run('CREATE TABLE t (n INTEGER PRIMARY KEY, filler BLOB) STRICT')
  sql.run('INSERT INTO t VALUES (1, zeroblob(30000))')
  await sql.pending()
  const left = new TenantFiles(join(folder, 'left'))
  left.prepare()
  left.create('acme')
  killed(files.pathOf('acme'), left.pathOf('acme'))
  sql.close()
  return { files: left, path: left.pathOf('acme') }
}

test('pages that a kill has left come to the disk before the checksum that counts them', async () => {
  const { files, path } = await interrupted()
  // The kill came while the log was copied.
  const sum = new SumFile(path, pageSumsOf(path))
  sum.begin((fs.statSync(`${path}-wal`).size - 32) / (PAGE + 24))
  sum.close()
  const order: string[] = []
  const { fsyncSync, writeFileSync } = fs
  const note = (what: string) => void (order.at(-1) !== what && order.push(what))
  Object.assign(fs, {
    fsyncSync: (handle: number) => {
      if (fs.fstatSync(handle).ino === fs.statSync(path).ino) note('database')
      fsyncSync(handle)
    },
    writeFileSync: (name: string, ...rest: [Buffer]) => {
      if (name.endsWith('-sum')) note('checksum')
      writeFileSync(name, ...rest)
    },
  })
  syncBuiltinESMExports()

  try {
    files.beginUse('acme', true)
  } finally {
    Object.assign(fs, { fsyncSync, writeFileSync })
    syncBuiltinESMExports()
  }

  expect(order).toEqual(['database', 'checksum'])
})

test('a file that SQLite has closed itself is whole when a kill interrupts a look into it', async () => {
  const { files, path } = await interrupted()
  // As at the end of a thread: the log was copied, and the checksum is that of before.
  const before = readFileSync(`${path}-sum`)
  openSql(path).close()
  expect(readFileSync(`${path}-sum`)).toEqual(before)

  files.hasKey('acme', 'tb_unknown~acme')
  // SQLite creates an empty log while it reads.
  fs.writeFileSync(`${path}-wal`, '')
  // At another path, as another process finds it.
  killed(path, join(folder, 'again.db'))

  expect(() => refuseDamaged(join(folder, 'again.db'))).not.toThrow()
})
