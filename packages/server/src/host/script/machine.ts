import type { ScriptFailure as Failure } from '@tildebase/tenant/ports'
import {
  errors,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { BrokenReader, CodeError, functionOf, type StripTypes } from './code.ts'
import type { Outcome, ToWorker } from './messages.ts'

type Run = Extract<ToWorker, { kind: 'run' }>

const STACK_BYTES = 256 * 1_024
const MOST_LOG = 100_000
const MOST_ARGS = 2 * 1_048_576
const JOBS_AT_ONCE = 1_000
const NEARLY = 0.9

/** What a machine tells to the outside. */
export interface Outside {
  call(number: number, name: string, args: string): void
  done(outcome: Outcome): void
}

/** What the interpreter needs of the thread that it runs in. */
export interface Bench {
  readonly strip: StripTypes
  /** What this thread has computed, in milliseconds: waiting for a busy machine does not count. */
  cpuNow(): number
  /** Called each time the interpreter asks whether it must stop: after 10,000 loops and calls, about. */
  tick?(): void
}

/** One run of one piece of code in its own interpreter. */
export class Machine {
  readonly #wasm: QuickJSWASMModule
  readonly #run: Run
  readonly #outside: Outside
  readonly #bench: Bench
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  readonly #begun = performance.now()
  #excusedMs = 0
  readonly #logs: string[] = []
  #logged = 0
  #calls = 0
  #waiting = 0
  #cpuMs = 0
  #entered = 0
  #settle: QuickJSHandle | null = null
  #end: Failure | null = null
  #over = false
  #isBroken = false

  constructor(wasm: QuickJSWASMModule, run: Run, outside: Outside, bench: Bench) {
    this.#wasm = wasm
    this.#run = run
    this.#outside = outside
    this.#bench = bench
    this.#runtime = wasm.newRuntime()
    this.#runtime.setMemoryLimit(run.memoryBytes)
    this.#runtime.setMaxStackSize(STACK_BYTES)
    this.#runtime.setInterruptHandler(() => {
      bench.tick?.()
      return this.#isLate()
    })
    this.#context = this.#runtime.newContext()
  }

  get over(): boolean {
    return this.#over
  }

  /** Starts the code. It continues with each reply, until `done` is called. */
  start(): void {
    this.#enter(() => {
      const { code, values, now } = this.#run
      const main = functionOf(code, ['$', ...Object.keys(JSON.parse(values))], this.#bench.strip)
      const context = this.#context
      const host = this.#hostFunctions()
      using prelude = context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js'))
      using functions = context.unwrapResult(context.callFunction(prelude, context.undefined, ...host))
      for (const handle of host) handle.dispose()
      using begin = context.getProp(functions, 'start')
      this.#settle = context.getProp(functions, 'settle')
      using user = context.unwrapResult(context.evalCode(main, 'code.ts'))
      using given = context.newString(values)
      using time = now === undefined ? context.undefined : context.newNumber(now)
      context.unwrapResult(context.callFunction(begin, context.undefined, user, given, time)).dispose()
    })
  }

  /** Hands the answer of a call to the code, which has waited for tasks so long. */
  reply(number: number, ok: boolean, text: string, excusedMs = 0): void {
    if (this.#over) return
    this.#excusedMs = excusedMs
    this.#waiting--
    this.#enter(() => {
      const context = this.#context
      using answer = context.newString(text)
      using which = context.newNumber(number)
      const good = ok ? context.true : context.false
      context.unwrapResult(context.callFunction(this.#settle!, context.undefined, which, good, answer)).dispose()
    })
  }

  /** Frees what the interpreter holds. Throws when the code left it in a state that cannot be freed. */
  dispose(): void {
    this.#settle?.dispose()
    this.#context.dispose()
    this.#runtime.dispose()
  }

  /** Runs something inside the interpreter and what follows from it, and finds out whether it is over. */
  #enter(work: () => void): void {
    this.#entered = this.#bench.cpuNow()
    try {
      work()
      while (!this.#over && this.#end === null && this.#runtime.hasPendingJob()) {
        const jobs = this.#runtime.executePendingJobs(JOBS_AT_ONCE)
        if (jobs.error) {
          const told = this.#context.dump(jobs.error)
          jobs.error.dispose()
          const error = new errors.QuickJSUnwrapError(told)
          throw Object.assign(error, { name: told?.name ?? '', message: told?.message ?? '', stack: '' })
        }
        this.#isLate()
      }
    } catch (reason) {
      this.#isBroken ||= !isVerdict(reason)
      if (!this.#over) this.#end ??= this.#failureOf(reason as Error)
    }
    this.#cpuMs += this.#bench.cpuNow() - this.#entered
    if (this.#over) return
    if (this.#end !== null) this.#finish({ error: this.#end })
    else if (this.#waiting === 0) this.#finish({ error: NEVER })
  }

  /** Called by the interpreter now and then; true stops it. */
  #isLate(): boolean {
    const { timeMs } = this.#run
    if (this.#end === null && performance.now() > this.#begun + timeMs + this.#excusedMs) this.#end = late(timeMs, '')
    if (this.#end === null && this.#cpuMs + this.#bench.cpuNow() - this.#entered > this.#run.cpuMs) {
      this.#end = late(this.#run.cpuMs, ' of computing')
    }
    return this.#end !== null
  }

  #hostFunctions(): QuickJSHandle[] {
    const context = this.#context
    const post = context.newFunction('post', (number, name, args) => {
      this.#call(context.getNumber(number), context.getString(name), context.getString(args))
    })
    const print = context.newFunction('print', (line) => this.#log(context.getString(line)))
    const finish = context.newFunction('finish', (failed, text) => {
      this.#result(context.getNumber(failed) === 1, context.getString(text))
    })
    return [post, print, finish]
  }

  #call(number: number, name: string, args: string): void {
    if (this.#end !== null || this.#over) return
    if (++this.#calls > this.#run.operations) {
      const message = `The code made more than ${this.#run.operations} operations. Do less in one run, or use a narrower filter.`
      this.#end = { code: 'script_operations', message }
      return
    }
    if (args.length > MOST_ARGS) {
      this.#end = { code: 'script_error', message: `The arguments of ${name} are longer than ${MOST_ARGS} characters.` }
      return
    }
    this.#waiting++
    this.#outside.call(number, name, args)
  }

  #log(line: string): void {
    if (this.#logged > MOST_LOG) return
    this.#logged += line.length + 1
    this.#logs.push(this.#logged > MOST_LOG ? '… and more, which is not stored.' : line)
  }

  #result(failed: boolean, text: string): void {
    if (this.#over || this.#end !== null) return
    if (failed) this.#finish({ error: this.#toldBy(JSON.parse(text)) })
    else if (text.length > this.#run.resultLength) this.#finish({ error: long(text.length, this.#run.resultLength) })
    else this.#finish({ result: text })
  }

  #finish(outcome: Omit<Outcome, 'logs'>): void {
    this.#over = true
    this.#outside.done({ ...outcome, logs: this.#logs, ...(this.#isBroken && { isBroken: true }) })
  }

  #failureOf(reason: Error): Failure {
    if (reason instanceof CodeError || reason instanceof BrokenReader)
      return { code: 'script_error', message: reason.message }
    return this.#toldBy({ name: reason.name, message: reason.message, stack: reason.stack ?? '' })
  }

  #toldBy(told: { name: string; message: string; stack: string; reason?: string }): Failure {
    const { name, message, stack, reason } = told
    // Where nothing is left, not even for an error, the interpreter throws null.
    const full = this.#wasm.getWasmMemory().buffer.byteLength > this.#run.memoryBytes * NEARLY
    if (/out of memory|memory access out of bounds|unreachable/i.test(message) || (full && message === 'null')) {
      return memory(this.#run.memoryBytes)
    }
    if (/stack overflow|call stack size/i.test(message)) return { code: 'script_error', message: DEEP }
    const line = /code\.ts:(\d+)/.exec(stack)?.[1]
    const kind = name === '' || name === 'Error' ? '' : `${name}: `
    const place = line === undefined ? '' : ` (line ${line})`
    const said = message.slice(0, 2_000)
    return { code: 'script_error', message: `${kind}${said}${place}`, said, ...(reason && { reason }) }
  }
}

/** Whether an error says something about the code. Others, as those of WebAssembly itself, say that the thread is broken. */
function isVerdict(reason: unknown): boolean {
  return reason instanceof CodeError || reason instanceof errors.QuickJSUnwrapError
}

const DEEP = 'The recursion of the code is too deep.'
const NEVER: Failure = { code: 'script_error', message: 'The code waits for a promise that never settles.' }

function late(ms: number, of: string): Failure {
  const time = ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`
  return {
    code: 'script_timeout',
    message: `The code ran longer than ${time}${of} and was stopped. Do less in one run.`,
  }
}

function long(length: number, most: number): Failure {
  const message = `The result has ${length} characters of JSON; at most ${most} are allowed. Return less data.`
  return { code: 'script_result', message }
}

function memory(bytes: number): Failure {
  return {
    code: 'script_memory',
    message: `The code used more than ${bytes / 1_048_576} MiB of memory. Keep less data in memory.`,
  }
}

/**
 * The first code in every interpreter: makes `$` and `console` from three functions of the host that take and give
 * nothing but texts and numbers, and gives the host two functions to call in return.
 */
const PRELUDE = `((post, print, finish) => {
  'use strict'
  const { parse, stringify } = JSON
  const { String, Error, Promise, Proxy, Map, RegExp, TypeError, Date } = globalThis
  const { construct } = Reflect
  const waiting = new Map()
  let calls = 0

  const call = (name, args) =>
    new Promise((done, failed) => {
      const text = stringify(args, (_, value) => {
        if (typeof value === 'bigint') return String(value)
        // Of a pattern, JSON would leave an empty object, which matches nothing.
        return value instanceof RegExp ? { $regex: value.source, $options: value.flags.replace(/[^ims]/g, '') } : value
      })
      waiting.set(++calls, { done, failed })
      post(calls, name, text)
    })

  const plain = (key) => typeof key === 'string' && key !== 'then'
  const typeNamed = (type) =>
    new Proxy(() => {}, {
      get: (_, operation) => (plain(operation) ? (...args) => call(type + '.' + operation, args) : undefined),
      apply: (_, self, args) => call(type, args),
    })
  const $ = new Proxy({}, { get: (_, type) => (plain(type) ? typeNamed(type) : undefined) })

  const shown = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof Error) return String(value)
    try {
      return stringify(value) ?? String(value)
    } catch {
      return String(value)
    }
  }
  const log = (...values) => print(values.map(shown).join(' '))
  globalThis.console = { log, info: log, warn: log, error: log, debug: log, trace: log }

  const told = (error) => {
    const known = typeof error === 'object' && error !== null
    return stringify({
      name: known ? String(error.name ?? '') : '',
      message: known ? String(error.message ?? shown(error)) : shown(error),
      stack: known ? String(error.stack ?? '') : '',
      reason: known && typeof error.code === 'string' ? error.code : undefined,
    })
  }

  // The time of a test that moves the clock.
  const showTime = (now) => {
    globalThis.Date = new Proxy(Date, {
      get: (date, key) => (key === 'now' ? () => now : date[key]),
      construct: (date, given, self) => construct(date, given.length === 0 ? [now] : given, self),
      apply: (date) => String(new date(now)),
    })
  }

  const start = (main, values, now) => {
    if (now !== undefined) showTime(now)
    const given = parse(values)
    main($, ...Object.values(given)).then(
      (value) => {
        let text
        try {
          text = stringify(value) ?? 'null'
        } catch (error) {
          return finish(1, stringify({ name: '', message: 'The result cannot be written as JSON: ' + error.message, stack: '' }))
        }
        finish(0, text)
      },
      (error) => finish(1, told(error)),
    )
  }

  const settle = (number, ok, text) => {
    const { done, failed } = waiting.get(number)
    waiting.delete(number)
    if (ok) return done(parse(text))
    const { message, ...facts } = parse(text)
    failed(Object.assign(new Error(message), facts))
  }

  return { start, settle }
})`
