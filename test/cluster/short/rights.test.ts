import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Reply, ROOT } from '../../host.ts'
import { Judge } from '../../openapi-judge.ts'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

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

/** Every path of a cluster, with a request that it answers with success. */
const PROBES = [
  ['GET', '/operator/cluster', undefined],
  ['GET', '/operator/cluster?tenant=probed', undefined],
  ['GET', '/operator/cluster/openapi.json', undefined],
  ['GET', '/operator/tenants', undefined],
  ['GET', '/operator/tasks', undefined],
  ['POST', '/operator/cluster/drain', { node: 'n2', draining: false }],
  ['POST', '/operator/cluster/move', { tenant: 'probed', node: null }],
  ['POST', '/operator/cluster/give', { tenant: 'probed', node: null }],
  ['POST', '/operator/cluster/tasks', {}],
  ['POST', '/operator/cluster/take', { tenant: 'probed' }],
  ['POST', '/operator/cluster/warm', { tenant: 'probed' }],
  ['POST', '/operator/cluster/verify', { tenant: 'probed', secret: 'tk_none' }],
] as const

verifies(
  'cluster.rights',
  'no key of a tenant opens a path of the cluster, and the operator key opens all',
  async () => {
    const { owner } = await createTenant(nodes, 'probed')
    const key = await ask(owner.url, 'POST', '/~probed/api-keys', { name: 'admin', scopes: 'admin:all' })
    expect(key.status).toBe(201)

    for (const [method, path, body] of PROBES) {
      const statuses = []
      for (const secret of ['', 'no-key-at-all', key.body.secret, undefined])
        statuses.push((await ask(owner.url, method, path, body, secret)).status)
      expect([path, ...statuses]).toEqual([path, 401, 403, 403, 200])
    }
    const status = await ask(owner.url, 'GET', '/operator/cluster')
    expect(status.body.nodes.map(({ draining }: { draining: boolean }) => draining)).toEqual([false, false])
  },
)

verifies('cluster.rights', 'the header of a node opens nothing without its signature', async () => {
  const { owner } = await createTenant(nodes, 'headed')
  const response = await fetch(`${owner.url}/~headed/Contact`, {
    headers: { 'x-tilde-node': 'guess', 'x-tilde-hops': '1' },
  })

  expect(response.status).toBe(401)
})

verifies('cluster.status', 'the paths of the operator answer as the OpenAPI document says', async () => {
  const document = (await ask(nodes[0]!.url, 'GET', '/operator/cluster/openapi.json')).body
  const judge = new Judge(document)
  const described = Object.keys(document.paths)

  const differences = []
  for (const [method, path, body] of PROBES.filter(([, path]) => described.includes(path.split('?')[0]!)))
    for (const secret of ['', undefined])
      differences.push(
        judge.difference({ method, path: path.split('?')[0]!, reply: await reply(method, path, body, secret) }),
      )

  expect(described).toEqual([
    '/operator/cluster',
    '/operator/cluster/drain',
    '/operator/cluster/move',
    '/operator/tenants',
  ])
  expect(differences).toEqual(differences.map(() => null))
})

async function reply(method: string, path: string, body: unknown, key?: string): Promise<Reply> {
  const answer = await ask(nodes[0]!.url, method, path, body, key)
  return { ...answer, text: JSON.stringify(answer.body) }
}

verifies('cluster.status', 'the paths of a cluster say which field is wrong', async () => {
  const wrong = [
    ['/operator/cluster/move', { tenant: 'Not A Slug', node: 'n1' }, 400],
    ['/operator/cluster/move', { tenant: 'unknown', node: 'n1' }, 404],
    ['/operator/cluster/move', { tenant: 'probed', node: 'n9' }, 404],
    ['/operator/cluster/move', { tenant: 'probed', node: { $ne: 1 } }, 400],
    ['/operator/cluster/drain', {}, 400],
    ['/operator/cluster/drain', { node: 'n9' }, 404],
    ['/operator/cluster/other', {}, 404],
  ] as const
  for (const [path, body, status] of wrong)
    expect([path, (await ask(nodes[0]!.url, 'POST', path, body)).status]).toEqual([path, status])
})

test('every node lists what all nodes have in progress', async () => {
  await createTenant(nodes, 'whole')
  const [first] = nodes
  const headers = { authorization: `Bearer ${ROOT}` }
  const file = await (await fetch(`${first!.url}/operator/tenants/whole/backup`, { headers })).bytes()
  const restore = request(`${first!.url}/operator/tenants/half/restore`, {
    method: 'PUT',
    headers: { ...headers, 'content-length': file.length },
  })
  const answered = once(restore, 'response')
  restore.write(file.subarray(0, file.length / 2))

  for (const { url } of nodes) {
    const tasks = async () => (await ask(url, 'GET', '/operator/tasks')).body.results
    await expect.poll(tasks).toMatchObject([{ tenant: 'half', task: 'restore' }])
  }
  restore.end(file.subarray(file.length / 2))
  const [{ statusCode }] = await answered
  expect(statusCode).toBe(201)
})
