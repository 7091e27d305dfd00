import { connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT } from '../../host.ts'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, startNode, type TestNode } from './nodes.ts'
import { freePort, startPostgres, type TestPostgres } from './postgres.ts'

/** Lets bytes through to a node, or to none, and keeps what nodes send. */
interface Listener {
  readonly url: string
  readonly port: number
  sent: string
  target: number | null
  close(): void
}

let postgres: TestPostgres
let nodes: readonly TestNode[] = []
let before: Listener
let hostile: Listener

beforeAll(async () => {
  postgres = await startPostgres()
  before = await listen()
  hostile = await listen()
  const env = { TILDE_CLUSTER_PATIENCE: '10' }
  const first = await startNode(postgres.url, 'n1', env)
  // Other nodes reach the second one through a listener that sees what they send.
  const second = await startNode(postgres.url, 'n2', { ...env, TILDE_ADVERTISE: before.url })
  before.target = Number(new URL(second.url).port)
  nodes = [first, second]
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
  before?.close()
  hostile?.close()
})

verifies(
  'cluster.rights',
  'the operator key does not leave a node, and the node that answers knows the operator',
  async () => {
    const [first, second] = nodes
    await expect.poll(async () => (await ask(first!.url, 'GET', '/operator/cluster')).body.nodes.length).toBe(2)
    await createTenant(nodes, 'kept')
    const moved = await ask(first!.url, 'POST', '/operator/cluster/move', { tenant: 'kept', node: 'n2' })

    const statuses = []
    statuses.push((await ask(first!.url, 'POST', '/~kept/Contact', { name: 'Ada' })).status)
    statuses.push((await ask(first!.url, 'GET', '/~kept/Contact')).status)
    statuses.push((await ask(first!.url, 'GET', '/operator/tenants/kept/log')).status)
    statuses.push((await ask(first!.url, 'POST', '/operator/cluster/move', { tenant: 'kept', node: 'n1' })).status)
    statuses.push((await ask(first!.url, 'POST', '/operator/cluster/move', { tenant: 'kept', node: 'n2' })).status)

    expect([moved.status, ...statuses]).toEqual([200, 201, 200, 200, 200, 200])
    expect(before.sent).toContain('POST /~kept/Contact')
    expect(before.sent).toContain('POST /operator/cluster/')
    expect(before.sent.includes(ROOT)).toBe(false)
    expect((await ask(second!.url, 'GET', '/~kept/Contact')).body.results).toHaveLength(1)
  },
)

verifies('cluster.rights', 'what one node has sent opens nothing as another request', async () => {
  const [first, second] = nodes
  await ask(first!.url, 'GET', '/~kept/Contact')
  const proof = /GET \/~kept\/Contact[\s\S]*?x-tilde-node: (\S+)/i.exec(before.sent)![1]!
  const send = async (url: string, path: string, method = 'GET', given = proof) =>
    (await fetch(`${url}${path}`, { method, headers: { 'x-tilde-node': given } })).status

  // The listener in front of the second node can repeat it; a path, a method, a node or a role of its own it cannot choose.
  expect(await send(second!.url, '/~kept/Contact')).toBe(200)
  expect(await send(second!.url, '/~kept/Deal')).toBe(401)
  expect(await send(second!.url, '/~kept/Contact', 'POST')).toBe(401)
  expect(await send(first!.url, '/~kept/Contact')).toBe(401)
  expect(await send(second!.url, '/~kept/Contact', 'GET', proof.replace(/\d+/, '1'))).toBe(401)
})

verifies('cluster.rights', 'a node gets nothing at an address that another hand wrote into the log', async () => {
  const [first] = nodes
  const key = await ask(first!.url, 'POST', '/~kept/api-keys', { name: 'mine', scopes: 'admin:all' })
  expect(key.status).toBe(201)
  await postgres.query(`UPDATE tilde_nodes SET url = '${hostile.url}' WHERE name = 'n2'`)
  await postgres.query(
    `INSERT INTO tilde_nodes (session, name, url, beat, clock, layout, version)
     SELECT 'mine', 'n3', '${hostile.url}', 1, clock, layout, version FROM tilde_nodes WHERE name = 'n1'`,
  )
  const isKnown = async () => {
    const { body } = await ask(first!.url, 'GET', '/operator/cluster')
    return body.nodes.map(({ name }: { name: string }) => name)
  }
  await expect.poll(isKnown, { timeout: 20_000 }).toEqual(['n1'])

  await Promise.all([
    ask(first!.url, 'GET', '/~kept/Contact', undefined, key.body.secret),
    ask(first!.url, 'GET', '/~kept/Contact'),
    ask(first!.url, 'POST', '/operator/cluster/move', { tenant: 'kept', node: 'n1' }),
    ...['a', 'b', 'c', 'd'].map((slug) => ask(first!.url, 'GET', `/~${slug}/Contact`)),
  ])

  expect(hostile.sent).toBe('')
})

async function listen(): Promise<Listener> {
  const port = await freePort()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      listener.sent += bytes.toString('latin1')
    })
    if (listener.target === null) return
    const out = connect(listener.target, '127.0.0.1')
    out.on('error', () => socket.destroy())
    socket.on('close', () => out.destroy())
    socket.pipe(out).pipe(socket)
  })
  const listener: Listener = {
    ...{ url: `http://127.0.0.1:${port}`, port, sent: '', target: null },
    close: () => void server.close(),
  }
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return listener
}
