import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { KEY } from '../../faults/server.ts'
import type { Cluster } from '../machines/cluster.ts'
import type { NodeMachine } from '../machines/node.ts'
import type { Fault } from './fault.ts'

const run = promisify(execFile)

/** What operators do while clients write. */
export const OPERATION_FAULTS: readonly Fault[] = [
  {
    name: 'rolling upgrade',
    isSlow: true,
    async run({ cluster, chance, note }) {
      for (const node of chance.shuffle(cluster.nodes)) {
        await node.end('SIGTERM')
        const [first, second] = cluster.checkouts
        cluster.startNode(node, cluster.running.get(node.machine) === first ? second : first)
        await node.ready()
      }
      note('all nodes restarted with the other checkout')
    },
  },
  {
    name: 'a tenant is moved back and forth',
    async run({ cluster, chance, tenant, note }) {
      let refused = 0
      for (let times = 0; times < 4; times++) {
        const { machine } = chance.pick(cluster.others(await cluster.ownerOf(tenant)))
        // A tenant that is still moving may not be moved again.
        await command(cluster, cluster.nodes[0]!, 'move', tenant, machine).catch(() => refused++)
        await pause(chance.between(0, 1_000))
      }
      note(`moved ${4 - refused} times`)
    },
  },
  {
    name: 'kill -9 of the owner while a tenant is moved',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      const [target, witness] = chance.shuffle(cluster.others(owner))
      const moved = command(cluster, witness!, 'move', tenant, target!.machine).catch(() => undefined)
      const victim = chance.pick([owner, target!])
      await pause(chance.between(0, 1_500))
      await victim.end('SIGKILL')
      note(`${victim.machine} killed while ${tenant} moved from ${owner.machine} to ${target!.machine}`)
      await moved
      cluster.startNode(victim)
    },
  },
  {
    name: 'a node is drained and restarted',
    isSlow: true,
    async run({ cluster, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      await command(cluster, cluster.others(owner)[0]!, 'drain', owner.machine)
      await owner.end('SIGTERM')
      cluster.startNode(owner)
      await owner.ready()
      note(`${owner.machine} drained`)
    },
  },
]

/** Runs `tilde cluster …` against one node. */
async function command({ running }: Cluster, node: NodeMachine, ...words: string[]): Promise<void> {
  const main = join(running.get(node.machine)!, 'packages/cli/src/main.ts')
  const env = { PATH: process.env.PATH!, TILDE_URL: node.url, TILDE_ROOT_KEY: KEY, TILDE_KEY: KEY }
  await run(process.execPath, [main, 'cluster', ...words], { env, timeout: 60_000 })
}
