import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { readOperation } from '../../packages/tenant/src/services/session.ts'
import { openAcme } from './fixture.ts'

test('a file of a newer layout is refused with a sentence that says what to do, and stays as it is', () => {
  const folder = mkdtempSync('/tmp/tildebase-')
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

// Written by the first layout: Ada (created, renamed, another address) and a deal of hers (created at 1, worth 2, deleted,
// restored, worth 3), a second apart.
test('a file of the first layout is brought forward with all its past, and continues', () => {
  const folder = mkdtempSync('/tmp/tildebase-')
  const path = `${folder}/acme.db`
  writeFileSync(path, gunzipSync(readFileSync(new URL('layout-1.db.gz', import.meta.url))))
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
