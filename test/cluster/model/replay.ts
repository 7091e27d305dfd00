import { setImmediate as turn } from 'node:timers/promises'
import type { Append } from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { decode } from '../simulation/sim-node.ts'
import type { State } from './compile.ts'
import { type Step, stepOf } from './explore.ts'
import { Databases } from './replay-databases.ts'
import { type Call, Machine, Process, SLUG } from './replay-node.ts'

/** The timers of the protocol, by their lengths: signs of life, pauses of the appender, and two polls. */
const BEAT = 1_250
const PAUSES = [50, 1_000] as const
const RELEASE_POLL = 5
const SNAPSHOT_POLL = 20
/** One step `beat` of the model: as many as the looks that declare a node dead, and one. */
const BEATS = 5

const READS = ['read', 'epochAt', 'snapshot', 'snapshotPart']
const SAVES = ['saveSnapshotPart', 'publishSnapshot']

/** A record of the model. cluster.qnt gives the types. */
type Model = any

/** Takes the steps of a trace of the model with the code. Returns the first difference, or null. */
export async function replay(trace: readonly State[]): Promise<string | null> {
  const replayed = new Replay()
  const taken: Step[] = []
  for (const state of trace.slice(1)) {
    const world = state.world as Model
    const { step, node, arg } = state.did as { step: string; node: string; arg: number }
    taken.push(stepOf(state.did))
    await replayed.take(step, node, arg, world)
    const [ours, models] = [replayed.observed(), observedOf(world)]
    if (ours !== models) return `${taken.join(', ')}\nthe code  ${ours}\nthe model ${models}`
  }
  return null
}

class Replay {
  readonly #databases = new Databases()
  readonly #machines = new Map(['n1', 'n2'].map((name) => [name, new Machine(this.#databases)]))
  #late: Call | null = null
  #sessions = 0
  #copies = 0
  readonly #shown = new Set<number>()

  async take(step: string, name: string, arg: number, world: Model): Promise<void> {
    const machine = this.#machines.get(name)
    if (machine) await this.#ofNode(machine, step, arg)
    else await this.#ofWorld(step, arg)
    await turn()
    for (const [name, { process }] of this.#machines) if (process) await this.#forget(process, world.nodes.get(name))
  }

  async #ofWorld(step: string, arg: number): Promise<void> {
    const databases = this.#databases
    if (step === 'tick') databases.now += arg
    else if (step === 'replicate') databases.replicate()
    else if (step === 'failOver') databases.failOver()
    else if (step === 'keep') databases.keep()
    else if (step === 'goBack') databases.goBack(arg === 1)
    else if (step === 'appendLate') databases.run(this.#late!)
    else throw new Error(`The step ${step} is not known.`)
  }

  async #ofNode(machine: Machine, step: string, arg: number): Promise<void> {
    if (step === 'start') return this.#start(machine)
    if (step === 'crash') return machine.crash(arg)
    if (step === 'sleep') {
      machine.slept += arg
      this.#databases.now += arg
      return
    }
    const process = machine.process!
    const shown = (writes: readonly number[]) => {
      for (const write of writes) this.#shown.add(write)
    }
    const { ownership } = process
    if (step === 'beat') return this.#beat(process)
    if (step === 'write') return process.request(arg, shown)
    if (step === 'read') return process.request(null, shown)
    if (step === 'own') return void ownership.own(SLUG).catch(() => {})
    if (step === 'reopen') return void ownership.reopen(SLUG).catch(() => {})
    if (step === 'leave') return void ownership.release(SLUG, arg === 0 ? null : `s${arg}`).catch(() => {})
    if (step === 'copyFile') return process.snapshot(`copy ${++this.#copies}`)
    if (step === 'open') return this.#auto(process, READS, arg === 1)
    if (step === 'publish') {
      process.wake(SNAPSHOT_POLL)
      await turn()
      return this.#auto(process, SAVES)
    }
    const call = CALLS.find(({ executed }) => executed === step)
    if (call) return this.#execute(process, call.name, call.wakes)
    const [, name, outcome] = /^(.*)(Answered|Fails)$/.exec(step)!
    const ended = CALLS.find(({ result }) => result === name)!
    if (outcome === 'Fails') this.#fail(process, ended.name, arg)
    else await this.#answer(process, ended.name)
  }

  async #start(machine: Machine): Promise<void> {
    const process = new Process(machine, () => `s${++this.#sessions}`)
    machine.process = process
    let isJoined = false
    process.membership.join().then(
      () => {
        isJoined = true
      },
      () => {},
    )
    await turn()
    await this.#auto(process, ['join', 'beat', 'expire'])
    if (!isJoined) {
      machine.process = null
      this.#sessions--
      return
    }
    this.#databases.replicate()
    void process.membership.run()
  }

  async #beat(process: Process): Promise<void> {
    for (let beat = 0; beat < BEATS; beat++) {
      process.wake(BEAT)
      await turn()
      await this.#auto(process, ['beat', 'join', 'expire'])
    }
    if (process.admitted.control === this.#databases.incarnation) this.#databases.replicate()
  }

  async #execute(process: Process, name: string, [from, to]: readonly [number, number]): Promise<void> {
    process.wake(from, to)
    await turn()
    const call = process.call(name)
    if (!call) throw new Error(`The code does not call ${name}.`)
    await this.#databases.execute(process, call)
  }

  async #answer(process: Process, name: string): Promise<void> {
    const call = process.take(process.call(name)!)
    const { value, before } = call.done!
    if (name === 'append' && (value as ReadonlySet<string>).size > 0) process.guard.acknowledged(before)
    call.answer(value)
    await turn()
    if (name === 'beat') await this.#auto(process, ['expire'])
  }

  #fail(process: Process, name: string, late: number): void {
    const call = process.take(process.call(name)!)
    if (late === 1) this.#late = call
    process.admitted[call.line as 'control' | 'appends'] = 0
    call.fail(new Error('The log did not answer.'))
  }

  /** Executes and answers calls as they come. */
  async #auto(process: Process, names: readonly string[], isOld = false): Promise<void> {
    for (let call = process.call(...names); call; call = process.call(...names)) {
      const isFromOld = isOld && call.line === 'files'
      if (await this.#databases.execute(process, call, isFromOld)) process.take(call).answer(call.done!.value)
      await turn()
    }
  }

  /** Calls and timers of a tenant that the node has lost end without a result. The model has no such calls. */
  async #forget(process: Process, { copy, unsettled }: Model): Promise<void> {
    const epoch = process.ownership.gateOf(SLUG)?.epoch
    for (const call of process.calls.filter(({ name, args }) => isLost(name, args, epoch)))
      process.take(call).fail(new Error('The tenant is lost.'))
    await turn()
    if (!unsettled) process.wake(...PAUSES)
    if (copy.n === -1) {
      process.wake(SNAPSHOT_POLL)
      for (const call of process.calls.filter(({ name }) => SAVES.includes(name)))
        process.take(call).fail(new Error('The copy is gone.'))
    }
    if (epoch === undefined) process.wake(RELEASE_POLL)
    await turn()
  }

  /** What the code has, as a text. */
  observed(): string {
    const { primary, now } = this.#databases
    const { state, timeline, position } = primary
    const [row] = state.find([SLUG])
    const snapshot = state.snapshot(SLUG)!
    return textOf({
      ...{ now, timeline, position, epoch: row!.epoch, head: row!.head, owner: numberOf(row!.owner) },
      sessions: [...state.nodes.values()].map(({ session, alive, beat }) => [numberOf(session), alive, beat]),
      log: (state.changes.get(SLUG) ?? []).map(({ n, epoch, before, bytes }) => [n, epoch, before, ...decode(bytes)]),
      snapshot: [snapshot.n, snapshot.epoch, ...decode(state.snapshotPart(SLUG, snapshot.id, 0)!)],
      shown: [...this.#shown].sort((a, b) => a - b),
      nodes: [...this.#machines].map(([name, machine]) => [name, observedNode(machine)]),
    })
  }
}

/** The calls that the trace executes and answers, by the names of the steps. `wakes` are the timers before them. */
const CALLS = [
  { name: 'claim', executed: 'claim', result: 'claim', wakes: [0, 0] },
  { name: 'append', executed: 'executeAppend', result: 'append', wakes: [0, 0] },
  { name: 'settle', executed: 'settle', result: 'settle', wakes: PAUSES },
  { name: 'beat', executed: 'beatSlowly', result: 'beat', wakes: [BEAT, BEAT] },
  { name: 'release', executed: 'release', result: 'release', wakes: [RELEASE_POLL, RELEASE_POLL] },
] as const

function isLost(name: string, args: readonly unknown[], epoch: number | undefined): boolean {
  if (name === 'release') return args[1] !== epoch
  return (name === 'append' || name === 'settle') && !(args[0] as Append[]).some((one) => one.epoch === epoch)
}

function observedNode({ process, file, reported, kept }: Machine): unknown {
  const tenant = process?.ownership.gateOf(SLUG)
  return {
    ...{ up: process !== null, session: process ? numberOf(process.membership.session) : 0, reported },
    kept: kept === null ? [0, 0] : [kept.timeline, kept.position],
    isTrusted: process?.membership.isTrusted ?? false,
    file: file ? [file.n, file.epoch, ...file.writes] : [-1],
    tenant: tenant ? [tenant.epoch, tenant.head, tenant.headEpoch, tenant.committed, tenant.held] : null,
  }
}

/** The same of a state of the model. */
function observedOf(world: Model): string {
  const { now, primary, shown, nodes } = world
  const { timeline, position, epoch, head, owner, sessions, log, snapshot } = primary
  return textOf({
    ...{ now, timeline, position, epoch, head, owner },
    sessions: [...sessions].map(([session, { alive, beat }]) => [session, alive, beat]),
    log: log.map((change: Model) => [change.n, change.epoch, change.before, change.write]),
    snapshot: [snapshot.n, snapshot.epoch, ...snapshot.writes],
    shown: shown.toSorted((a: number, b: number) => a - b),
    nodes: [...nodes].map(([name, node]) => [name, observedModelNode(node, now)]),
  })
}

function observedModelNode(node: Model, now: number): unknown {
  const { up, session, reported, kept, leased, sent, sentWall, slept, file, phase, epoch, head, headEpoch, held } = node
  const isOpen = ['open', 'leaving', 'releasing'].includes(phase)
  return {
    ...{ up, session, reported },
    kept: [kept.timeline, kept.position],
    isTrusted: leased && now - slept - sent < 4 && now - sentWall < 4,
    file: file.n < 0 ? [-1] : [file.n, file.epoch, ...file.writes],
    tenant: isOpen ? [epoch, head, headEpoch, file.n, held.length] : null,
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value)
}

function numberOf(session: string | null): number {
  return Number(/\d+/.exec(session ?? '')?.[0] ?? 0)
}
