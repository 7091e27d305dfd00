import { ask, contentOf, createTenants, later, NAMES, type Outcome, SLUGS } from './history.ts'
import { judge, type Operation } from './judge.ts'
import { type Mistakes, SimNode } from './sim-node.ts'
import { SimService } from './sim-service.ts'
import { World } from './world.ts'

/** How often a request looks for the node of its tenant: for as long as a node is patient. */
const TRIES = 100
/** Milliseconds, at most, between two requests. */
const PACE = 20

/**
 * Nodes are replaced by those of a newer layout one after the other. The first newer one stops once more while it is the
 * only one that can open the tenants which it has brought forward. Nothing fails, so every request must be answered.
 */
export function runUpgrade(seed: number, mistakes: Mistakes = {}): Outcome {
  const world = new World(seed)
  const { chance } = world
  const service = new SimService(world, chance.is(0.5))
  service.lateness = 0
  const nodes = NAMES.map((name) => new SimNode(world, service, name, mistakes))
  for (const node of nodes) node.peers = nodes
  createTenants(service)
  for (const node of nodes) node.start()
  world.runUntil(200)

  const operations: Operation[] = []
  let ending: SimNode | null = null
  let isOver = false
  const replace = async (node: SimNode) => {
    // A load balancer sends nothing to a node that is about to stop.
    ending = node
    await node.end()
    await later(world, chance.between(100, 3_000))
    node.layout = 2
    node.start()
    await later(world, 1_500)
    ending = null
  }
  const upgrade = async () => {
    const [first, ...rest] = nodes
    await replace(first!)
    for (const slug of SLUGS) await move(world, nodes, slug, first!)
    await later(world, chance.between(0, 1_000))
    await replace(first!)
    for (const node of rest) await replace(node)
    isOver = true
  }
  const client = async () => {
    while (!isOver) {
      const reachable = nodes.filter((node) => node !== ending && node.process !== null)
      const write = chance.is(0.3) ? world.number() : null
      ask(world, chance.of(reachable), chance.of(SLUGS), write, operations, TRIES)
      await later(world, chance.between(0, PACE))
    }
  }
  void upgrade()
  void client()
  for (let step = 0; step < 1_000 && !isOver; step++) world.runUntil(world.now + 100)
  world.runUntil(world.now + 2_000)

  const logs = new Map(SLUGS.map((slug) => [slug, contentOf(service, slug)]))
  const unanswered = operations.filter(({ seen }) => seen === null)
  const [lost] = unanswered
  const fault =
    judge(operations, logs) ??
    (!isOver ? 'the upgrade did not end' : lost ? `a request of ${Math.round(lost.at)} ms was not answered` : null)
  return {
    fault,
    acknowledged: operations.filter(({ write, seen }) => write !== null && seen !== null).length,
    reads: operations.filter(({ write, seen }) => write === null && seen !== null).length,
    unknown: unanswered.length,
    claims: service.primary.epochs - SLUGS.length,
    faults: 0,
  }
}

/** Moves a tenant, and lets the node open it. */
async function move(world: World, nodes: readonly SimNode[], slug: string, to: SimNode): Promise<void> {
  const owner = nodes.find(({ process }) => process?.ownership.get(slug))
  await owner?.process?.ownership.release(slug, to.process!.membership.session)
  await to.process!.ownership.own(slug)
  await later(world, 100)
}
