import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../../chance.ts'
import { DATABASES, type Machine, NODES } from '../machines/network.ts'
import { LEASE } from '../machines/node.ts'
import type { Fault, Scene } from './fault.ts'

/** Cut links between machines. */
export const PARTITION_FAULTS: readonly Fault[] = [
  {
    name: 'the owner is cut off from the databases',
    async run(scene) {
      const owner = (await scene.cluster.ownerOf(scene.tenant)).machine
      scene.cluster.network.separate([owner], DATABASES)
      await last(scene, `${owner} from all databases`)
    },
  },
  {
    name: 'packets from the owner to the databases are lost',
    async run(scene) {
      const owner = (await scene.cluster.ownerOf(scene.tenant)).machine
      for (const database of DATABASES) scene.cluster.network.cut(owner, database)
      await last(scene, `${owner} to all databases`)
    },
  },
  {
    name: 'packets from the databases to the owner are lost',
    async run(scene) {
      const owner = (await scene.cluster.ownerOf(scene.tenant)).machine
      for (const database of DATABASES) scene.cluster.network.cut(database, owner)
      await last(scene, `all databases to ${owner}`)
    },
  },
  {
    name: 'nodes are cut off from each other',
    async run(scene) {
      for (const from of NODES) for (const to of NODES) if (from !== to) scene.cluster.network.cut(from, to)
      await last(scene, 'all nodes from each other')
    },
  },
  {
    name: 'packets from one node to another are lost',
    async run(scene) {
      const [from, to] = scene.chance.shuffle<Machine>(NODES)
      scene.cluster.network.cut(from!, to!)
      await last(scene, `${from} to ${to}`)
    },
  },
  {
    name: 'the owner is cut off from everything but the clients',
    async run(scene) {
      const owner = await scene.cluster.ownerOf(scene.tenant)
      const others = scene.cluster.others(owner).map(({ machine }) => machine)
      scene.cluster.network.separate([owner.machine], [...others, ...DATABASES])
      await last(scene, `${owner.machine} from nodes and databases`)
    },
  },
  {
    name: 'links fail and heal at random',
    async run({ cluster, chance, note }) {
      for (let times = 0; times < 8; times++) {
        const [from, to] = randomLink(chance)
        cluster.network.cut(from, to)
        await pause(chance.between(50, 1_500))
        if (chance.next() < 0.5) cluster.network.heal()
      }
      note('eight links cut')
    },
  },
]

async function last({ cluster, chance, note }: Scene, what: string): Promise<void> {
  note(`cut: ${what}`)
  await pause(chance.between(0.5, 2.5) * LEASE * 1_000)
  cluster.network.heal()
}

function randomLink(chance: Chance): [Machine, Machine] {
  const [from, to] = chance.shuffle<Machine>([...NODES, ...DATABASES])
  return [from!, to!]
}
