import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { systemRandom } from '../../packages/server/src/host/ports.ts'
import { readOperation } from '../../packages/tenant/src/services/session.ts'
import { newEventId, seqIn, storedId, wholeId } from '../../packages/tenant/src/store/log/event-ids.ts'
import { hasEntry, readEntry, readEntryOf } from '../../packages/tenant/src/store/log/log.ts'
import { openAcme } from './fixture.ts'

type Acme = ReturnType<typeof openAcme>

const ids = ({ tenant }: Acme) => tenant.sql.rows('SELECT id, seq FROM events ORDER BY seq') as [string, number][]
const find = ({ tenant }: Acme, filter: JsonObject) =>
  readOperation({ engine: tenant.engine, grant: OPERATOR }, 'Event', 'find', [filter, {}]) as unknown as {
    $id: string
  }[]

/** Every event is found by its id, and by no other that looks like it. */
function expectFound(acme: Acme): void {
  const { sql } = acme.tenant
  for (const [id, seq] of ids(acme)) {
    expect(readEntry(sql, seq)?.id).toBe(id)
    expect(readEntryOf(sql, id)?.seq).toBe(seq)
    expect(find(acme, { $id: id }).map(({ $id }) => $id)).toEqual([id])
    const other = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
    expect([hasEntry(sql, other), find(acme, { $id: other })]).toEqual([false, []])
  }
  const some = ids(acme).map(([id]) => id)
  expect(
    find(acme, { $id: { $in: [...some, 'event_none'] } })
      .map(({ $id }) => $id)
      .toSorted(),
  ).toEqual(some.toSorted())
}

test('an event is found by its id, in a new file and in one of an earlier layout', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = join(folder, 'acme.db')
  writeFileSync(path, gunzipSync(readFileSync(new URL('layouts/layout-14.db.gz', import.meta.url))))
  for (const acme of [openAcme(), openAcme({}, path)]) {
    const { tenant, clock, close } = acme
    clock.at += 60_000
    for (let i = 0; i < 20; i++)
      tenant.act({ type: 'Contact', verb: 'create', data: { name: `Ada ${i}` }, actor: 'system' })
    tenant.act({ type: 'Event', verb: 'create', data: { name: 'seen', type: 'track' }, actor: 'system' })

    expectFound(acme)
    expect(tenant.facade.admin.verify()).toMatchObject({ faults: [] })
    close()
  }
  rmSync(folder, { recursive: true })
})

test('the row of an event holds the part of its id that is chance, and a tracked Event all of it', () => {
  const { tenant, close } = openAcme()
  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 'system' })
  tenant.act({ type: 'Event', verb: 'create', data: { name: 'seen', type: 'track' }, actor: 'system' })

  const stored = tenant.sql.rows('SELECT id FROM log ORDER BY seq').flat() as string[]
  expect(stored.map((id) => id.length)).toEqual([10, expect.any(Number)])
  expect(stored[1]).toMatch(/^event_/)
  close()
})

test('an id says its seq, whatever time and seq it has', () => {
  for (const at of [0, 1, 1_767_225_601_000, 16 ** 11 - 1]) {
    for (const seq of [1, 15, 16 ** 7 - 1, 16 ** 7, 9_007_199_254_740_991]) {
      const id = newEventId(at, seq, systemRandom)
      expect(id).toMatch(/^event_[0-9A-Za-z]{28,40}$/)
      expect(seqIn(id)).toBe(seq)
      expect(storedId(id, at, seq)).toHaveLength(10)
      expect(wholeId(storedId(id, at, seq), at, seq)).toBe(id)
      expect(storedId(id, at, seq + 1)).toBe(id)
      expect(storedId(id, at + 1, seq)).toBe(id)
    }
  }
  for (const at of [-1, -62_135_596_800_000, 16 ** 11]) {
    const id = newEventId(at, 5, systemRandom)
    expect(id).toMatch(/^event_[0-9A-Za-z]{28}$/)
    expect(storedId(id, at, 5)).toBe(id)
  }
  expect(['event_1', 'contact_0197f0000000000001abcdefghij', ''].map(seqIn)).toEqual([0, 0, 0])
})
