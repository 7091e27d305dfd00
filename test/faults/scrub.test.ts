import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { type TestApp, testApp } from '../host.ts'

/** The list of tenants, once a damage is in it or has gone. */
async function listed(app: TestApp, isDamaged: boolean): Promise<{ tenant: string; damage?: string }[]> {
  for (let left = 300; left > 0; left--) {
    const { body } = await app.request('GET', '/operator/tenants')
    if (body.results.some((row: { damage?: string }) => row.damage !== undefined) === isDamaged) return body.results
    await pause(100)
  }
  throw new Error('The verification did not come.')
}

test('damage is found without a question, and reported until the tenant is whole again', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-scrub-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const first = await testApp({}, { data })
  for (const tenant of ['sound', 'rotten']) await first.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })
  await first.stop()
  const [file, copy] = [join(data, 'tenants', 'ro', 'rotten.db'), join(data, 'rotten.copy')]
  copyFileSync(file, copy)
  const sql = openSql(file)
  sql.run('DROP TRIGGER log_unchanged')
  sql.run(`UPDATE log SET data = replace(data, 'Ada', 'Eve')`)
  sql.close()

  const scrubbed = await testApp({ TILDE_SCRUB: '200ms' }, { data })
  const rows = await listed(scrubbed, true)
  const journal = await scrubbed.request('GET', '/operator/log')
  const numbers = await scrubbed.request('GET', '/metrics')
  await scrubbed.stop()
  copyFileSync(copy, file)
  const mended = await testApp({ TILDE_SCRUB: '200ms' }, { data })
  const whole = await listed(mended, false)
  await mended.stop()

  expect(rows.map(({ tenant, damage }) => [tenant, damage !== undefined])).toEqual([
    ['rotten', true],
    ['sound', false],
  ])
  expect(journal.body.results).toMatchObject([{ action: 'damage', tenant: 'rotten', damage: expect.any(String) }])
  expect(numbers.text).toMatch(/^tilde_damaged_tenants 1$/m)
  expect(whole).toHaveLength(2)
})
