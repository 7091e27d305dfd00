import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ask, type NodeProcess, spawnNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.stop())

/** Starts a node on the data of another one that has ended. */
async function restarted({ name, data }: NodeProcess, env: Record<string, string> = {}): Promise<NodeProcess> {
  const node = await spawnNode(postgres.url, name, data, undefined, env)
  onTestFinished(() => node.stop())
  return node
}

/** A node with a tenant in whose file there is a contact, in the state that a signal leaves it in. */
async function ended(slug: string, signal: NodeJS.Signals): Promise<NodeProcess> {
  const first = await spawnNode(postgres.url, slug)
  await ask(first.url, 'POST', '/operator/tenants', { tenant: slug })
  await ask(first.url, 'POST', `/~${slug}/Contact`, { name: 'Ada' })
  await first.kill('SIGTERM')
  // The contact is in the file now, and not only in the log next to it.
  const second = await restarted(first)
  await ask(second.url, 'GET', `/~${slug}/Contact`)
  await second.kill(signal)
  return second
}

/** Takes the checksums away that a killed node has left. */
function forgetSums({ data }: NodeProcess): void {
  for (const path of globSync(`${data}/{tenants,replicas}/*/*.db-sum`)) rmSync(path)
}

/** Changes the name of the contact in every file of the tenant. Returns in how many. */
function damage({ data }: NodeProcess, slug: string): number {
  const damaged = globSync(`${data}/{tenants,replicas}/*/${slug}.db`).filter((path) => {
    const bytes = readFileSync(path)
    const at = bytes.indexOf('Ada')
    for (let next = at; next !== -1; next = bytes.indexOf('Ada', next + 1)) bytes.write('Eve', next)
    writeFileSync(path, bytes)
    return at !== -1
  })
  return damaged.length
}

/** Waits until a node has a file of the replica that it follows. */
async function replica({ data }: NodeProcess, slug: string, suffix: string): Promise<void> {
  const found = () => globSync(`${data}/replicas/*/${slug}.db${suffix}`)
  await expect.poll(found, { timeout: 20_000 }).toHaveLength(1)
}

const nameIn = async ({ url }: NodeProcess, slug: string) =>
  (await ask(url, 'GET', `/~${slug}/Contact`)).body.results?.[0]?.name
const verdictOf = async ({ url }: NodeProcess, slug: string) =>
  (await ask(url, 'GET', `/operator/tenants/${slug}/verify`)).body

test('a file that was damaged while its node was down is loaded again from PostgreSQL', async () => {
  const node = await ended('stopped', 'SIGTERM')
  const files = damage(node, 'stopped')

  const again = await restarted(node)

  expect([files, await nameIn(again, 'stopped')]).toEqual([1, 'Ada'])
  expect(await verdictOf(again, 'stopped')).toMatchObject({ ok: true })
})

test('a file that was damaged after its node was killed is loaded again from PostgreSQL', async () => {
  const node = await ended('killed', 'SIGKILL')
  const files = damage(node, 'killed')

  const again = await restarted(node)

  expect([files, await nameIn(again, 'killed')]).toEqual([1, 'Ada'])
  expect(await verdictOf(again, 'killed')).toMatchObject({ ok: true })
})

test('a replica that was damaged after its node was killed is loaded again from PostgreSQL', async () => {
  const owner = await spawnNode(postgres.url, 'owner')
  onTestFinished(() => owner.stop())
  await ask(owner.url, 'POST', '/operator/tenants', { tenant: 'followed' })
  await ask(owner.url, 'POST', '/~followed/Contact', { name: 'Ada' })
  const first = await spawnNode(postgres.url, 'follower')
  await replica(first, 'followed', '')
  await first.kill('SIGTERM')
  const second = await restarted(first)
  await replica(second, 'followed', '-wal')
  await second.kill('SIGKILL')
  const files = damage(second, 'followed')

  const again = await restarted(second)
  await owner.kill('SIGTERM')

  expect([files, await nameIn(again, 'followed')]).toEqual([1, 'Ada'])
  expect(await verdictOf(again, 'followed')).toMatchObject({ ok: true })
})

test('damage that the verification finds is repaired from PostgreSQL, and recorded', async () => {
  const node = await ended('scrubbed', 'SIGKILL')
  const files = damage(node, 'scrubbed')
  forgetSums(node)

  const again = await restarted(node, { TILDE_SCRUB: '300ms' })
  await ask(again.url, 'GET', '/~scrubbed/Contact')
  const actions = async () => (await ask(again.url, 'GET', '/operator/log')).body.results.map((one: any) => one.action)

  await expect.poll(actions).toEqual(expect.arrayContaining(['damage', 'whole']))
  expect([files, await nameIn(again, 'scrubbed')]).toEqual([1, 'Ada'])
})

test('the operator lets a node load a tenant again', async () => {
  const node = await ended('asked', 'SIGKILL')
  damage(node, 'asked')
  forgetSums(node)
  const again = await restarted(node)
  const before = await verdictOf(again, 'asked')

  const reply = await ask(again.url, 'POST', '/operator/tenants/asked/set-aside')

  expect([before.ok, reply.status, reply.body]).toEqual([false, 200, { tenant: 'asked' }])
  expect([await nameIn(again, 'asked'), (await verdictOf(again, 'asked')).ok]).toEqual(['Ada', true])
})
