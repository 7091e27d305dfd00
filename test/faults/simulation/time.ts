import crypto from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Chance } from '../../chance.ts'

const load = createRequire(import.meta.url)
const timersPromises = load('node:timers/promises')
const realImmediate = setImmediate
const RealDate = Date

/** A call that is due at a time. */
interface Timer {
  at: number
  readonly order: number
  readonly run: () => void
  readonly every: number | null
  isSet: boolean
  /** Whether it is none of the service, so that it outlives its process. */
  readonly isOutside: boolean
}

/** How far the clock that counts work moves with each look at it, at most. */
const LOOK_MS = 0.4
/** What other threads do with files. */
const FILE_WORK = /^(?:FSReq|CloseReq)/
/** More turns than any work of the service takes without waiting. */
const MOST_TURNS = 20_000

/**
 * The time and the turns of this process, simulated: nothing waits, because the clock jumps to the next call that is due. It
 * replaces the clocks, the timers and the random numbers of the process.
 */
export class SimulatedTime {
  /** Milliseconds since 1970. */
  now: number
  readonly begin: number
  /** Called with what a timer of the service throws: it would end the process. */
  uncaught: (reason: Error) => void = (reason) => {
    throw reason
  }

  readonly #chance: Chance
  readonly #looks: Chance
  #worked = 0
  #order = 0
  #timers: Timer[] = []
  #immediates: (() => void)[] = []
  /** Work of other threads that has not ended. */
  #elsewhere = 0

  constructor(begin: number, chance: Chance) {
    this.begin = begin
    this.now = begin
    this.#chance = chance
    this.#looks = chance.fork()
    this.#replaceClocks()
    this.#replaceTimers()
    this.#replaceRandom()
    this.#countElsewhere()
  }

  /** Drops the timers of the service: its process was killed. What runs now comes to its end. */
  forget(): void {
    for (const timer of this.#timers) if (!timer.isOutside) timer.isSet = false
    this.#timers = this.#timers.filter(({ isOutside }) => isOutside)
  }

  /** Waits, outside of the service. */
  sleep(ms: number): Promise<void> {
    return new Promise((run) => {
      const timer: Timer = { at: 0, order: this.#order++, run, every: null, isSet: false, isOutside: true }
      this.#add(timer, this.now + ms)
    })
  }

  /** Runs all that is due, each at its time, until some work is done. */
  async drive<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const end = () => {
      isDone = true
    }
    work.then(end, end)
    let turns = 0
    for (;;) {
      await this.#settle()
      if (isDone) return work
      const immediates = this.#immediates.splice(0)
      if (immediates.length > 0) {
        if (++turns > MOST_TURNS) throw new Error(`The service is busy with nothing at ${new Date().toISOString()}.`)
        for (const call of immediates) this.#guarded(call)
        // Work takes time: what has become due meanwhile has its turn.
        this.now = Math.max(this.now, this.begin + this.#worked)
        if (this.#timers[0] !== undefined && this.#timers[0].at <= this.now) this.#ringNext()
        continue
      }
      turns = 0
      if (this.#timers.length === 0) throw new Error('Nothing is due, but the work is not done.')
      this.#ringNext()
    }
  }

  #ringNext(): void {
    const next = this.#timers.shift()!
    this.now = Math.max(this.now, next.at)
    next.isSet = false
    if (next.every !== null) this.#add(next, this.now + next.every)
    this.#guarded(next.run)
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (reason) {
      this.uncaught(reason as Error)
    }
  }

  /** Settles when nothing is left to do without the clock or another turn. */
  async #settle(): Promise<void> {
    do await new Promise<void>((done) => realImmediate(done))
    while (this.#elsewhere > 0 || process.getActiveResourcesInfo().some((name) => FILE_WORK.test(name)))
  }

  #add(timer: Timer, at: number): void {
    timer.at = at
    timer.isSet = true
    const place = this.#timers.findIndex((other) => other.at > at)
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer)
  }

  #remove(timer: Timer): void {
    if (timer.isSet) this.#timers.splice(this.#timers.indexOf(timer), 1)
    timer.isSet = false
  }

  #replaceClocks(): void {
    const time = this
    globalThis.Date = class extends RealDate {
      constructor(...given: unknown[]) {
        super(...((given.length === 0 ? [time.now] : given) as [number]))
      }

      static override now(): number {
        return Math.floor(time.now)
      }
    } as DateConstructor
    performance.now = () => {
      this.#worked = Math.max(this.#worked, this.now - this.begin) + this.#looks.next() * LOOK_MS
      return this.#worked
    }
    // What the thread has worked decides which writes become tasks.
    Object.assign(process, { threadCpuUsage: () => ({ user: performance.now() * 1_000, system: 0 }) })
  }

  #replaceTimers(): void {
    const later = (run: () => void, ms: number, every: number | null) => {
      const timer: Timer = { at: 0, order: this.#order++, run, every, isSet: false, isOutside: false }
      const wait = Number.isFinite(ms) && ms > 0 ? ms : 1
      this.#add(timer, this.now + wait)
      const handle = {
        ref: () => handle,
        unref: () => handle,
        hasRef: () => true,
        refresh: () => {
          this.#remove(timer)
          this.#add(timer, this.now + wait)
          return handle
        },
        [Symbol.toPrimitive]: () => timer.order,
        timer,
      }
      return handle
    }
    const cancel = (handle: { readonly timer?: Timer } | null | undefined) => {
      if (handle?.timer) this.#remove(handle.timer)
    }
    const immediately = (run: (...given: unknown[]) => void, ...given: unknown[]) => {
      const call = () => run(...given)
      this.#immediates.push(call)
      return { call }
    }
    Object.assign(globalThis, {
      setTimeout: (run: (...given: unknown[]) => void, ms = 1, ...given: unknown[]) =>
        later(() => run(...given), ms, null),
      setInterval: (run: (...given: unknown[]) => void, ms = 1, ...given: unknown[]) =>
        later(() => run(...given), ms, Math.max(ms, 1)),
      clearTimeout: cancel,
      clearInterval: cancel,
      setImmediate: immediately,
      clearImmediate: ({ call }: { readonly call: () => void }) => {
        this.#immediates = this.#immediates.filter((one) => one !== call)
      },
    })
    timersPromises.setTimeout = (ms: number, value?: unknown) =>
      new Promise((done) => later(() => done(value), ms, null))
    timersPromises.setImmediate = (value?: unknown) => new Promise((done) => immediately(done, value))
    syncBuiltinESMExports()
  }

  #replaceRandom(): void {
    const fill = <T extends NodeJS.ArrayBufferView>(into: T): T => {
      const bytes = Buffer.from(into.buffer, into.byteOffset, into.byteLength)
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(this.#chance.next() * 256)
      return into
    }
    const hex = (count: number) => fill(Buffer.alloc(count)).toString('hex')
    Object.assign(crypto, {
      randomFillSync: fill,
      randomBytes: (count: number) => fill(Buffer.alloc(count)),
      randomUUID: () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-8${hex(2).slice(1)}-${hex(6)}`,
    })
    Object.assign(Object.getPrototypeOf(globalThis.crypto), {
      getRandomValues: fill,
      randomUUID: crypto.randomUUID,
    })
    Math.random = () => this.#chance.next()
    syncBuiltinESMExports()
  }

  /** Signatures and hashes of passwords are made by other threads: the clock waits for them. */
  #countElsewhere(): void {
    const elsewhere = (count: number) => {
      this.#elsewhere += count
    }
    const { argon2 } = crypto
    crypto.argon2 = (algorithm, parameters, done) => {
      elsewhere(1)
      argon2(algorithm, parameters, (reason, key) => {
        elsewhere(-1)
        done(reason, key)
      })
    }
    syncBuiltinESMExports()
    const subtle = Object.getPrototypeOf(globalThis.crypto.subtle)
    for (const name of ['sign', 'verify', 'importKey', 'exportKey', 'digest', 'generateKey']) {
      const real = subtle[name]
      subtle[name] = async function (this: unknown, ...given: unknown[]) {
        elsewhere(1)
        try {
          return await real.apply(this, given)
        } finally {
          elsewhere(-1)
        }
      }
    }
  }
}
