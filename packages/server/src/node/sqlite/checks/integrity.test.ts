import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSql } from '../sql.ts'
import { faultsAside } from './integrity.ts'

const PAGE = 2_048
let folder: string
let path: string

beforeEach(() => {
  // A name that has another meaning in a URL.
  folder = mkdtempSync(join(tmpdir(), 'tildebase #1%20?-'))
  path = join(folder, 'tenant.db')
  const sql = openSql(path)
  sql.run('CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT)')
  sql.run('CREATE INDEX words ON t (word)')
  sql.transaction(() => {
    for (let n = 0; n < 500; n++) sql.run('INSERT INTO t VALUES (?, ?)', n, `word ${n}`)
  })
  sql.close()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a whole file has no faults, also while another thread has it open', async () => {
  const sql = openSql(path)

  expect(await faultsAside(path)).toEqual([])

  sql.close()
})

test('a row that its index does not have is a fault', async () => {
  const bytes = readFileSync(path)
  const at = bytes.lastIndexOf('word 123')
  bytes.write('word 999', at)
  writeFileSync(path, bytes)

  expect((await faultsAside(path)).join()).toMatch(/index words/)
})

test('a file that cannot be read fails with the reason', async () => {
  writeFileSync(path, Buffer.alloc(4 * PAGE, 1))

  await expect(faultsAside(path)).rejects.toThrow('file is not a database')
})
