import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const SLOW = { timeout: 30_000 }

let postgres: TestPostgres
let nodes: readonly TestNode[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  // Without followers a replica is brought only when a tenant is about to come.
  nodes = await startNodes(postgres.url, 2, { TILDE_CLUSTER_FOLLOWERS: '0' })
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

verifies('cluster.move', 'a move right after another is done, and the last one counts', async () => {
  await createTenant(nodes, 'restless')
  const moves = ['n1', 'n2', 'n1', 'n2', 'n1', 'n2']

  const answers = []
  for (const node of moves)
    answers.push(await ask(nodes[0]!.url, 'POST', '/operator/cluster/move', { tenant: 'restless', node }))

  const { tenant } = (await ask(nodes[1]!.url, 'GET', '/operator/cluster?tenant=restless')).body
  expect(answers.map(({ status, body }) => [status, body.node])).toEqual(moves.map((node) => [200, node]))
  expect([tenant.owner, tenant.pin]).toEqual(['n2', 'n2'])
  expect((await ask(nodes[0]!.url, 'POST', '/~restless/Contact', { name: 'Ada' })).status).toBe(201)
})

verifies('cluster.move', 'the next owner has all of a tenant before the owner gives it away', async () => {
  const { owner, other } = await createTenant(nodes, 'warmed')
  for (let i = 0; i < 20; i++) await ask(owner.url, 'POST', '/~warmed/Contact', { name: `Person ${i}` })
  const { head } = (await ask(owner.url, 'GET', '/operator/cluster?tenant=warmed')).body.tenant
  const stateAtRelease = holdRelease('warmed', () => replicaOf(other, 'warmed'))

  const moved = await ask(owner.url, 'POST', '/operator/cluster/move', { tenant: 'warmed', node: other.name })

  expect(moved.status).toBe(200)
  expect(await stateAtRelease).toBe(head)
})

/** Reads something while the statement that gives a tenant away is held back in PostgreSQL. */
async function holdRelease<T>(slug: string, read: () => T): Promise<T> {
  await postgres.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$`)
  await postgres.query(`CREATE TRIGGER hold BEFORE UPDATE ON tilde_tenants FOR EACH ROW
    WHEN (OLD.slug = '${slug}' AND NEW.released AND NOT OLD.released) EXECUTE FUNCTION hold()`)
  const isHeld = `SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event = 'PgSleep'`
  while (Number((await postgres.query(isHeld))[0]!.count) === 0) await new Promise((done) => setTimeout(done, 20))
  const value = read()
  await postgres.query('DROP TRIGGER hold ON tilde_tenants')
  return value
}

/** How many commits the replica of a tenant on a node has; null when there is none. */
function replicaOf({ data }: TestNode, slug: string): number | null {
  const path = join(data, 'replicas', slug.slice(0, 2), `${slug}.db`)
  if (!existsSync(path)) return null
  const copy = join(mkdtempSync(join(tmpdir(), 'tildebase-replica-')), 'copy.db')
  // The node has locked the file.
  for (const suffix of ['', '-wal'])
    if (existsSync(`${path}${suffix}`)) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`)
  const db = new DatabaseSync(copy)
  try {
    return (db.prepare('SELECT n FROM commits').get() as { n: number }).n
  } finally {
    db.close()
    rmSync(dirname(copy), { recursive: true })
  }
}
