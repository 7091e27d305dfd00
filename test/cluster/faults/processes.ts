import { setTimeout as pause } from 'node:timers/promises'
import { LEASE } from '../machines/node.ts'
import type { Fault } from './fault.ts'

const SECOND = 1_000

/** Nodes that end or hang. */
export const PROCESS_FAULTS: readonly Fault[] = [
  {
    name: 'kill -9 of the owner',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      await owner.end('SIGKILL')
      note(`${owner.machine} killed`)
      await pause(chance.between(0, 2 * LEASE) * SECOND)
      cluster.startNode(owner)
    },
  },
  {
    name: 'kill -9 of the owner, its disk is lost',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      await owner.end('SIGKILL')
      owner.forget()
      note(`${owner.machine} killed, data deleted`)
      await pause(chance.between(0, 2 * LEASE) * SECOND)
      cluster.startNode(owner)
    },
  },
  {
    name: 'kill -9 of two nodes',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      const [other] = chance.shuffle(cluster.others(owner))
      await owner.end('SIGKILL')
      await pause(chance.between(0, LEASE) * SECOND)
      await other!.end('SIGKILL')
      note(`${owner.machine} and ${other!.machine} killed`)
      await pause(chance.between(LEASE, 2 * LEASE) * SECOND)
      for (const node of [owner, other!]) cluster.startNode(node)
    },
  },
  {
    name: 'kill -9 of all nodes',
    async run({ cluster, chance, note }) {
      await Promise.all(cluster.nodes.map((node) => node.end('SIGKILL')))
      note('all nodes killed')
      await pause(chance.between(0, SECOND))
      for (const node of cluster.nodes) cluster.startNode(node)
    },
  },
  {
    name: 'SIGSTOP of the owner, longer than the lease',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      owner.pause()
      note(`${owner.machine} stopped`)
      await pause(chance.between(1.2, 3) * LEASE * SECOND)
      owner.resume()
    },
  },
  {
    name: 'SIGSTOP of the owner, about as long as the lease',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      for (let times = 0; times < 3; times++) {
        owner.pause()
        await pause(chance.between(0.5, 1.2) * LEASE * SECOND)
        owner.resume()
        await pause(chance.between(0, 300))
      }
      note(`${owner.machine} stopped three times`)
    },
  },
]
