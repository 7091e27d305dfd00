import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FileSync } from '../../packages/server/src/node/sqlite/disk-sync.ts'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'

/** The outcome of a write to the file by another process. */
function writeElsewhere(path: string): string {
  const code = `const { DatabaseSync } = require('node:sqlite')
    try { new DatabaseSync(process.argv[1]).exec('CREATE TABLE other (a)'); console.log('written') }
    catch (reason) { console.log(reason.message) }`
  return spawnSync(process.execPath, ['-e', code, path]).stdout.toString().trim()
}

test('no other process writes to an open file, also after a sync that ended late', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-locks-'))
  const path = join(folder, 'tenant.db')
  const late: (() => void)[] = []
  const sync: FileSync = {
    later: (_, __, done) => void late.push(() => done(null)),
    folder: (_, __, done) => void late.push(() => done(null)),
    now: () => {
      for (const end = performance.now() + 2; performance.now() < end; );
    },
  }
  const options = { deferred: true, disk: { sync } }
  const first = openSql(path, options)
  for (const table of ['a', 'b', 'c']) first.run(`CREATE TABLE ${table} (n)`)
  const whileOpen = writeElsewhere(path)
  first.close()
  const second = openSql(path, options)
  second.run('INSERT INTO a VALUES (1)')

  // The sync of the connection that was closed.
  while (late.length > 0) late.shift()!()
  const afterLate = writeElsewhere(path)
  second.close()
  const afterClose = writeElsewhere(path)
  rmSync(folder, { recursive: true, force: true })

  expect([whileOpen, afterLate, afterClose]).toEqual(['database is locked', 'database is locked', 'written'])
})
