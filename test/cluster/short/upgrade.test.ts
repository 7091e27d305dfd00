import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LAYOUT_VERSION } from '@tildebase/tenant/internal'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { copyCheckout, ROOT } from '../machines/checkout.ts'
import { ask, type NodeProcess, spawnNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const STORE = 'packages/tenant/src/store'
const NEXT = LAYOUT_VERSION + 1
const TENANTS = ['a', 'b', 'c', 'd', 'e', 'f']
/** A node may take long to start: requests wait for it. */
const PATIENT = { TILDE_CLUSTER_PATIENCE: '200' }

let postgres: TestPostgres
let nodes: NodeProcess[] = []
let newer: string

beforeAll(async () => {
  postgres = await startPostgres()
  newer = mkdtempSync(join(tmpdir(), 'tildebase-newer-'))
  // The next version of the service: its tables have a layout that this one does not know.
  copyCheckout(ROOT, newer, [
    {
      file: `${STORE}/layout.ts`,
      text: `LAYOUT_VERSION = ${LAYOUT_VERSION}`,
      by: `LAYOUT_VERSION = ${NEXT}`,
    },
    {
      file: `${STORE}/migrations/index.ts`,
      text: `  ${LAYOUT_VERSION - 1}: FROM_${LAYOUT_VERSION - 1},\n`,
      by: `  ${LAYOUT_VERSION - 1}: FROM_${LAYOUT_VERSION - 1},\n  ${LAYOUT_VERSION}: ['CREATE TABLE later (id INTEGER PRIMARY KEY)'],\n`,
    },
  ])
  nodes = await Promise.all(['n1', 'n2', 'n3'].map((name) => spawnNode(postgres.url, name, undefined, ROOT, PATIENT)))
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
  rmSync(newer, { recursive: true, force: true })
})

verifies(
  ['cluster.upgrade', 'cluster.stop'],
  'the only node of a newer layout stops and comes back: requests to its tenants wait, and none is refused',
  async () => {
    const [first, ...rest] = nodes
    await first!.kill('SIGTERM')
    nodes = rest
    const only = await spawnNode(postgres.url, 'n1', first!.data, newer, PATIENT)
    nodes = [...rest, only]
    await ask(only.url, 'POST', '/operator/tenants', { tenant: 'ahead' })
    const moved = await ask(only.url, 'POST', '/operator/cluster/move', { tenant: 'ahead', node: 'n1' })
    expect(moved.status).toBe(200)
    const written: string[] = []
    const refused: unknown[] = []
    let isOver = false
    const client = async (url: string) => {
      while (!isOver) {
        const made = await ask(url, 'POST', '/~ahead/Contact', { name: 'Ada' }).catch((reason) => ({
          status: 0,
          body: reason.cause ?? reason,
        }))
        if (made.status === 201) written.push(made.body.$id)
        else refused.push(made.body)
      }
    }
    const clients = Promise.all(rest.flatMap(({ url }) => [client(url), client(url)]))
    await expect.poll(() => written.length, { timeout: 60_000 }).toBeGreaterThan(20)
    expect((await ask(only.url, 'GET', '/operator/cluster?tenant=ahead')).body.tenant).toMatchObject({
      owner: 'n1',
      layout: NEXT,
    })

    await only.kill('SIGTERM')
    nodes = [...rest, await spawnNode(postgres.url, 'n1', only.data, newer, PATIENT)]

    const before = written.length
    await expect.poll(() => written.length, { timeout: 200_000 }).toBeGreaterThan(before + 20)
    isOver = true
    await clients
    expect(refused).toEqual([])
    expect((await ask(rest[0]!.url, 'GET', '/~ahead/Contact?limit=1')).body.total).toBe(written.length)
  },
)

verifies(
  'cluster.upgrade',
  'nodes are replaced by those of a newer layout one after the other, and no write is lost',
  async () => {
    for (const tenant of TENANTS) await ask(nodes[0]!.url, 'POST', '/operator/tenants', { tenant })
    const written = new Map<string, string[]>(TENANTS.map((tenant) => [tenant, []]))
    const refused: unknown[] = []
    let isOver = false
    const client = async (tenant: string) => {
      for (let i = 0; !isOver; i++) {
        const { url } = nodes[i % nodes.length]!
        const made = await ask(url, 'POST', `/~${tenant}/Contact`, { name: `${i}` }).catch(() => null)
        if (made?.status === 201) written.get(tenant)!.push(made.body.$id)
        else if (made) refused.push(made.body)
        await new Promise((done) => setTimeout(done, 20))
      }
    }
    const clients = Promise.all(TENANTS.map(client))

    for (const old of nodes) {
      const rest = nodes.filter((node) => node !== old)
      nodes = rest
      await old.kill('SIGTERM')
      nodes = [...rest, await spawnNode(postgres.url, old.name, old.data, newer, PATIENT)]
      const before = new Map([...written].map(([tenant, ids]) => [tenant, ids.length]))
      // Every tenant is written to while nodes of both versions run.
      await expect
        .poll(() => TENANTS.filter((tenant) => written.get(tenant)!.length <= before.get(tenant)!), { timeout: 60_000 })
        .toEqual([])
    }
    isOver = true
    await clients

    expect(refused).toEqual([])
    for (const tenant of TENANTS) {
      const { body } = await ask(nodes[0]!.url, 'GET', `/~${tenant}/Contact?limit=1`)
      const verdict = await ask(nodes[0]!.url, 'GET', `/operator/tenants/${tenant}/verify`)
      const where = await ask(nodes[0]!.url, 'GET', `/operator/cluster?tenant=${tenant}`)
      expect([tenant, body.total]).toEqual([tenant, written.get(tenant)!.length])
      expect(verdict.body).toMatchObject({ ok: true, events: written.get(tenant)!.length })
      expect(where.body.tenant.layout).toBe(NEXT)
    }
  },
)
