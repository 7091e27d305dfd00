import type { Mark } from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { LogState } from '../simulation/sim-log.ts'
import { encode } from '../simulation/sim-node.ts'
import { type Call, type Process, SLUG } from './replay-node.ts'

/** One machine with the log of the simulation. */
interface Database {
  readonly state: LogState
  readonly timeline: number
  position: number
}

/** The statements that write when this is true of what they return. */
const WRITES: Readonly<Record<string, (value: never) => boolean>> = {
  join: () => true,
  beat: (rows) => rows !== null,
  expire: (isDone: boolean) => isDone,
  claim: (rows: readonly unknown[]) => rows.length > 0,
  release: (isDone: boolean) => isDone,
  append: (taken: ReadonlySet<string>) => taken.size > 0,
  settle: () => true,
  publishSnapshot: (isDone: boolean) => isDone,
}

/** The primary, its standby, and a primary that was replaced. */
export class Databases {
  now = 0
  primary: Database
  standby: Database
  old: Database
  incarnation = 1
  timelines = 1

  constructor() {
    const state = new LogState()
    state.saveSnapshotPart(SLUG, 'first', 0, encode([]))
    state.create(SLUG, 'none', { id: 'first', layout: 1, parts: 1 })
    this.primary = { state, timeline: 1, position: 0 }
    this.standby = copyOf(this.primary)
    this.old = copyOf(this.primary)
  }

  replicate(): void {
    this.standby = copyOf(this.primary)
  }

  keep(): void {
    this.old = copyOf(this.primary)
  }

  failOver(): void {
    this.old = this.primary
    this.#use({ ...copyOf(this.standby), timeline: ++this.timelines })
  }

  goBack(isPromoted: boolean): void {
    const before = copyOf(this.old)
    this.#use(isPromoted ? { ...before, timeline: ++this.timelines } : before)
  }

  /** Executes a call, on a connection that the guard has admitted. Fails it when the guard refuses. */
  async execute(process: Process, call: Call, isOld = false): Promise<boolean> {
    if (call.line !== 'files' && !(await this.#connect(process, call.line))) {
      process.take(call).fail(new Error('The guard refuses this database.'))
      return false
    }
    call.done = this.run(call, isOld)
    return true
  }

  run({ name, args }: Call, isOld = false): { readonly value: unknown; readonly before: Mark } {
    const database = isOld ? this.old : this.primary
    const { state, timeline, position } = database
    const value = (state[name as keyof LogState] as (...args: readonly unknown[]) => unknown).apply(state, [...args])
    if (WRITES[name]?.(value as never)) database.position++
    return { value, before: { timeline, position } }
  }

  async #connect(process: Process, line: 'control' | 'appends'): Promise<boolean> {
    if (process.admitted[line] === this.incarnation) return true
    const { state, timeline, position } = this.primary
    try {
      await process.guard.admit({ timeline, position }, async (slugs) => state.find(slugs))
    } catch {
      process.admitted[line] = 0
      return false
    }
    process.admitted[line] = this.incarnation
    return true
  }

  #use(database: Database): void {
    this.primary = database
    this.standby = copyOf(database)
    this.incarnation++
  }
}

function copyOf({ state, timeline, position }: Database): Database {
  return { state: state.copy(), timeline, position }
}
