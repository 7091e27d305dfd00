import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { ask, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

let postgres: TestPostgres
let nodes: readonly TestNode[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  nodes = await startNodes(postgres.url, 2, { TILDE_SIGNUP: 'open', TILDE_SIGNUP_LIMIT: '0' })
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
})

verifies('cluster.create', 'every node gives the first key of a tenant that does not exist, once', async () => {
  for (const [i, { url }] of [...nodes, ...nodes].entries()) {
    const slug = `signed-${i}`
    const first = await ask(url, 'POST', `/~${slug}/api-keys`, { name: 'mine' }, '')
    const statuses = []
    for (const node of nodes) {
      statuses.push((await ask(node.url, 'GET', `/~${slug}/Contact`, undefined, first.body?.secret)).status)
      statuses.push((await ask(node.url, 'POST', `/~${slug}/api-keys`, { name: 'other' }, '')).status)
    }

    expect([slug, first.status, ...statuses]).toEqual([slug, 201, 200, 401, 200, 401])
  }
})

verifies('cluster.create', 'a sign-up does not take over a tenant that the operator has created', async () => {
  expect((await ask(nodes[0]!.url, 'POST', '/operator/tenants', { tenant: 'made' })).status).toBe(201)

  const statuses = []
  for (const { url } of nodes) statuses.push((await ask(url, 'POST', '/~made/api-keys', { name: 'mine' }, '')).status)

  expect(statuses).toEqual([401, 401])
})
