import { setTimeout as pause } from 'node:timers/promises'
import type { NodeMachine } from '../machines/node.ts'
import { successOf } from '../workload/recorder.ts'
import { request } from '../workload/request.ts'
import type { Fault } from './fault.ts'

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
        await command(cluster.nodes[0]!, 'move', { tenant, node: machine }).catch(() => refused++)
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
      const moved = command(witness!, 'move', { tenant, node: target!.machine }).catch(() => undefined)
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
      await command(cluster.others(owner)[0]!, 'drain', { node: owner.machine })
      await owner.end('SIGTERM')
      cluster.startNode(owner)
      await owner.ready()
      note(`${owner.machine} drained`)
    },
  },
]

/** Asks one node what `tilde cluster …` asks for. */
async function command(node: NodeMachine, action: string, body: object): Promise<void> {
  const answer = await request(node.url, 'POST', `/operator/cluster/${action}`, body, {}, 40_000)
  if (successOf(answer) === null) throw new Error(`${action} was refused: ${JSON.stringify(answer)}`)
}
