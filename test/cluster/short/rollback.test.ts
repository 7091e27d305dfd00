import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, type NodeProcess, spawnNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** Nothing waits so long for a database that lacks writes. */
const PATIENCE = { TILDE_CLUSTER_PATIENCE: '600' }

let postgres: TestPostgres
let node: NodeProcess

beforeAll(async () => {
  postgres = await startPostgres()
  node = await spawnNode(postgres.url, 'n1', undefined, undefined, PATIENCE)
  await createTenant([node], 'early')
})
afterAll(async () => {
  await node?.stop()
  await postgres?.stop()
})

const read = async () => (await ask(node.url, 'GET', '/~early/Contact?limit=1').catch(() => null))?.status
const write = (name: string) => ask(node.url, 'POST', '/~early/Contact', { name })

async function names(): Promise<readonly string[]> {
  const { body } = await ask(node.url, 'GET', '/~early/Contact?sort=name')
  return body.results.map(({ name }: { name: string }) => name)
}

/** Writes once the node can; the database has just been started again. */
async function writeSoon(name: string): Promise<void> {
  await expect.poll(async () => (await write(name)).status, { timeout: 60_000, interval: 200 }).toBe(201)
}

async function refusedWith(place: RegExp): Promise<void> {
  await expect.poll(read, { timeout: 60_000, interval: 200 }).toBe(503)
  expect((await write('of unknown outcome')).status).toBe(503)
  await expect.poll(node.log, { timeout: 60_000 }).toMatch(place)
}

verifies(
  'cluster.timeline',
  'a database that has lost acknowledged writes is not used, and they are named',
  async () => {
    await writeSoon('a')
    const before = postgres.copy()
    await writeSoon('b')

    // The same timeline, at an earlier position.
    const whole = postgres.goTo(before)
    await refusedWith(
      /lacks acknowledged writes.*of timeline 1, and was at position \d+ of timeline 1\..*early \(\d+ to \d+\)/,
    )

    // A standby that was behind took over: its timeline is newer.
    postgres.goTo(before, { promote: true })
    await refusedWith(/gone back to an earlier state\. Missing changes: early \(\d+ to \d+\)/)

    // The right state on a newer timeline: all is there.
    postgres.goTo(whole, { promote: true })
    await writeSoon('c')
    expect(await names()).toEqual(expect.arrayContaining(['a', 'b', 'c']))

    // The machine with the older timeline comes back, as it did with Patroni 3.0.2.
    postgres.goTo(whole)
    await refusedWith(/of timeline 1, and was at position \d+ of timeline 2/)
  },
)

verifies('cluster.timeline', 'a node that was stopped meanwhile does not use it either', async () => {
  await node.kill('SIGKILL')

  const again = spawnNode(postgres.url, 'n1', node.data, undefined, PATIENCE)

  await expect(again).rejects.toThrow('ended before it was ready')
})
