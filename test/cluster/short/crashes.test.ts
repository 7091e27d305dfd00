import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, type NodeProcess, ownerOf, spawnNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

let postgres: TestPostgres
let nodes: NodeProcess[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  nodes = await Promise.all(['n1', 'n2', 'n3'].map((name) => spawnNode(postgres.url, name)))
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
})

/** Clients that write through all nodes while something happens. */
async function during(tenant: string, work: () => Promise<void>) {
  const acknowledged: string[] = []
  const refused: (number | string)[] = []
  let isOver = false
  const client = async (number: number) => {
    for (let i = 0; !isOver; i++) {
      const { url } = nodes[(number + i) % nodes.length]!
      const made = await ask(url, 'POST', `/~${tenant}/Contact`, { name: `${number}-${i}` }).catch(() => null)
      if (made?.status === 201) acknowledged.push(made.body.$id)
      else {
        refused.push(made?.status ?? 'no answer')
        await new Promise((done) => setTimeout(done, 50))
      }
    }
  }
  const clients = Promise.all([0, 1, 2, 3].map(client))
  await new Promise((done) => setTimeout(done, 500))
  await work()
  const before = acknowledged.length
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(before + 20)
  isOver = true
  await clients
  return { acknowledged, refused }
}

/** All ids of a tenant, by its log of events. */
async function idsOf(url: string, tenant: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await ask(url, 'GET', `/~${tenant}/events?limit=100${cursor && `&cursor=${cursor}`}`)
    ids.push(...body.results.map((event: { entityId: string }) => event.entityId))
    if (!body.hasMore) return ids
    cursor = body.cursor
  }
}

async function check(tenant: string, acknowledged: readonly string[]): Promise<void> {
  const { url } = nodes[0]!
  const ids = await idsOf(url, tenant)
  const verdict = await ask(url, 'GET', `/operator/tenants/${tenant}/verify`)
  expect(new Set(ids).size).toBe(ids.length)
  expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([])
  expect(verdict.body).toMatchObject({ ok: true, events: ids.length })
}

verifies(
  ['cluster.crash', 'cluster.owner'],
  'after kill -9 of the owner another node continues with all that was acknowledged',
  async () => {
    await createTenant(nodes, 'killed')

    const { acknowledged } = await during('killed', async () => {
      const { owner } = await ownerOf(nodes, 'killed')
      const { name, data } = owner as NodeProcess
      await (owner as NodeProcess).kill('SIGKILL')
      nodes = nodes.filter((node) => node !== owner)
      nodes.push(await spawnNode(postgres.url, name, data))
    })

    await check('killed', acknowledged)
  },
)

verifies(
  'cluster.fence',
  'an owner that was paused writes nothing when it resumes, and returns no old data',
  async () => {
    await createTenant(nodes, 'stopped')

    const { acknowledged } = await during('stopped', async () => {
      const { owner, other } = await ownerOf(nodes, 'stopped')
      const { child } = owner as NodeProcess
      const all = nodes
      child.kill('SIGSTOP')
      nodes = nodes.filter((node) => node !== owner)
      await expect
        .poll(async () => (await ownerOf(nodes, 'stopped').catch(() => ({ owner }))).owner !== owner, {
          timeout: 30_000,
        })
        .toBe(true)
      const made = await ask(other.url, 'POST', '/~stopped/Contact', { name: 'new' })
      expect(made.status).toBe(201)
      child.kill('SIGCONT')
      nodes = all
      const read = async () => (await ask(owner.url, 'GET', `/~stopped/Contact/${made.body.$id}`)).status
      // It may refuse until it has found out; what it must not say is that there is no such contact.
      expect([200, 503]).toContain(await read())
      await expect.poll(read, { timeout: 30_000 }).toBe(200)
    })

    await check('stopped', acknowledged)
  },
)

verifies('cluster.stop', 'a node that stops hands its tenants over, and no request fails', async () => {
  await createTenant(nodes, 'handed')
  const { owner, other } = await ownerOf(nodes, 'handed')
  let isOver = false
  const answers: (number | object)[] = []
  const client = async () => {
    while (!isOver) {
      const { status, body } = await ask(other.url, 'POST', '/~handed/Contact', { name: 'Ada' })
      answers.push(status === 201 ? status : body)
    }
  }
  const clients = Promise.all([client(), client(), client()])
  await new Promise((done) => setTimeout(done, 300))

  await (owner as NodeProcess).kill('SIGTERM')

  const before = answers.length
  await expect.poll(() => answers.length, { timeout: 30_000 }).toBeGreaterThan(before + 10)
  isOver = true
  await clients
  nodes = nodes.filter((node) => node !== owner)
  nodes.push(await spawnNode(postgres.url, owner.name))
  expect(new Set(answers)).toEqual(new Set([201]))
  expect((await ask(other.url, 'GET', '/~handed/Contact?limit=1')).body.total).toBe(answers.length)
})

verifies(
  'cluster.database',
  'PostgreSQL is ended and starts again: nothing is lost, and the nodes continue',
  async () => {
    await createTenant(nodes, 'restarted')

    const { acknowledged } = await during('restarted', async () => postgres.restart())

    await check('restarted', acknowledged)
  },
)
