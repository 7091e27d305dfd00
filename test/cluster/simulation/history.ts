import { judge, type Operation } from './judge.ts'
import { type Answer, decode, encode, type Mistakes, type Process, SimNode } from './sim-node.ts'
import { SimService } from './sim-service.ts'
import { World } from './world.ts'

/** What one history was. */
export interface Outcome {
  /** What is wrong, or null. */
  readonly fault: string | null
  readonly acknowledged: number
  readonly reads: number
  readonly unknown: number
  readonly claims: number
  readonly faults: number
}

export const SLUGS = ['a', 'b']
export const NAMES = ['n1', 'n2', 'n3']
const PAIRS = SLUGS.flatMap((slug) => NAMES.map((_, at) => [slug, at] as const))

/** Runs one history: three nodes, two tenants, clients, and faults that the seed decides. */
export function runHistory(seed: number, mistakes: Mistakes = {}): Outcome {
  const world = new World(seed)
  const { chance } = world
  const service = new SimService(world, chance.is(0.5))
  if (mistakes.unfenced) service.primary.isFenced = false
  const nodes = NAMES.map((name) => new SimNode(world, service, name, mistakes))
  createTenants(service)
  for (const node of nodes) node.start()
  const length = chance.between(1_500, 6_000)
  const operations: Operation[] = []
  const faults = scheduleFaults(world, service, nodes, length)
  scheduleClients(world, nodes, operations, length)
  world.runUntil(length)

  // All that was broken works again, and time passes: whatever can end does.
  service.loss = 0
  for (const node of nodes) {
    node.isPartitioned = false
    if (node.isStopped) node.resume()
    if (node.process === null) node.start()
  }
  world.runUntil(length + 3_000)
  const last: Operation[] = []
  const missing = () =>
    PAIRS.filter(([slug, at]) => !last.some((one) => one.slug === slug && one.via === at && one.seen))
  // A node may still end and start again: clients without an answer ask again.
  for (let step = 0; step < 400 && missing().length > 0; step++) {
    if (step % 20 === 0) for (const [slug, at] of missing()) ask(world, nodes[at]!, slug, null, last, 5, at)
    world.runUntil(world.now + 100)
  }
  operations.push(...last)

  const logs = new Map(SLUGS.map((slug) => [slug, contentOf(service, slug)]))
  const stuck = missing().length > 0
  const acknowledged = operations.filter(({ write, seen }) => write !== null && seen !== null)
  const fault = judge(operations, logs) ?? (stuck ? 'a tenant could not be read in the end' : null)
  return {
    fault,
    acknowledged: acknowledged.length,
    reads: operations.filter(({ write, seen }) => write === null && seen !== null).length,
    unknown: operations.filter(({ seen }) => seen === null).length,
    claims: service.primary.epochs - SLUGS.length,
    faults,
  }
}

/** The tenants, without an owner. */
export function createTenants(service: SimService): void {
  for (const slug of SLUGS) {
    service.primary.saveSnapshotPart(slug, 'first', 0, encode([]))
    service.primary.create(slug, 'none', { id: 'first', layout: 1, parts: 1 })
  }
  service.replicateNow()
}

/** All writes of a tenant that the log has: its snapshot, and the changes after it. */
export function contentOf({ primary }: SimService, slug: string): readonly number[] {
  const head = primary.snapshot(slug)!
  const part = primary.snapshotPart(slug, head.id, 0)!
  return [...decode(part), ...(primary.changes.get(slug) ?? []).flatMap(({ bytes }) => decode(bytes))]
}

function scheduleClients(world: World, nodes: readonly SimNode[], operations: Operation[], length: number): void {
  const { chance } = world
  const count = 20 + chance.below(60)
  for (let i = 0; i < count; i++) {
    world.after(chance.between(0, length), () => {
      const write = chance.is(0.5) ? world.number() : null
      ask(world, chance.of(nodes), chance.of(SLUGS), write, operations, 3)
    })
  }
}

/** A client asks a node, which answers itself or passes the request on to the owner. */
export function ask(
  world: World,
  node: SimNode,
  slug: string,
  write: number | null,
  operations: Operation[],
  tries: number,
  via?: number,
): void {
  const operation: Operation = { slug, write, at: world.now, until: null, seen: null, via }
  operations.push(operation)
  let left = tries
  const answered = (answer: Answer) =>
    world.after(world.chance.between(0.2, 2), () => {
      // A refused read can be repeated; the result of a write is unknown.
      if (answer.kind === 'refused' && write === null && --left > 0) void pass(world, node, operation, answered, left)
      if (answer.kind === 'refused' || operation.until !== null) return
      operation.seen = answer.writes
      operation.until = world.now
    })
  void pass(world, node, operation, answered, tries)
}

async function pass(
  world: World,
  node: SimNode,
  operation: Operation,
  answered: (answer: Answer) => void,
  tries: number,
): Promise<void> {
  const { slug, write } = operation
  for (let left = tries; left > 0; left--) {
    const { process } = node
    if (process === null || node.isStopped) {
      await later(world, 300)
      continue
    }
    try {
      if (await attempt(world, process, slug, write, answered)) return
    } catch {
      // The log could not be asked.
    }
    await later(world, 300)
  }
}

/** Whether the request has reached a tenant, whatever comes of it. */
async function attempt(
  world: World,
  process: Process,
  slug: string,
  write: number | null,
  answered: (answer: Answer) => void,
): Promise<boolean> {
  if (process.ownership.get(slug)) {
    process.execute(slug, write, answered)
    return true
  }
  const [row] = await process.log.find([slug])
  const target = row && process.nodeFor(row)
  if (!target) return false
  if (target.session === process.membership.session) {
    if (!(await process.ownership.own(slug))) return false
    process.execute(slug, write, answered)
    return true
  }
  const owner = process.node.peers.find(({ name }) => name === target.name)
  await later(world, world.chance.between(0.2, 3))
  const there = owner?.process
  if (!there || owner.isStopped || !owner.canReach(process.node)) return false
  if (!there.ownership.get(slug) && !(await there.ownership.own(slug))) return false
  there.execute(slug, write, answered)
  return true
}

export function later(world: World, ms: number): Promise<void> {
  return new Promise((done) => world.after(ms, done))
}

function scheduleFaults(world: World, service: SimService, nodes: readonly SimNode[], length: number): number {
  const { chance } = world
  for (const node of nodes) node.peers = nodes
  if (chance.is(0.3)) service.loss = chance.between(0, 0.15)
  const count = chance.below(10)
  for (let i = 0; i < count; i++) {
    const node = chance.of(nodes)
    const slug = chance.of(SLUGS)
    const fault = chance.of(FAULTS)
    world.after(chance.between(100, length), () => fault(world, service, node, slug))
  }
  return count
}

type Fault = (world: World, service: SimService, node: SimNode, slug: string) => void

const FAULTS: readonly Fault[] = [
  (world, _, node) => {
    node.crash()
    world.after(world.chance.between(10, 3_000), () => node.process === null && node.start())
  },
  (world, _, node) => {
    node.stop()
    world.after(world.chance.between(10, 4_000), () => node.isStopped && node.resume())
  },
  (world, _, node) => node.sleep(world.chance.between(10, 1_500)),
  (world, _, node) => {
    node.isPartitioned = true
    world.after(world.chance.between(10, 4_000), () => {
      node.isPartitioned = false
    })
  },
  (world, _, node) => {
    node.isIsolated = true
    world.after(world.chance.between(10, 4_000), () => {
      node.isIsolated = false
    })
  },
  (_, service) => service.failOver(),
  (world, _, node) => node.jumpClock(world.chance.of([-1, 1]) * world.chance.between(1_000, 3_600_000)),
  (world, _, node, slug) => void node.process?.loseThread(slug, world.number()).catch(() => {}),
  (world, _, node, slug) => {
    const { process } = node
    const to = process && world.chance.of([...process.membership.nodes, null])
    if (process?.ownership.get(slug)) void process.ownership.release(slug, to?.session ?? null).catch(() => {})
  },
  (world, _, node, slug) => void node.process?.snapshot(slug, `snapshot ${world.number()}`).catch(() => {}),
  (_, __, node, slug) => void node.process?.follow(slug).catch(() => {}),
]
