import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT } from '../../host.ts'
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

verifies('cluster.move', 'a move back while the tenant leaves is done, and the last one counts', async () => {
  const { owner, other } = await createTenant(nodes, 'torn')
  const move = (node: string) => ask(owner.url, 'POST', '/operator/cluster/move', { tenant: 'torn', node })
  // A tenant does not leave before its requests have ended, and takes no more of them.
  const finish = await beginWrite(owner.url, '/~torn/Contact')
  const away = move(other.name)
  const isAnswered = async () =>
    (await fetch(`${owner.url}/~torn/manifest`, { signal: AbortSignal.timeout(500) }).catch(() => null)) !== null
  while (await isAnswered());

  const back = move(owner.name)
  // Time for an answer that would be too early.
  await Promise.race([back, new Promise((done) => setTimeout(done, 500))])
  const written = await finish()
  await away
  const answer = await back

  const { tenant } = (await ask(other.url, 'GET', '/operator/cluster?tenant=torn')).body
  expect([written, answer.status, tenant.owner, tenant.pin]).toEqual([201, 200, owner.name, owner.name])
})

/** Sends half of a write. Returns what sends the rest, and resolves to the status of the answer. */
async function beginWrite(url: string, path: string): Promise<() => Promise<number>> {
  const headers = { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json', expect: '100-continue' }
  const out = request(`${url}${path}`, { method: 'POST', headers })
  const status = new Promise<number>((done, failed) => {
    out.once('response', (answer) => done(answer.resume().statusCode!))
    out.once('error', failed)
  })
  await new Promise((done) => out.once('continue', done).flushHeaders())
  out.write('{"name":')
  return () => {
    out.end('"Ada"}')
    return status
  }
}

verifies('cluster.move', 'the next owner has all of a tenant before the owner gives it away', async () => {
  const { owner, other } = await createTenant(nodes, 'warmed')
  for (let i = 0; i < 20; i++) await ask(owner.url, 'POST', '/~warmed/Contact', { name: `Person ${i}` })
  const atRelease = await holdRelease('warmed')
  const stateAtRelease = atRelease(async () => ({ there: replicaOf(other, 'warmed'), head: await headOf('warmed') }))

  const moved = await ask(owner.url, 'POST', '/operator/cluster/move', { tenant: 'warmed', node: other.name })

  expect(moved.status).toBe(200)
  const { there, head } = await stateAtRelease
  expect(head).toBeGreaterThanOrEqual(20)
  expect(there).toBe(head)
})

/** The last change of a tenant in the log. Its own background work adds changes to those of clients. */
async function headOf(slug: string): Promise<number> {
  return Number((await postgres.query(`SELECT head FROM tilde_tenants WHERE slug = '${slug}'`))[0]!.head)
}

/** Holds the statement back that gives a tenant away. Returns what reads something meanwhile, and then lets it continue. */
async function holdRelease(slug: string): Promise<<T>(read: () => Promise<T>) => Promise<T>> {
  await postgres.query('SELECT pg_advisory_lock(26)')
  await postgres.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(26); RETURN NEW; END $$`)
  await postgres.query(`CREATE TRIGGER hold BEFORE UPDATE ON tilde_tenants FOR EACH ROW
    WHEN (OLD.slug = '${slug}' AND NEW.released AND NOT OLD.released) EXECUTE FUNCTION hold()`)
  return async (read) => {
    const isHeld = `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
    while (Number((await postgres.query(isHeld))[0]!.count) === 0) await new Promise((done) => setTimeout(done, 20))
    const value = await read()
    await postgres.query('SELECT pg_advisory_unlock(26)')
    return value
  }
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
