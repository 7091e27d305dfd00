import type { Json } from '@tildebase/nouns'
import type { Script, ScriptAnswer, ScriptFailure, ScriptRequest } from '@tildebase/tenant/ports'
import { parseJson } from '../../doors/call.ts'
import { answerOf } from '../../host/script/answer.ts'
import { BUSY, refused, TOO_MUCH_MEMORY, tooLong } from '../../host/script/failures.ts'
import type { Outcome, ToWorker } from '../../host/script/messages.ts'
import { isolate, type WorkerLoader } from './isolate.ts'

type Run = Extract<ToWorker, { kind: 'run' }>
type Call = (name: string, args: string) => Promise<{ readonly ok: boolean; readonly text: string }>

/** The entry point of the isolate. */
interface Sandbox {
  prepare(memoryBytes: number): Promise<void>
  run(run: Run, call: Call): Promise<Outcome>
}

/** How many pieces of code of one tenant run at once, and how many hooks next to them. */
const SEATS = { long: 2, quick: 2 }
const MOST_WAITING = 256
/** The extra time for code to stop after its limit. */
const GRACE_MS = 250
/** What the interpreter and the reading of the code may compute in addition to the code itself. */
const GRACE_CPU_MS = 500

/** Runs code of one tenant in its own isolates: at most one piece in each at a time. */
export function createScript(loader: WorkerLoader, slug: string): Script {
  const queues = { long: new Seats(SEATS.long), quick: new Seats(SEATS.quick) }
  return {
    async run(request) {
      // Code whose computing is limited is a hook that a write waits for.
      const kind = request.cpuMs === undefined ? 'long' : 'quick'
      const seat = await queues[kind].take()
      if (seat === null) return { error: BUSY, logs: [] }
      try {
        const limits = { cpuMs: (request.cpuMs ?? request.timeMs) + GRACE_CPU_MS, subRequests: 0 }
        const id = `sandbox~${slug}~${kind}${seat.number}.${seat.age}`
        const sandbox = await isolate<Sandbox>(loader, 'sandbox', id, 'Sandbox', limits)
        // The platform loads it with the first call: the time of the code begins after that.
        const broken = seat.isLoaded ? null : await prepare(sandbox, request)
        if (broken) return { ...broken, logs: [] }
        seat.isLoaded = true
        return await runIn(sandbox, request, () => giveUp(seat))
      } finally {
        queues[kind].leave(seat)
      }
    },
  }
}

/** Loads an isolate; returns what went wrong. */
function prepare(sandbox: Sandbox, { memoryBytes, timeMs }: ScriptRequest): Promise<{ error: ScriptFailure } | null> {
  return sandbox.prepare(memoryBytes).then(
    () => null,
    (reason) => ({ error: failureOf(reason, timeMs) }),
  )
}

/** Runs code to its end. `spoiled` is called when its isolate cannot be used again. */
async function runIn(sandbox: Sandbox, request: ScriptRequest, spoiled: () => void): Promise<ScriptAnswer> {
  const { code, owner, values, timeMs, memoryBytes, operations, resultLength } = request
  const calls = new Calls(request)
  const run: Run = {
    kind: 'run',
    code,
    owner,
    values: JSON.stringify(values ?? {}),
    timeMs,
    // No code computes for longer than it may take.
    cpuMs: request.cpuMs ?? timeMs,
    memoryBytes,
    operations,
    resultLength,
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<Outcome>((done) => {
    timer = setTimeout(() => done({ error: tooLong(timeMs), logs: [] }), timeMs + GRACE_MS)
  })
  const ended = sandbox
    .run(run, (name, args) => calls.answer(name, args))
    .catch((reason): Outcome => ({ error: failureOf(reason, timeMs), logs: [] }))
  const outcome = await Promise.race([ended, late])
  clearTimeout(timer)
  calls.stopped = true
  if (outcome.isBroken || (outcome.error && outcome.error.code !== 'script_error')) spoiled()
  // The end is reported after every write of the code.
  await calls.done
  return answerOf(outcome)
}

/** The platform ended the isolate: it computed too long, or took too much memory. */
function failureOf(reason: unknown, timeMs: number): ScriptFailure {
  const isMemory = /memory/i.test(String((reason as Error)?.message))
  return isMemory ? TOO_MUCH_MEMORY : tooLong(timeMs)
}

/** The calls of a run, which are answered in the order they are made. */
class Calls {
  /** True once the run was ended: calls that have not begun do not begin. */
  stopped = false
  /** Done when all calls so far have ended. */
  done: Promise<unknown> = Promise.resolve()
  readonly #request: ScriptRequest

  constructor(request: ScriptRequest) {
    this.#request = request
  }

  answer(name: string, args: string): Promise<{ ok: boolean; text: string }> {
    const begun = this.stopped
      ? Promise.resolve(null)
      : Promise.resolve().then(() => this.#request.call(name, parseJson(args) as Json[]))
    this.done = Promise.allSettled([this.done, begun])
    return begun.then(
      (value) => ({ ok: true, text: JSON.stringify(value ?? null) }),
      (reason) => ({ ok: false, text: JSON.stringify(refused(reason)) }),
    )
  }
}

interface Seat {
  readonly number: number
  /** How many isolates of this seat were given up. */
  age: number
  /** Whether its isolate has been used. */
  isLoaded: boolean
}

/** The next code of this seat gets another isolate. */
function giveUp(seat: Seat): void {
  seat.age++
  seat.isLoaded = false
}

/** Places that are taken in turn. */
class Seats {
  readonly #free: Seat[]
  readonly #waiting: ((seat: Seat) => void)[] = []

  constructor(count: number) {
    this.#free = Array.from({ length: count }, (_, number) => ({ number, age: 0, isLoaded: false }))
  }

  /** A place once one is free; null when too many wait already. */
  async take(): Promise<Seat | null> {
    const seat = this.#free.shift()
    if (seat) return seat
    if (this.#waiting.length >= MOST_WAITING) return null
    return new Promise((taken) => this.#waiting.push(taken))
  }

  leave(seat: Seat): void {
    const next = this.#waiting.shift()
    if (next) next(seat)
    else this.#free.unshift(seat)
  }
}
