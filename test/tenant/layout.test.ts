import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { OPERATOR } from '@tildebase/tenant'
import type { Sql } from '@tildebase/tenant/ports'
import { expect, test } from 'vitest'
import { readOperation } from '../../packages/tenant/src/services/session.ts'
import { toLayout10 } from './earlier-layout.ts'
import { openAcme } from './fixture.ts'

test('a file of a newer layout is refused with a sentence that says what to do, and stays as it is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = `${folder}/acme.db`
  const { tenant, close } = openAcme({}, path)
  tenant.sql.run(`UPDATE meta SET value = '999' WHERE key = 'layout'`)
  tenant.sql.scrub?.()
  close()
  const before = readFileSync(path)

  expect(() => openAcme({}, path)).toThrow(
    expect.objectContaining({ code: 'layout_too_new', message: expect.stringMatching(/999.*newer version/) }),
  )
  expect(readFileSync(path).equals(before)).toBe(true)
  rmSync(folder, { recursive: true })
})

test('a file that lacks a table is refused, whichever it is, and the table is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const whole = `${folder}/whole.db`
  const { tenant, close } = openAcme({}, whole)
  tenant.run(OPERATOR, { type: 'Contact', verb: 'create', data: { name: 'Ada' } })
  const own = `name NOT LIKE 'sqlite%' AND name NOT LIKE 'text\\_%' ESCAPE '\\'`
  const tables = tenant.sql.rows(`SELECT name FROM sqlite_schema WHERE type = 'table' AND ${own}`).flat() as string[]
  close()

  expect(tables.length).toBeGreaterThan(30)
  for (const table of tables) {
    const path = `${folder}/${table}.db`
    writeFileSync(path, readFileSync(whole))
    const db = new DatabaseSync(path)
    db.exec(`DROP TABLE "${table}"`)
    db.close()
    const refusal = { code: 'unavailable', message: expect.stringContaining(`no table ${table}.`) }
    expect(() => openAcme({}, path), table).toThrow(expect.objectContaining(refusal))
  }
  rmSync(folder, { recursive: true })
})

// Written by the first layout: Ada (created, renamed, another address) and a deal of hers (created at 1, worth 2, deleted,
// restored, worth 3), a second apart.
test('a file of the first layout is brought forward with all its past, and continues', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = `${folder}/acme.db`
  writeFileSync(path, gunzipSync(readFileSync(new URL('layouts/layout-1.db.gz', import.meta.url))))
  const { tenant, clock, close } = openAcme({}, path)
  const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString()
  const ask = (type: string, options = {}) =>
    readOperation({ engine: tenant.engine, grant: OPERATOR }, type, 'find', [{}, options]) as any[]
  const value = (n: number) => ask('Deal', { asOf: second(n) }).map((deal) => deal.value)
  const [deal] = ask('Deal')

  expect([1, 2, 3, 4, 5, 6, 7].map(value)).toEqual([[], [1], [2], [2], [], [2], [3]])
  clock.at = Date.UTC(2026, 0, 1, 0, 0, 9)
  tenant.act({ type: 'Deal', verb: 'update', id: deal.$id, data: { value: 4 }, actor: 'system' })
  expect([7, 8, 9].map(value)).toEqual([[3], [3], [4]])
  expect(ask('Contact').map((contact) => contact.email)).toEqual(['countess@example.org'])
  expect(tenant.facade.admin.verify()).toMatchObject({ faults: [] })
  close()
  expect(openAcme({}, path).tenant.head.seq).toBe(9)
  rmSync(folder, { recursive: true })
})

/** What a file tells of its events and entities, in the words of layout 10. */
function told(path: string, events: string, states: string) {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = (columns: string, table: string) => db.prepare(`SELECT ${columns} FROM ${table} ORDER BY 1`).all()
  const has = (column: string) => db.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = ?`).get(events, column)
  const all = {
    events: rows(
      `seq, id, at, type, entity, verb, event, version, actor, correlation, created_at, created_by, data, previous, salt, hash,
      ${has('replaced') ? 'replaced' : 'NULL'}, ${has('args') ? 'args' : 'NULL AS args'}, ${has('recorded_at') ? 'recorded_at' : 'NULL AS recorded_at'},
      ${has('on_behalf_of') ? 'on_behalf_of' : 'NULL AS on_behalf_of'}, CASE WHEN salt IS NULL THEN digest END AS digest`,
      events,
    ),
    states: rows('n, id, type, gone, seq, version, created_at, created_by, updated_at, data', states),
    index: rows(
      'field, value, until, n, since',
      events === 'log' && !hasTable(db, 'field_index') ? 'facts' : 'field_index',
    ),
  }
  db.close()
  return all
}

/** The names of all that a file declares. */
function schemaOf(sql: Sql): string[] {
  return sql.rows('SELECT name FROM sqlite_schema ORDER BY name').flat()
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined
}

test('a file of every earlier layout keeps its events, states and hashes', () => {
  for (const layout of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14]) {
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
    const path = `${folder}/acme.db`
    writeFileSync(path, gunzipSync(readFileSync(new URL(`layouts/layout-${layout}.db.gz`, import.meta.url))))
    const before = layout > 10 ? told(path, 'events', 'states') : told(path, 'log', 'entities')

    const { tenant, close } = openAcme({}, path)
    const head = tenant.head
    const verdict = tenant.facade.admin.verify()
    const names = schemaOf(tenant.sql)
    tenant.sql.scrub?.()
    close()

    const after = told(path, 'events', 'states')
    // The first layout did not say what an event replaced.
    const comparable =
      layout === 1 ? after.events.map(({ replaced, ...event }) => ({ ...event, NULL: null })) : after.events
    expect(comparable).toEqual(before.events)
    expect(names).toEqual(schemaOf(openAcme().tenant.sql))
    expect(after.states).toEqual(before.states)
    expect(after.index).toEqual(before.index)
    expect(verdict).toMatchObject({ ok: true, faults: [] })
    expect(head.hash).toEqual(before.events.at(-1)!.hash)
    rmSync(folder, { recursive: true })
  }
})

test('a process that is killed while it brings a file forward loses nothing, and the next one continues', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = `${folder}/acme.db`
  const { tenant, close } = openAcme({}, path)
  tenant.sql.transaction(() => {
    for (let i = 0; i < 6_000; i++)
      tenant.act({ type: 'Contact', verb: 'create', data: { name: `Ada ${i}`, phone: `${i}` }, actor: `key_${i % 9}` })
  })
  toLayout10(tenant.sql)
  tenant.sql.scrub?.()
  close()
  const before = told(path, 'log', 'entities')
  const script = new URL('migrate.ts', import.meta.url).pathname

  const ends = [1, 1, 1].map((slices) => spawnSync(process.execPath, [script, path, `${slices}`]).signal)
  const log: string[] = []
  const opened = openAcme({ log: (_, message) => void log.push(message) }, path)
  const verdict = opened.tenant.facade.admin.verify()
  opened.tenant.sql.scrub?.()
  opened.close()

  const after = told(path, 'events', 'states')
  const digests = (events: object[]) => events.map((event) => ({ ...event, digest: null }))
  expect(ends).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL'])
  expect(log).toEqual([expect.stringMatching(/acme gets the layout of this version: \d+ of \d+ rows/)])
  expect(digests(after.events)).toEqual(digests(before.events))
  expect(after.states).toEqual(before.states)
  expect(verdict).toMatchObject({ ok: true, faults: [] })
  rmSync(folder, { recursive: true })
})
