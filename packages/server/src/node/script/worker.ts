import { parentPort } from 'node:worker_threads'
import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { functionOf } from './code.ts'
import { Machine } from './machine.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** After so many runs an interpreter's memory is thrown away, whatever state it is in. */
const MOST_RUNS = 200

const port = parentPort!
const tell = (message: FromWorker) => port.postMessage(message)
let machine: Machine | null = null
let memory: { wasm: QuickJSWASMModule; owner: string; runs: number } | null = null
let spare: Promise<QuickJSWASMModule> = fresh()

port.on('message', async (message: ToWorker) => {
  if (message.kind === 'reply') return machine?.reply(message.call, message.ok, message.text)
  const wasm = await memoryFor(message.owner)
  machine = new Machine(wasm, message, {
    call: (call, name, args) => tell({ kind: 'call', call, name, args }),
    // The interpreter is still on the stack when it tells its end: it is freed, and the end told, after it has left.
    done: (outcome) =>
      setImmediate(() => {
        clear(outcome.error !== undefined)
        tell({ kind: 'done', outcome })
      }),
  })
  machine.start()
})

// What is slow the first time is done before the first code comes.
functionOf('let a: number = 1', [])
await spare
tell({ kind: 'ready' })

/** A memory that holds nothing of anybody else. */
async function memoryFor(owner: string): Promise<QuickJSWASMModule> {
  if (memory?.owner !== owner || memory.runs >= MOST_RUNS) {
    memory = { wasm: await spare, owner, runs: 0 }
    spare = fresh()
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

function fresh(): Promise<QuickJSWASMModule> {
  // Its types describe the CommonJS form; what is imported is the variant itself.
  return newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant)
}
