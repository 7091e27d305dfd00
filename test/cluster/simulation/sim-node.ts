import { giveAllAway } from '../../../packages/server/src/cluster/protocol/leaving.ts'
import { Membership } from '../../../packages/server/src/cluster/protocol/membership.ts'
import { OneAtATime } from '../../../packages/server/src/cluster/protocol/one-at-a-time.ts'
import type { OwnedTenant } from '../../../packages/server/src/cluster/protocol/owned-tenant.ts'
import { Ownership, type TenantHost } from '../../../packages/server/src/cluster/protocol/ownership.ts'
import { ranked } from '../../../packages/server/src/cluster/protocol/ranking.ts'
import { Replica, type ReplicaFiles } from '../../../packages/server/src/cluster/protocol/replica.ts'
import type {
  Change,
  NodeRow,
  ReplicatedLog,
  SnapshotHead,
  TenantRow,
} from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { takeSnapshot } from '../../../packages/server/src/cluster/protocol/snapshot.ts'
import type { Time } from '../../../packages/server/src/cluster/protocol/time.ts'
import type { Caller, SimService } from './sim-service.ts'
import type { World } from './world.ts'

const LEASE = 1_000
const TIMEOUT = 800
/** How long a node that stops keeps tenants that no other node can open, and how long it is asked after that. */
const KEPT = 2_000

/** A tenant's file: the writes that are in it, in their order. */
export interface File {
  /** The layout of its tables. */
  readonly layout: number
  n: number
  epoch: number
  next: number
  writes: number[]
  /** Where it was when this owner opened it. */
  openedAt: number
  openedEpoch: number
}

/** Mistakes that the simulation must find. */
export interface Mistakes {
  /** Answers leave before the log has what they saw. */
  readonly ungated?: boolean
  /** A node never lets its lease expire. */
  readonly trusting?: boolean
  /** What a crash has left is used as it is. */
  readonly unverified?: boolean
  /** The log takes what an owner of an earlier epoch appends. */
  readonly unfenced?: boolean
  /** A node that stops releases all its tenants, and claims them again when it is asked for them. */
  readonly returning?: boolean
}

export type Answer = { readonly kind: 'done'; readonly writes: readonly number[] } | { readonly kind: 'refused' }

/** One machine: its disk outlives its process, and its clock is its own. */
export class SimNode implements Caller {
  readonly name: string
  readonly #world: World
  readonly #service: SimService
  readonly #mistakes: Mistakes
  readonly #rate: number
  #wallOffset: number
  /** How long the machine has slept: its monotonic clock stops meanwhile. */
  #slept = 0
  #isStopped = false
  #queued: (() => void)[] = []
  /** Cut off from the log. */
  isPartitioned = false
  /** Cut off from the other nodes. */
  isIsolated = false
  peers: readonly SimNode[] = []
  /** The process that runs; a crash ends it. */
  #process: Process | null = null
  readonly replicas = new Map<string, File>()
  readonly tenants = new Map<string, File>()
  /** The newest layout that its program knows. */
  layout = 1

  constructor(world: World, service: SimService, name: string, mistakes: Mistakes) {
    this.#world = world
    this.#service = service
    this.name = name
    this.#mistakes = mistakes
    this.#rate = world.chance.between(0.95, 1.05)
    this.#wallOffset = world.chance.between(-3_600_000, 3_600_000)
  }

  get process(): Process | null {
    return this.#process
  }

  deliver(run: () => void): void {
    if (this.#isStopped) this.#queued.push(run)
    else run()
  }

  isCut(): boolean {
    return this.isPartitioned
  }

  /** Starts the process: what is on the disk is a replica of unknown worth. */
  start(): void {
    for (const [slug, file] of this.tenants) this.replicas.set(slug, file)
    this.tenants.clear()
    this.#process = new Process(this, this.#world, this.#service, this.#time(), this.#mistakes)
    this.#process.start()
  }

  /** kill -9, or the power is gone. */
  crash(): void {
    this.#process = null
    this.#queued = []
    this.#isStopped = false
    for (const file of this.tenants.values()) {
      // With the power gone, the last commits of a file may be gone. One write is one commit here.
      const lost = this.#world.chance.is(0.3) ? Math.min(this.#world.chance.below(3), file.n - file.openedAt) : 0
      if (lost === 0) continue
      file.n -= lost
      file.writes.splice(-lost)
      if (file.n === file.openedAt) file.epoch = file.openedEpoch
    }
  }

  /** Ends the process in an orderly way: its tenants go to other nodes. */
  async end(): Promise<void> {
    await this.#process?.leave()
    this.#process = null
  }

  stop(): void {
    this.#isStopped = true
  }

  resume(): void {
    this.#isStopped = false
    const queued = this.#queued
    this.#queued = []
    // A process that wakes does what is due in its order, and its timers are all due.
    for (const run of queued) run()
  }

  /** The machine sleeps, and then wakes. */
  sleep(ms: number): void {
    this.stop()
    this.#world.after(ms, () => {
      this.#slept += ms
      if (this.isStopped) this.resume()
    })
  }

  canReach(other: SimNode): boolean {
    return this === other || (!this.isIsolated && !other.isIsolated)
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  jumpClock(ms: number): void {
    this.#wallOffset += ms
  }

  /** The clocks and timers of the process that runs now. */
  #time(): Time {
    return {
      elapsed: () => (this.#world.now - this.#slept) * this.#rate,
      wall: () => this.#world.now * this.#rate + this.#wallOffset,
      sleep: (ms) =>
        new Promise((done) => {
          const { process } = this
          this.#world.after(ms / this.#rate, () =>
            this.deliver(() => {
              if (process === null || this.process === process) done()
            }),
          )
        }),
    }
  }
}

/** The process of a node: the protocol as it is, over a simulated log, disk and clock. */
export class Process {
  readonly node: SimNode
  readonly log: ReplicatedLog
  readonly #time: Time
  readonly #mistakes: Mistakes
  readonly membership: Membership
  readonly ownership: Ownership
  readonly replica: Replica

  constructor(node: SimNode, world: World, service: SimService, time: Time, mistakes: Mistakes) {
    this.node = node
    this.#time = time
    this.#mistakes = mistakes
    const caller: Caller = {
      deliver: (run) =>
        node.deliver(() => {
          if (node.process === this) run()
        }),
      isCut: () => node.isCut(),
    }
    this.log = service.clientOf(caller, TIMEOUT)
    this.membership = new Membership({
      log: this.log,
      time,
      node: { name: node.name, url: node.name, layout: node.layout, version: '' },
      lease: LEASE,
      newSession: () => `s${world.number()}`,
      isGenuine: () => true,
      renewed: () => this.ownership.drain(),
      expired: () => this.ownership.loseAll(),
      report: () => {},
    })
    if (mistakes.trusting) Object.defineProperty(this.membership, 'isTrusted', { get: () => true })
    const files = filesOf(node)
    this.replica = new Replica(mistakes.unverified ? unverified(this.log, files) : this.log, files)
    this.ownership = new Ownership({
      log: this.log,
      time,
      host: this.#host(),
      membership: this.membership,
      layout: node.layout,
      report: () => {},
    })
  }

  async leave(): Promise<void> {
    const { membership, ownership, log, node } = this
    await log.setDraining(node.name, true)
    const placeOf = (slug: string, nodes: readonly NodeRow[]) =>
      ranked({ slug, pin: null, layout: node.layout }, nodes)[0]
    const give = (slug: string, to: string | null) => ownership.release(slug, to)
    if (this.#mistakes.returning) for (const { slug } of ownership.all) await ownership.release(slug, null)
    else if (
      !(await giveAllAway({ membership, ownership, time: this.#time, placeOf, give }, this.#time.elapsed() + KEPT))
    )
      await membership.leave()
    await this.#time.sleep(KEPT)
    await membership.leave()
    ownership.stop()
  }

  start(): void {
    const join = async () => {
      try {
        await this.membership.join()
      } catch {
        // A process that cannot join ends, and is started again.
        await this.#time.sleep(100)
        this.node.crash()
        return this.node.start()
      }
      await this.membership.run()
    }
    void join()
  }

  /** The node that should have a tenant, as the router finds it. */
  nodeFor(row: TenantRow): NodeRow | undefined {
    return this.membership.nodeOf(row.owner) ?? ranked(row, this.membership.nodes)[0]
  }

  /** Runs a write or a read on a tenant that this node owns, as the thread of the tenant does. */
  execute(slug: string, write: number | null, answered: (answer: Answer) => void): void {
    const tenant = this.ownership.gateOf(slug)
    const file = this.node.tenants.get(slug)
    if (!tenant || !file) return void answered({ kind: 'refused' })
    if (write !== null) this.#commit(slug, file, write)
    const writes = [...file.writes]
    const gate = this.ownership.gateOf(slug)
    const done = () => answered({ kind: 'done', writes })
    if (this.#mistakes.ungated) return void done()
    if (gate) gate.pass(done, () => answered({ kind: 'refused' }))
    else answered({ kind: 'refused' })
  }

  /** A thread that ends between its commit and the word of it. */
  async loseThread(slug: string, write: number): Promise<void> {
    const file = this.node.tenants.get(slug)
    if (!this.ownership.gateOf(slug) || !file) return
    file.writes.push(write)
    file.n++
    file.epoch = file.next
    await this.ownership.forget(slug)
    await this.ownership.own(slug)
  }

  async snapshot(slug: string, id: string): Promise<void> {
    const tenant = this.ownership.get(slug)
    const file = this.node.tenants.get(slug)
    if (!tenant || !file) return
    const at = { n: file.n, epoch: file.epoch }
    const part = encode(file.writes)
    const save = async () => {
      await this.log.saveSnapshotPart(slug, id, 0, part)
      return this.log.publishSnapshot(slug, { ...at, id, layout: file.layout, parts: 1 })
    }
    await takeSnapshot(tenant, { at, save }, this.#time)
  }

  async follow(slug: string): Promise<void> {
    if (this.node.tenants.has(slug) || this.ownership.gateOf(slug)) return
    const [row] = await this.log.heads([slug])
    if (row) await this.#turns.run(slug, () => this.replica.bring(row))
  }

  /** Work on the files of one tenant is done one after the other, as in the thread of replicas. */
  readonly #turns = new OneAtATime()

  #commit(slug: string, file: File, write: number): void {
    file.writes.push(write)
    file.n++
    file.epoch = file.next
    this.ownership.committed(slug, file.n, encode([write]), false)
  }

  #host(): TenantHost {
    const { node } = this
    return {
      bring: (row) => this.#turns.run(row.slug, () => this.replica.bring(row)),
      open: (row, at) =>
        this.#turns.run(row.slug, async () => {
          const { slug, epoch } = row
          // A follower may have discarded it since it was brought.
          const state = node.replicas.get(slug) ?? (await this.replica.bring(row))
          if (state?.n !== at.n || state.epoch !== at.epoch) throw new Error(`The replica of ${slug} has moved.`)
          const file = await this.#migrated(slug, node.replicas.get(slug)!)
          node.replicas.delete(slug)
          node.tenants.set(slug, { ...file, next: epoch, openedAt: file.n, openedEpoch: file.epoch })
        }),
      close: async () => {
        await this.#time.sleep(2)
      },
      withdraw: (slug) =>
        this.#turns.run(slug, () => {
          const file = node.tenants.get(slug)
          node.tenants.delete(slug)
          if (file) node.replicas.set(slug, file)
        }),
      drop: async (slug) => {
        node.tenants.delete(slug)
      },
    }
  }

  /** Brings tables of an older layout forward, and makes a snapshot of them. */
  async #migrated(slug: string, file: File): Promise<File> {
    const { layout } = this.node
    if (file.layout === layout) return file
    const id = `layout ${layout} at ${file.n}`
    await this.log.saveSnapshotPart(slug, id, 0, encode(file.writes))
    await this.log.publishSnapshot(slug, { n: file.n, epoch: file.epoch, id, layout, parts: 1 })
    return { ...file, layout }
  }

  get owned(): readonly OwnedTenant[] {
    return this.ownership.all
  }
}

export function filesOf(node: { readonly replicas: Map<string, File> }): ReplicaFiles {
  return {
    state: (slug) => {
      const file = node.replicas.get(slug)
      return file ? { n: file.n, epoch: file.epoch, layout: file.layout } : null
    },
    apply: (slug, changes: readonly Change[]) => {
      const file = node.replicas.get(slug)!
      const last = changes.at(-1)!
      node.replicas.set(slug, {
        layout: file.layout,
        n: last.n,
        epoch: last.epoch,
        next: 0,
        openedAt: 0,
        openedEpoch: 0,
        writes: [...file.writes, ...changes.flatMap(({ bytes }) => decode(bytes))],
      })
    },
    restore: async (slug, head: SnapshotHead, parts) => {
      const writes: number[] = []
      for await (const part of parts) writes.push(...decode(part))
      const { n, epoch, layout } = head
      node.replicas.set(slug, { layout, n, epoch, next: 0, openedAt: 0, openedEpoch: 0, writes })
    },
    discard: (slug) => void node.replicas.delete(slug),
  }
}

/** A log that agrees with whatever a replica says of itself. */
function unverified(log: ReplicatedLog, files: ReplicaFiles): ReplicatedLog {
  return new Proxy(log, {
    get: (target, name: keyof ReplicatedLog) =>
      name === 'epochAt'
        ? async (slug: string) => files.state(slug)?.epoch ?? null
        : (target[name] as (...args: readonly never[]) => unknown),
  })
}

export function encode(writes: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(writes).buffer)
}

export function decode(bytes: Uint8Array): number[] {
  return [...new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)]
}
