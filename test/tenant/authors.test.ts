import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { authoredParts } from '../../packages/tenant/src/authorship/parts.ts'
import { Importer } from '../../packages/tenant/src/services/bulk/import.ts'
import { putHook } from '../../packages/tenant/src/services/scripts/stored.ts'
import { sync } from '../../packages/tenant/src/services/sync/sync.ts'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { subscriptions } from '../../packages/tenant/src/services/webhooks/subscription.ts'
import { currentWorkflow } from '../../packages/tenant/src/services/workflows/author.ts'
import { storedHook } from '../../packages/tenant/src/write/stored-hooks.ts'
import { toLayout10 } from './earlier-layout.ts'
import { openAcme } from './fixture.ts'

/** What later layouts added. */
const LATER_TABLES =
  'authors waits asks secrets contents content_senders content_uses uploads upload_parts blobs_to_remove integrations event_subscriptions'.split(
    ' ',
  )

/** A file with one thing of every kind that a key stored, in the form of layout 7. */
function openOld() {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = `${folder}/acme.db`
  const { tenant, close } = openAcme({}, path)
  const made = tenant.run(OPERATOR, { type: 'ApiKey', verb: 'create', data: { name: 'k', scopes: 'admin:all' } }).entity
  const grant: Grant = { ...OPERATOR, actor: made.id }
  const noun = tenant.engine.noun('Contact')
  tenant.write(grant, (write) => putHook(write, noun, 'created', '() => null'))
  tenant.write(grant, (write) =>
    putType(write, 'Deal', { due: 'datetime', copy: '= contact.phone', $timers: { t: { at: 'due', run: 'win' } } }),
  )
  const data = { url: 'https://example.com/', events: ['*'] }
  const webhook = tenant.run(grant, { type: 'Webhook', verb: 'create', data }).entity.id
  const steps = { name: 'w', triggerEvent: 'Deal.created', steps: [] }
  const create = () => tenant.run(grant, { type: 'Workflow', verb: 'create', data: steps }).entity.id
  const [plain, touched] = [create(), create()]
  // The service wrote last, and an earlier version took its rights.
  tenant.act({ type: 'Workflow', verb: 'update', id: touched, data: { description: 'x' }, actor: 'system' })
  const { sql } = tenant
  const rights = JSON.stringify({ scopes: grant.scopes, rows: {} })
  sql.run('UPDATE workflows SET rights = ?', rights)
  sql.run('UPDATE workflows SET seq = (SELECT max(seq) FROM log) WHERE id = ?', touched)
  sql.run('UPDATE receivers SET sees = ?', JSON.stringify({ actor: made.id, scopes: grant.scopes, rows: {} }))
  for (const table of LATER_TABLES) sql.run(`DROP TABLE ${table}`)
  // Its rights are fewer by now: what takes the rights of its creator has these.
  sql.run('DROP TRIGGER log_unchanged')
  sql.run(
    `UPDATE log SET data = json_set(data, '$.scopes', 'write:platform') WHERE n = (SELECT n FROM entities WHERE id = ?)`,
    made.id,
  )
  toLayout10(sql)
  sql.run('ALTER TABLE log DROP COLUMN recorded_at')
  sql.run(`UPDATE meta SET value = '7' WHERE key = 'layout'`)
  close()
  const { tenant: reopened, close: end } = openAcme({}, path)
  const stop = () => {
    end()
    rmSync(folder, { recursive: true })
  }
  return { tenant: reopened, key: made.id, webhook, plain, touched, stop }
}

test('what an earlier version stored has the author whose rights were kept, or its creator', () => {
  const { tenant, key, webhook, plain, touched, stop } = openOld()
  const { engine } = tenant
  const all = [{ action: 'admin', area: 'all' }]

  expect(storedHook(engine, 'Contact', 'created')?.code.author.actor).toBe(key)
  expect(currentWorkflow(engine, plain)?.author).toMatchObject({ actor: key, grant: { scopes: all } })
  expect(currentWorkflow(engine, touched)?.author).toMatchObject({
    actor: key,
    grant: { scopes: [{ action: 'write', area: 'platform' }] },
  })
  expect([...subscriptions(engine).keys()]).toEqual([webhook])
  stop()
})

test('a timer or computed field of an earlier version does not run beyond the rights of its author', () => {
  const { tenant, stop } = openOld()
  const { timers, computed } = authoredParts(tenant.engine)

  expect(timers.has('Deal.t')).toBe(false)
  expect(computed.has('Deal.copy')).toBe(false)
  // Those of the program have the service as author, with the rights that they name.
  expect(timers.get('Content.publish')?.author).toEqual({
    actor: 'service',
    grant: { scopes: [{ action: 'write', area: 'Content' }], rows: {} },
  })
  stop()
})

test('what an import or a sync stores has its caller as the author', () => {
  const { tenant, close } = openAcme()
  const made = tenant.run(OPERATOR, { type: 'ApiKey', verb: 'create', data: { name: 'k', scopes: 'admin:all' } }).entity
  const caller: Grant = { ...OPERATOR, actor: made.id }
  const steps = [{ verb: 'create', type: 'Comment', args: { body: 'x' } }]
  const workflow = (name: string) => ({ name, triggerEvent: 'Deal.created', steps })
  const importer = new Importer(tenant.engine.noun('Workflow'), { upsert: null, dryRun: false })
  const [imported, synced] = ['workflow_imported00000001', 'workflow_synced0000000001']
  const change = (type: string, id: string, data: object) => ({
    type,
    id,
    operation: 'create',
    data,
    timestamp: new Date(Date.UTC(2026, 0, 1)).toISOString(),
  })
  const changes = [change('Workflow', synced, workflow('s'))]

  tenant.write(caller, (write) =>
    importer.take(write, [{ row: 0, size: 1, value: { ...workflow('i'), $id: imported } }]),
  )
  tenant.write(caller, (write) => sync(write, { changes }))

  const { engine } = tenant
  for (const id of [imported, synced])
    expect(currentWorkflow(engine, id)?.author, id).toMatchObject({ actor: made.id, grant: { scopes: caller.scopes } })
  close()
})
