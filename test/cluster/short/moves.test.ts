import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const SLOW = { timeout: 30_000 }

let postgres: TestPostgres
let nodes: readonly TestNode[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  nodes = await startNodes(postgres.url, 2)
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
})

verifies('cluster.move', 'a tenant moves from node to node, and no request fails meanwhile', async () => {
  await createTenant(nodes, 'mover')
  let isOver = false
  const written: string[] = []
  const failed: unknown[] = []
  const client = async (number: number) => {
    for (let i = 0; !isOver; i++) {
      const { url } = nodes[(number + i) % 2]!
      const made = await ask(url, 'POST', '/~mover/Contact', { name: `${number}-${i}` })
      if (made.status === 201) written.push(made.body.$id)
      else failed.push(['POST', made.status, made.body])
      const read = await ask(url, 'GET', `/~mover/Contact/${made.body?.$id}`)
      if (read.status !== 200) failed.push(['GET', read.status, read.body])
      const page = await ask(url, 'GET', '/~mover/manifest')
      if (page.status !== 200) failed.push(['GET manifest', page.status, page.body])
    }
  }
  const clients = Promise.allSettled([0, 1, 2, 3].map(client))
  for (let i = 0; i < 8; i++) {
    const node = nodes[i % 2]!.name
    expect((await ask(nodes[0]!.url, 'POST', '/operator/cluster/move', { tenant: 'mover', node })).status).toBe(200)
    await expect
      .poll(async () => (await ask(nodes[1]!.url, 'GET', '/operator/cluster?tenant=mover')).body.tenant.owner, SLOW)
      .toBe(node)
    await new Promise((done) => setTimeout(done, 100))
  }
  isOver = true
  await clients

  const { body } = await ask(nodes[1]!.url, 'GET', '/~mover/Contact?limit=1')
  const verdict = await ask(nodes[1]!.url, 'GET', '/operator/tenants/mover/verify')
  expect(failed).toEqual([])
  expect(body.total).toBe(written.length)
  expect(verdict.body).toMatchObject({ ok: true, events: written.length })
})
