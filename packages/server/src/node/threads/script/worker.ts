import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { Machine, type Outside } from '../../../host/script/machine.ts'
import type { FromWorker, ToWorker } from '../../../host/script/messages.ts'
import { bench, isSound } from './bench.ts'

/** After so many runs an interpreter's memory is thrown away, whatever state it is in. */
const MOST_RUNS = 200
const MIB = 1_048_576
const PAGE = 65_536
/** What the interpreter is built to begin with. */
const FIRST_PAGES = 256
/** Its own memory. */
const OVERHEAD = 2 * MIB

const port = parentPort!
const tell = (message: FromWorker) => port.postMessage(message)
let machine: Machine | null = null
let memory: { wasm: QuickJSWASMModule; owner: string; bytes: number; runs: number } | null = null
let spare = { bytes: 64 * MIB, wasm: fresh(64 * MIB) }

port.on('message', async (message: ToWorker) => {
  if (message.kind === 'reply') return machine?.reply(message.call, message.ok, message.text, message.excusedMs)
  const wasm = await memoryFor(message.owner, message.memoryBytes)
  const outside: Outside = {
    call: (call, name, args) => tell({ kind: 'call', call, name, args }),
    // The interpreter is still on the stack when it reports its end: it is freed, and the end sent, afterwards.
    done: (outcome) =>
      setImmediate(() => {
        clear(outcome.error !== undefined)
        tell({ kind: 'done', outcome: isSound() ? outcome : { ...outcome, isBroken: true } })
      }),
  }
  machine = new Machine(wasm, message, outside, bench)
  machine.start()
})

await warmUp()
// On Linux a thread has its own priority; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(workerData)
tell({ kind: 'ready' })

/** Slow initialisation runs before the first code, so that no hook is delayed by it. */
async function warmUp(): Promise<void> {
  const most = Number.POSITIVE_INFINITY
  const limits = { timeMs: most, cpuMs: most, memoryBytes: spare.bytes, operations: 1, resultLength: most }
  const code = 'let a: number = 1; await $.Warm.up(); [a]'
  const first = new Machine(
    await spare.wasm,
    { kind: 'run', code, owner: '', values: '{}', ...limits },
    { call: () => {}, done: () => {} },
    bench,
  )
  first.start()
  first.reply(1, true, 'null')
  first.dispose()
}

/** A cleared memory of that size. */
async function memoryFor(owner: string, bytes: number): Promise<QuickJSWASMModule> {
  if (memory?.owner !== owner || memory.bytes !== bytes || memory.runs >= MOST_RUNS) {
    const wasm = await (spare.bytes === bytes ? spare.wasm : fresh(bytes))
    spare = { bytes, wasm: fresh(bytes) }
    memory = { wasm, owner, bytes, runs: 0 }
  }
  memory.runs++
  return memory.wasm
}

function clear(failed: boolean): void {
  try {
    machine?.dispose()
  } catch {
    memory = null
  }
  // What failed may have taken all of its memory, which never shrinks.
  if (failed) memory = null
  machine = null
}

/** An interpreter in a memory that cannot grow further: its own count knows single pieces only, not their sum. */
function fresh(bytes: number): Promise<QuickJSWASMModule> {
  const maximum = Math.max(Math.ceil((bytes + OVERHEAD) / PAGE), FIRST_PAGES)
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum })
  // Its types describe the CommonJS form; what is imported is the variant itself.
  return newQuickJSWASMModuleFromVariant(newVariant(variant as unknown as QuickJSSyncVariant, { wasmMemory }))
}
