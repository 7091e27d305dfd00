/// <reference path="../cloudflare.d.ts" />
import { WorkerEntrypoint } from 'cloudflare:workers'
import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { type Bench, Machine } from '../../host/script/machine.ts'
import type { Outcome, ToWorker } from '../../host/script/messages.ts'
import wasmModule from './quickjs.wasm'
import { strip } from './strip.ts'

type Run = Extract<ToWorker, { kind: 'run' }>
/** Answers a call of the code with JSON text, and tells whether it succeeded. */
type Call = (name: string, args: string) => Promise<{ readonly ok: boolean; readonly text: string }>

/** How often the interpreter asks in a millisecond whether it must stop, where it computes fastest. */
const TICKS_PER_MS = 12
const LONGEST_GAP_MS = 5
/** So many looks at a clock take more than the millisecond that it counts in. */
const LOOKS = 100_000
const PAGE = 65_536
/** What the interpreter is built to begin with. */
const FIRST_PAGES = 256
/** Its own memory. */
const OVERHEAD = 2 * 1_048_576

/** An isolate without network, storage or secrets, in which an interpreter runs untrusted code. */
export class Sandbox extends WorkerEntrypoint {
  /** Does what a new isolate does once, so that no code is charged with the time that it takes. */
  async prepare(memoryBytes: number): Promise<void> {
    await interpreterFor(memoryBytes)
  }

  async run(run: Run, call: Call): Promise<Outcome> {
    const wasm = await interpreterFor(run.memoryBytes)
    kept!.runs++
    let machine: Machine | undefined
    const calls: Promise<unknown>[] = []
    const outcome = await new Promise<Outcome>((done, failed) => {
      const outside = {
        call: (number: number, name: string, args: string) => {
          const answered = call(name, args).then(({ ok, text }) => machine!.reply(number, ok, text))
          calls.push(answered.catch(failed))
        },
        done,
      }
      machine = new Machine(wasm, run, outside, bench())
      machine.start()
    })
    // Calls without await are still in progress.
    await Promise.all(calls)
    // What failed may have taken all of its memory, which never shrinks.
    if (outcome.error || !isDisposed(machine!)) kept = null
    return outcome
  }
}

/** After so many runs an interpreter's memory is given up, whatever state it is in. */
const MOST_RUNS = 200

/** The interpreter of the last run. This isolate has one owner, and runs one piece of code at a time. */
let kept: { readonly wasm: QuickJSWASMModule; readonly bytes: number; runs: number } | null = null

async function interpreterFor(bytes: number): Promise<QuickJSWASMModule> {
  if (kept?.bytes !== bytes || kept.runs >= MOST_RUNS) {
    const wasm = await interpreter(bytes)
    if (moves === undefined) warmUp(wasm, bytes)
    kept = { wasm, bytes, runs: 0 }
  }
  return kept.wasm
}

/** What is slow the first time is done before the first code comes: no hook is late because of it. */
function warmUp(wasm: QuickJSWASMModule, memoryBytes: number): void {
  const most = Number.POSITIVE_INFINITY
  const code = 'let a: number = 1; await $.Warm.up(); [a]'
  const limits = { timeMs: most, cpuMs: most, memoryBytes, operations: 1, resultLength: most }
  const run: Run = { kind: 'run', code, owner: '', values: '{}', ...limits }
  const machine = new Machine(wasm, run, { call: () => {}, done: () => {} }, bench())
  machine.start()
  machine.reply(1, true, 'null')
  machine.dispose()
}

/** Frees what a run held; false when the code left it in a state that cannot be freed. */
function isDisposed(machine: Machine): boolean {
  try {
    machine.dispose()
    return true
  } catch {
    return false
  }
}

/**
 * On the platform the clock does not move while code computes. There computing is counted: the interpreter asks every
 * 10,000 loops and calls whether it must stop. The platform itself ends what computes for long without asking.
 */
function bench(): Bench {
  if (clockMoves()) {
    const cpuNow = computingClock()
    return { strip: (text) => strip(text), cpuNow, tick: () => void cpuNow() }
  }
  let ticks = 0
  return { strip: (text) => strip(text), cpuNow: () => ticks / TICKS_PER_MS, tick: () => void ticks++ }
}

/** A clock that is looked at often while code computes. A longer gap is a pause of the thread, and counts as a short one. */
function computingClock(): () => number {
  let last = performance.now()
  let computed = 0
  return () => {
    const now = performance.now()
    computed += Math.min(now - last, LONGEST_GAP_MS)
    last = now
    return computed
  }
}

let moves: boolean | undefined

/** Whether the clock moves while code computes, as it does in workerd on a machine of one's own. */
function clockMoves(): boolean {
  if (moves !== undefined) return moves
  const begun = performance.now()
  for (let i = 0; i < LOOKS && performance.now() === begun; i++);
  moves = performance.now() !== begun
  return moves
}

/** An interpreter in its own memory that cannot grow further, and holds nothing yet. */
function interpreter(bytes: number): Promise<QuickJSWASMModule> {
  const maximum = Math.max(Math.ceil((bytes + OVERHEAD) / PAGE), FIRST_PAGES)
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum })
  // Its types describe the CommonJS form; what is imported is the variant itself.
  return newQuickJSWASMModuleFromVariant(
    newVariant(variant as unknown as QuickJSSyncVariant, { wasmModule, wasmMemory }),
  )
}
