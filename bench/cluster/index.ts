/**
 * Measures what a cluster costs against one node in the same run, with PostgreSQL on the same machine, and how long
 * tenants are without an answer: `npm run bench -- cluster [seconds] [tenants]`.
 */
import { loadavg } from 'node:os'
import { startPostgres } from '../../test/cluster/short/postgres.ts'
import { gapOf } from './gaps.ts'
import { creates, inParallel, type Measured, medianOf, reads } from './load.ts'
import { disconnect, type Node, numberOf, ownerOf, send, start, stop } from './nodes.ts'

const [seconds = 3, tenants = 1_000] = process.argv.slice(2).map(Number)
const ROUNDS = 3
/** Tenants that are written to at the same time, by three nodes and by one. */
const SPREAD = 24

const postgres = await startPostgres()
const startNode = (name: string) => start('--cluster', postgres.url, '--node-name', name)

console.log(
  `load average before: ${loadavg()[0]!.toFixed(1)}; rates and medians with 64 clients, the median of ${ROUNDS} rounds`,
)
const single = await start()
const n1 = await startNode('n1')
await compareWithOneNode()
await stop(single)
const n2 = await startNode('n2')
const n3 = await startNode('n3')
const nodes: Record<string, Node> = { n1, n2, n3 }
await compareThreeNodes()
await measureGaps()
await moveTenants()
for (const node of Object.values(nodes)) await stop(node, 'SIGKILL')
await postgres.stop()
disconnect()

/** The owner of a tenant in a cluster of one, and a host without a cluster, in turns. */
async function compareWithOneNode(): Promise<void> {
  await send(n1.port, 'POST', '/operator/tenants', { tenant: 'bench' })
  await send(single.port, 'POST', '/~bench/Contact', { name: 'first' })
  const measured: Record<'alone' | 'owner', { creates: Measured[]; reads: Measured[] }> = {
    alone: { creates: [], reads: [] },
    owner: { creates: [], reads: [] },
  }
  let waited = 0
  let answers = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, node] of [
      ['alone', single],
      ['owner', n1],
    ] as const) {
      const before = await gateOf(node)
      measured[name].creates.push(await creates(seconds, [{ port: node.port, tenant: 'bench' }]))
      const after = await gateOf(node)
      if (name === 'owner') {
        waited += after.sum - before.sum
        answers += after.count - before.count
      }
      measured[name].reads.push(await reads(seconds, node.port, 'bench'))
    }
  }
  for (const what of ['creates', 'reads'] as const) {
    const [alone, owner] = [measured.alone[what], measured.owner[what]].map(typical)
    const shares = measured.owner[what].map(({ rate }, i) => rate / measured.alone[what][i]!.rate)
    const share = `${(100 * medianOf(shares)).toFixed(0)} %`
    console.log(`${what}: one node ${show(alone!)}; owner in a cluster ${show(owner!)}: ${share}`)
  }
  const append = (await numberOf(n1.port, 'tilde_cluster_append_seconds_sum')) / (await appendsOf(n1))
  console.log(
    `gate wait of a create: ${((1_000 * waited) / answers).toFixed(2)} ms; an append: ${(1_000 * append).toFixed(2)} ms`,
  )
}

/** Creates in many tenants: all owned by one node, and then spread over three. Clients ask the owner. */
async function compareThreeNodes(): Promise<void> {
  const slugs = Array.from({ length: SPREAD }, (_, i) => `spread${i}`)
  await inParallel(slugs, (tenant) => send(n1.port, 'POST', '/operator/tenants', { tenant }))
  const placed = async (node: string | null) => {
    await inParallel(slugs, (tenant) => send(n1.port, 'POST', '/operator/cluster/move', { tenant, node }), 4)
    return Promise.all(slugs.map(async (tenant) => ({ tenant, port: nodes[await ownerOf(n1.port, tenant)]!.port })))
  }
  const three: Measured[] = []
  const one: Measured[] = []
  for (let round = 0; round < 2; round++) {
    one.push(await creates(seconds, await placed('n1')))
    three.push(await creates(seconds, await placed(null)))
  }
  const share = ((100 * typical(three).rate) / typical(one).rate).toFixed(0)
  console.log(
    `creates in ${SPREAD} tenants: one node ${show(typical(one))}; three nodes ${show(typical(three))}: ${share} %`,
  )
  const direct = await reads(seconds, nodes[await ownerOf(n1.port, 'bench')]!.port, 'bench')
  const other = Object.entries(nodes).find(([name]) => name !== 'n1')![1]
  await send(n1.port, 'POST', '/operator/cluster/move', { tenant: 'bench', node: 'n1' })
  const passed = await reads(seconds, other.port, 'bench')
  console.log(`reads: at the owner ${show(direct)}; passed on by another node ${show(passed)}`)
}

/** The longest time without an acknowledged write, by the default lease of six seconds. */
async function measureGaps(): Promise<void> {
  await send(n1.port, 'POST', '/operator/tenants', { tenant: 'gap' })
  const via = async () => {
    const owner = await ownerOf(nodes.n1!.port, 'gap')
    return Object.entries(nodes).find(([name]) => name !== owner)![1]
  }
  const gaps: string[] = []
  const note = (what: string, gap: number) => gaps.push(`${what} ${(gap / 1_000).toFixed(2)} s`)
  note(
    'a move',
    await gapOf('gap', await via(), async (owner) => {
      const to = Object.keys(nodes).find((name) => name !== owner)
      await send(nodes[owner]!.port, 'POST', '/operator/cluster/move', { tenant: 'gap', node: to })
    }),
  )
  note(
    'SIGTERM of the owner',
    await gapOf('gap', await via(), async (owner) => {
      await stop(nodes[owner]!)
      nodes[owner] = await startNode(owner)
    }),
  )
  note(
    'kill -9 of the owner',
    await gapOf('gap', await via(), async (owner) => {
      await stop(nodes[owner]!, 'SIGKILL')
      nodes[owner] = await startNode(owner)
    }),
  )
  note(
    'SIGSTOP of the owner for 10 s',
    await gapOf('gap', await via(), async (owner) => {
      nodes[owner]!.child.kill('SIGSTOP')
      await new Promise((done) => setTimeout(done, 10_000))
      nodes[owner]!.child.kill('SIGCONT')
    }),
  )
  note('end and restart of PostgreSQL', await gapOf('gap', await via(), async () => postgres.restart()))
  console.log(`longest time without an acknowledged write: ${gaps.join('; ')}`)
}

/** All tenants of one node go to the others. */
async function moveTenants(): Promise<void> {
  const { port } = nodes.n1!
  const slugs = Array.from({ length: tenants }, (_, i) => `t${i}`)
  await inParallel(slugs, async (tenant) => {
    await send(port, 'POST', '/operator/tenants', { tenant })
    await send(port, 'POST', '/operator/cluster/move', { tenant, node: 'n1' })
    await send(port, 'POST', `/~${tenant}/Contact`, { name: 'Ada' })
  })
  const begun = performance.now()
  await send(port, 'POST', '/operator/cluster/drain', { node: 'n1' })
  for (;;) {
    const status = JSON.parse((await send(nodes.n2!.port, 'GET', '/operator/cluster')).text)
    if (status.nodes.find(({ name }: { name: string }) => name === 'n1').tenants === 0) break
    await new Promise((done) => setTimeout(done, 50))
  }
  const took = (performance.now() - begun) / 1_000
  console.log(`${tenants} tenants moved from one node to two others in ${took.toFixed(1)} s`)
}

async function gateOf({ port }: Node): Promise<{ sum: number; count: number }> {
  const sum = await numberOf(port, 'tilde_cluster_gate_seconds_sum')
  return { sum, count: await numberOf(port, 'tilde_cluster_gate_seconds_count') }
}

function appendsOf({ port }: Node): Promise<number> {
  return numberOf(port, 'tilde_cluster_append_seconds_count')
}

function typical(all: readonly Measured[]): Measured {
  return { rate: medianOf(all.map(({ rate }) => rate)), median: medianOf(all.map(({ median }) => median)) }
}

function show({ rate, median }: Measured): string {
  return `${rate.toFixed(0)} a second (median ${median.toFixed(1)} ms)`
}
