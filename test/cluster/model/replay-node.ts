import { LogGuard } from '../../../packages/server/src/cluster/protocol/log-guard.ts'
import { Membership } from '../../../packages/server/src/cluster/protocol/membership.ts'
import { Ownership, type TenantHost } from '../../../packages/server/src/cluster/protocol/ownership.ts'
import { Replica } from '../../../packages/server/src/cluster/protocol/replica.ts'
import type { Append, Mark, ReplicatedLog } from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { takeSnapshot } from '../../../packages/server/src/cluster/protocol/snapshot.ts'
import { encode, type File, filesOf } from '../simulation/sim-node.ts'

export const SLUG = 'a'
/** A tick of the model in milliseconds. */
const TICK = 1_000
const LEASE = 5 * TICK

/** The connection that a call uses: those of PostgresLog, and those of the thread of replicas. */
type Line = 'control' | 'appends' | 'files'

/** A call of the log that waits for the trace: to be executed, and then to be answered. */
export interface Call {
  readonly line: Line
  readonly name: string
  readonly args: readonly unknown[]
  readonly answer: (value: unknown) => void
  readonly fail: (reason: Error) => void
  /** What the database returned, once it was executed. */
  done?: { readonly value: unknown; readonly before: Mark }
}

/** What outlives a process: the disk and the clock of a machine. */
export class Machine {
  readonly world: { readonly now: number }
  readonly replicas = new Map<string, File>()
  readonly tenants = new Map<string, File>()
  kept: Mark | null = null
  reported = false
  slept = 0
  process: Process | null = null

  constructor(world: { readonly now: number }) {
    this.world = world
  }

  get file(): File | undefined {
    return this.tenants.get(SLUG) ?? this.replicas.get(SLUG)
  }

  /** The process ends, and the last commits of the file may be gone. */
  crash(lost: number): void {
    this.process = null
    const file = this.tenants.get(SLUG)
    if (!file) return
    const n = Math.max(file.openedAt, file.n - lost)
    if (n < file.n) {
      file.writes.length = n
      file.n = n
      if (n === file.openedAt) file.epoch = file.openedEpoch
    }
    this.replicas.set(SLUG, file)
    this.tenants.delete(SLUG)
  }
}

/** The protocol of a node as it is. Its calls and timers wait for the trace. */
export class Process {
  readonly #machine: Machine
  readonly membership: Membership
  readonly ownership: Ownership
  readonly guard: LogGuard
  /** The incarnation of the database that has admitted each connection. */
  readonly admitted: Record<'control' | 'appends', number> = { control: 0, appends: 0 }
  readonly calls: Call[] = []
  readonly #timers: { readonly ms: number; readonly end: () => void }[] = []
  readonly time = {
    elapsed: () => (this.#machine.world.now - this.#machine.slept) * TICK,
    wall: () => this.#machine.world.now * TICK,
    sleep: (ms: number) => new Promise<void>((end) => this.#timers.push({ ms, end })),
  }

  constructor(machine: Machine, newSession: () => string) {
    this.#machine = machine
    this.guard = new LogGuard({
      newest: machine.kept,
      keep: (mark) => {
        machine.kept = mark
      },
      report: () => {
        machine.reported = true
      },
    })
    const { time } = this
    const log = this.#log('control')
    this.membership = new Membership({
      ...{ log, time, newSession, lease: LEASE, isGenuine: () => true, report: () => {} },
      node: { name: 'node', url: '', layout: 1, version: '1' },
      renewed: () => {
        this.ownership.drain()
        this.guard.save()
      },
      expired: () => this.ownership.loseAll(),
    })
    const { membership } = this
    this.ownership = new Ownership({ log, time, membership, layout: 1, host: this.#host(), report: () => {} })
    this.guard.watch(() => this.ownership.acknowledged)
  }

  /** Ends the timers of some length. Returns whether there were any. */
  wake(from: number, to = from): boolean {
    const due = this.#timers.filter(({ ms }) => ms >= from && ms <= to)
    for (const timer of due) this.#timers.splice(this.#timers.indexOf(timer), 1)
    for (const { end } of due) end()
    return due.length > 0
  }

  call(...names: readonly string[]): Call | undefined {
    return this.calls.find(({ name }) => names.includes(name))
  }

  /** The call leaves: with an answer, or without one. */
  take(call: Call): Call {
    this.calls.splice(this.calls.indexOf(call), 1)
    return call
  }

  /** A write, or a read when there is no number. `shown` gets what the answer shows, if it leaves. */
  request(write: number | null, shown: (writes: readonly number[]) => void): void {
    const file = this.#machine.tenants.get(SLUG)!
    if (write !== null) {
      file.writes.push(write)
      file.n++
      file.epoch = file.next
      this.ownership.committed(SLUG, file.n, encode([write]), false)
    }
    const writes = [...file.writes]
    this.ownership.gateOf(SLUG)!.pass(
      () => shown(writes),
      () => {},
    )
  }

  /** Copies the file, and saves the copy as a snapshot when the log has all of it. */
  snapshot(id: string): void {
    const file = this.#machine.tenants.get(SLUG)!
    const at = { n: file.n, epoch: file.epoch }
    const part = encode(file.writes)
    const log = this.#log('files')
    const save = async () => {
      await log.saveSnapshotPart(SLUG, id, 0, part)
      return log.publishSnapshot(SLUG, { ...at, id, layout: 1, parts: 1 })
    }
    takeSnapshot(this.ownership.gateOf(SLUG)!, { at, save }, this.time).catch(() => {})
  }

  #host(): TenantHost {
    const { replicas, tenants } = this.#machine
    const replica = new Replica(this.#log('files'), filesOf(this.#machine))
    return {
      bring: (row) => replica.bring(row),
      open: async ({ slug, epoch }) => {
        const file = replicas.get(slug)!
        replicas.delete(slug)
        tenants.set(slug, { ...file, next: epoch, openedAt: file.n, openedEpoch: file.epoch })
      },
      close: async () => {},
      withdraw: async (slug) => {
        replicas.set(slug, tenants.get(slug)!)
        tenants.delete(slug)
      },
      drop: async (slug) => void tenants.delete(slug),
    }
  }

  #log(line: Line): ReplicatedLog {
    const appends = new Set(['append', 'settle'])
    return new Proxy({} as ReplicatedLog, {
      get: (_, name: string) =>
        name === 'then'
          ? undefined
          : (...args: unknown[]) =>
              new Promise((answer, fail) => {
                // Without a tenant that is still owned there is nothing to ask for.
                if (name === 'settle' && (args[0] as Append[]).length === 0) return answer(new Map())
                this.calls.push({ line: appends.has(name) ? 'appends' : line, name, args, answer, fail })
              }),
    })
  }
}
