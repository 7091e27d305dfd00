import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SQL_CONTRACT } from '../../../../tenant/src/sql.contract.ts'
import { openSql } from './sql.ts'

describe.each([{ limits: false }, { limits: true }])('node:sqlite with limits $limits', (options) => {
  test.each(SQL_CONTRACT)('$says', ({ holds }) => {
    const sql = openSql(':memory:', options)

    expect(() => holds(sql)).not.toThrow()
    sql.close()
  })
})

test('a database on disk is written ahead and synced before every commit returns', () => {
  const sql = openSql(':memory:')

  expect(sql.rows('PRAGMA synchronous')).toEqual([[2]])
})

test('an open file belongs to the process that opened it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-sql-'))
  const owner = openSql(join(folder, 'a.db'))
  owner.run('CREATE TABLE things (name)')

  expect(() => openSql(join(folder, 'a.db'))).toThrow('locked')

  owner.close()
  const next = openSql(join(folder, 'a.db'))
  expect(next.rows('SELECT count(*) FROM things')).toEqual([[0]])
  next.close()
  rmSync(folder, { recursive: true })
})

test('with limits, what a Durable Object would refuse is refused', () => {
  const sql = openSql(':memory:', { limits: true })
  const values = Array.from({ length: 101 }, () => 1)

  expect(() => sql.rows(`SELECT ${values.map(() => '?').join(' + ')}`, ...values)).toThrow()
  expect(() => sql.rows(`SELECT ${values.join(', ')}`)).toThrow()
  expect(() => sql.rows(`SELECT ${values.join(' + ')}`)).toThrow()
  expect(() => sql.rows(`SELECT '${'x'.repeat(100_000)}'`)).toThrow()
  expect(() =>
    sql.rows(
      values
        .slice(0, 6)
        .map(() => 'SELECT 1')
        .join(' UNION ALL '),
    ),
  ).toThrow()
  expect(sql.rows('SELECT 1')).toEqual([[1]])
})

test('a database in memory begins with the content of another one, and keeps its settings', () => {
  const first = openSql(':memory:')
  first.run('CREATE TABLE things (name)')
  first.run(`INSERT INTO things VALUES ('ship')`)
  const second = openSql(':memory:', { content: first.content() })
  second.run(`INSERT INTO things VALUES ('boat')`)

  expect(second.rows('SELECT name FROM things')).toEqual([['ship'], ['boat']])
  expect(first.rows('SELECT name FROM things')).toEqual([['ship']])
  for (const setting of ['journal_mode', 'synchronous', 'secure_delete', 'page_size', 'cache_size'])
    expect(second.rows(`PRAGMA ${setting}`)).toEqual(first.rows(`PRAGMA ${setting}`))
})

test('a promise is not a transaction', () => {
  const sql = openSql(':memory:')

  // @ts-expect-error: the work of a transaction is synchronous.
  expect(sql.transaction(async () => 1)).toBeInstanceOf(Promise)
})

test('a copy is made next to transactions without end, and is whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-sql-'))
  const sql = openSql(join(folder, 'a.db'))
  sql.run('CREATE TABLE things (name)')
  for (let i = 0; i < 20; i++) sql.run('INSERT INTO things VALUES (randomblob(1000))')
  let isDone = false
  const write = () => {
    if (isDone) return
    const end = performance.now() + 3
    sql.transaction(() => {
      while (performance.now() < end) sql.run('UPDATE things SET name = randomblob(1000) WHERE rowid = 5')
    })
    setImmediate(write)
  }
  write()

  const copies: { faults: string[]; rows: unknown }[] = []
  for (let i = 0; i < 300; i++) {
    const path = join(folder, `copy-${i}.db`)
    await sql.copyTo!(path)
    const copy = openSql(path)
    copies.push({ faults: copy.faults!(), rows: copy.rows('SELECT count(*) FROM things') })
    copy.close()
  }
  isDone = true

  expect(copies).toEqual(copies.map(() => ({ faults: [], rows: [[20]] })))
  sql.close()
  rmSync(folder, { recursive: true })
})

test('a file that cannot be opened again is refused with the reason, and closed without an exception', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-sql-'))
  const path = join(folder, 'a.db')
  const sql = openSql(path, { deferred: true })
  sql.run('CREATE TABLE things (name)')
  const hide = () => {
    renameSync(path, `${path}-hidden`)
    mkdirSync(path)
  }

  await expect(sql.long!(hide)).rejects.toThrow('unable to open')

  expect(() => sql.rows('SELECT 1')).toThrow('unable to open')
  expect(() => sql.releaseMemory()).not.toThrow()
  expect(() => sql.close()).not.toThrow()
  rmSync(folder, { recursive: true })
})
