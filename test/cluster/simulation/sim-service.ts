import type { ReplicatedLog } from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { LogState } from './sim-log.ts'
import type { World } from './world.ts'

/** Methods that change something: they are answered when the standby has them, too. */
const WRITES = new Set([
  'join',
  'beat',
  'expire',
  'leave',
  'setDraining',
  'create',
  'remove',
  'claim',
  'release',
  'append',
  'settle',
  'saveSnapshotPart',
  'publishSnapshot',
])

type Operation = (state: LogState) => unknown

/** A caller of the log, and when its calls and answers arrive. */
export interface Caller {
  /** Runs something on the node, unless it has died; later if it is stopped. */
  deliver(run: () => void): void
  isCut(): boolean
}

/** The log as nodes see it: a primary and a standby, messages that are late or lost, and failovers. */
export class SimService {
  readonly #world: World
  primary = new LogState()
  /** What survives a failover. */
  #standby: LogState | null = null
  #waiting: { operation: Operation; done: (value: unknown) => void }[] = []
  #isDown = false
  /** How likely a message is lost. */
  loss = 0
  /** How likely a call arrives when its caller has given up on it. */
  lateness = 0.02

  constructor(world: World, hasStandby: boolean) {
    this.#world = world
    if (hasStandby) this.#standby = new LogState()
  }

  /** The standby has all that the primary has. */
  replicateNow(): void {
    if (this.#standby) this.#standby = this.primary.copy()
  }

  /** The primary dies. What the standby does not have is gone, and its callers hear nothing. */
  failOver(): void {
    if (!this.#standby || this.#isDown) return
    this.#isDown = true
    this.#waiting = []
    this.#world.after(this.#world.chance.between(200, 2_500), () => {
      this.primary = this.#standby!
      this.#standby = this.primary.copy()
      this.#isDown = false
    })
  }

  /** The log for one process of a node. */
  clientOf(caller: Caller, timeout: number): ReplicatedLog {
    return new Proxy({} as ReplicatedLog, {
      get: (_, name: string) =>
        name === 'then'
          ? undefined
          : (...args: unknown[]) =>
              new Promise((done, failed) => {
                const { chance } = this.#world
                let isOver = false
                const end = (run: () => void) =>
                  caller.deliver(() => {
                    if (isOver) return
                    isOver = true
                    this.#world.cancel(late)
                    run()
                  })
                const late = this.#world.after(timeout, () => end(() => failed(new Error(`${name} was not answered`))))
                if (caller.isCut() || chance.is(this.loss)) return
                const delay = chance.is(this.lateness) ? timeout * chance.next() * 2 : 0
                this.#world.after(chance.between(0.2, 3) + delay, () => {
                  if (this.#isDown) return
                  this.#execute(name, args, (value) => {
                    if (caller.isCut() || chance.is(this.loss)) return
                    this.#world.after(chance.between(0.2, 3), () => end(() => done(value)))
                  })
                })
              }),
    })
  }

  #execute(name: string, args: readonly unknown[], done: (value: unknown) => void): void {
    const operation: Operation = (state) =>
      (state[name as keyof LogState] as (...args: readonly unknown[]) => unknown).apply(state, [...args])
    const value = operation(this.primary)
    if (!this.#standby || !WRITES.has(name)) return void done(value)
    const entry = { operation, done: () => done(value) }
    this.#waiting.push(entry)
    if (this.#waiting.length === 1) this.#replicateLater()
  }

  /** The standby does what the primary did, in its order. */
  #replicateLater(): void {
    const { chance } = this.#world
    this.#world.after(chance.is(0.05) ? chance.between(5, 400) : chance.between(0.2, 2), () => {
      const all = this.#waiting.splice(0)
      for (const { operation } of all) operation(this.#standby!)
      for (const { done } of all) done(undefined)
      if (this.#waiting.length > 0) this.#replicateLater()
    })
  }
}
