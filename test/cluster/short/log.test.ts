import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT, testHost } from '../../host.ts'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, startNode, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const SLOW = { timeout: 60_000 }

let postgres: TestPostgres
let nodes: TestNode[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  nodes = [...(await startNodes(postgres.url, 2, { TILDE_CLUSTER_SNAPSHOT_CHANGES: '20' }))]
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
})

const countOf = async (text: string) => Number((await postgres.query(text))[0]!.count)

verifies('cluster.snapshot', 'snapshots replace the changes before them, and a new node starts from one', async () => {
  const { other } = await createTenant(nodes, 'long')
  for (let i = 0; i < 60; i++) await ask(other.url, 'POST', '/~long/Contact', { name: `Person ${i}` })

  await expect
    .poll(() => countOf(`SELECT snapshot AS count FROM tilde_tenants WHERE slug = 'long'`), SLOW)
    .toBeGreaterThan(40)
  expect(await countOf(`SELECT count(*) FROM tilde_log WHERE slug = 'long'`)).toBeLessThan(40)
  expect(await countOf(`SELECT count(DISTINCT id) FROM tilde_snapshots WHERE slug = 'long'`)).toBe(1)

  const third = await startNode(postgres.url, 'n3')
  nodes.push(third)
  await ask(third.url, 'POST', '/operator/cluster/move', { tenant: 'long', node: 'n3' })
  await expect
    .poll(async () => (await ask(third.url, 'GET', '/operator/cluster?tenant=long')).body.tenant.owner, SLOW)
    .toBe('n3')
  const found = await ask(third.url, 'GET', `/~long/Contact?filter=${encodeURIComponent('{"$text":"person"}')}&limit=1`)
  expect(found.body.total).toBe(60)
  expect((await ask(third.url, 'GET', '/operator/tenants/long/verify')).body.ok).toBe(true)
})

verifies('cluster.erase', 'after an erasure neither changes nor snapshots hold the values', async () => {
  const { other } = await createTenant(nodes, 'erased')
  const secret = 'Persephone-7d1f'
  const { body: contact } = await ask(other.url, 'POST', '/~erased/Contact', { name: secret })
  await ask(other.url, 'POST', '/~erased/Contact', { name: 'Ada' })
  const holds = () =>
    countOf(`SELECT count(*) FROM tilde_log WHERE slug = 'erased' AND position('${secret}'::bytea IN changes) > 0`)
  expect(await holds()).toBeGreaterThan(0)

  const erased = await ask(other.url, 'POST', `/~erased/Contact/${contact.$id}/erase`)

  expect(erased.status).toBe(200)
  await expect.poll(holds, SLOW).toBe(0)
  expect(await countOf(`SELECT count(*) FROM tilde_tenants WHERE slug = 'erased' AND snapshot >= erased`)).toBe(1)
  expect((await ask(other.url, 'GET', '/operator/tenants/erased/verify')).body.ok).toBe(true)
})

verifies('cluster.in.out', 'a tenant moves from a single node into the cluster and out again', async () => {
  const single = await testHost()
  await ask(single.url, 'POST', '/~traveller/Contact', { name: 'Ada' })
  const file = new Uint8Array(
    await (
      await fetch(`${single.url}/operator/tenants/traveller/backup`, { headers: { authorization: `Bearer ${ROOT}` } })
    ).arrayBuffer(),
  )

  expect((await ask(nodes[0]!.url, 'PUT', '/operator/tenants/traveller/restore', file)).status).toBe(201)
  expect((await ask(nodes[1]!.url, 'POST', '/~traveller/Contact', { name: 'Bob' })).status).toBe(201)
  const backup = await fetch(`${nodes[1]!.url}/operator/tenants/traveller/backup`, {
    headers: { authorization: `Bearer ${ROOT}` },
  })
  await ask(single.url, 'DELETE', '/operator/tenants/traveller')
  const back = await ask(
    single.url,
    'PUT',
    '/operator/tenants/traveller/restore',
    new Uint8Array(await backup.arrayBuffer()),
  )

  const there = (await ask(nodes[0]!.url, 'GET', '/operator/tenants/traveller/verify')).body
  const here = (await ask(single.url, 'GET', '/operator/tenants/traveller/verify')).body
  await single.stop()
  expect(back.status).toBe(201)
  expect(here).toMatchObject({ ok: true, events: 2, head: there.head })
})

verifies(['cluster.create', 'cluster.status'], 'a node never creates a tenant without a request', async () => {
  const unknown = await ask(nodes[0]!.url, 'POST', '/~nobody/Contact', { name: 'Ada' })
  const status = await ask(nodes[1]!.url, 'GET', '/operator/cluster')
  const keyless = await ask(nodes[1]!.url, 'GET', '/operator/cluster', undefined, '')

  expect([unknown.status, unknown.body.error]).toEqual([404, 'unknown_tenant'])
  expect(await countOf(`SELECT count(*) FROM tilde_tenants WHERE slug = 'nobody'`)).toBe(0)
  expect(status.body.nodes.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['n1', 'n2']))
  expect(keyless.status).toBe(401)
})

verifies('cluster.settings', 'a node with another key, or without one, does not start', async () => {
  const other = { TILDE_SECRET_KEY: 'another-secret-0123456789-0123456789-0123456789' }
  await expect(startNode(postgres.url, 'n4', other)).rejects.toThrow(
    /differs from the cluster in TILDE_ROOT_KEY, TILDE_SECRET_KEY/,
  )
  await expect(startNode(postgres.url, 'n4', { TILDE_SIGNING_KEY: '' })).rejects.toThrow(/needs TILDE_SIGNING_KEY/)
})

verifies('cluster.folder', 'a data folder is of a single node or of a cluster', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-folder-'))
  const single = await testHost({}, { data })
  await ask(single.url, 'POST', '/~alone/Contact', { name: 'Ada' })
  await single.stop()

  await expect(startNode(postgres.url, 'n5', {}, data)).rejects.toThrow(/has tenants of a single node/)
  await expect(startHost(readSettings({ data: nodes[0]!.data, port: '0' }, {}))).rejects.toThrow(/belongs to a cluster/)
  rmSync(data, { recursive: true })
})
