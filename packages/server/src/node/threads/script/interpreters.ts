import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { program } from './program.ts'

/** After so many runs an interpreter's memory is thrown away, whatever state it is in. */
const MOST_RUNS = 200
const MIB = 1_048_576
const PAGE = 65_536
/** What the interpreter is built to begin with. */
const FIRST_PAGES = 256
/** Its own memory. */
const OVERHEAD = 2 * MIB
/** The memory of most code. */
export const USUAL_BYTES = 64 * MIB
const EMPTY_PAGE = Buffer.alloc(PAGE)

/** An interpreter in a memory of its own. */
interface Interpreter {
  readonly bytes: number
  readonly memory: WebAssembly.Memory
  readonly wasm: Promise<QuickJSWASMModule>
}

/** The interpreters of a thread: that of the owner whose code ran last, and an empty one. */
export class Interpreters {
  #kept: { readonly interpreter: Interpreter; readonly owner: string; runs: number } | null = null
  #spare: Interpreter | null = fresh(USUAL_BYTES)
  /** The memory of the owner before. */
  #left: WebAssembly.Memory | null = null

  /** An interpreter in which no code of another owner has run since its memory was empty. */
  for(owner: string, bytes: number): Promise<QuickJSWASMModule> {
    let kept = this.#kept
    if (kept?.owner !== owner || kept.interpreter.bytes !== bytes || kept.runs >= MOST_RUNS) {
      this.#left = kept?.interpreter.bytes === bytes ? kept.interpreter.memory : null
      kept = { interpreter: this.#spare?.bytes === bytes ? this.#spare : fresh(bytes), owner, runs: 0 }
      this.#kept = kept
      this.#spare = null
    }
    kept.runs++
    return kept.interpreter.wasm
  }

  /** After a run: prepares an empty interpreter, so that the next owner does not wait for it. */
  ended(isSound: boolean): void {
    const { bytes } = this.#kept!.interpreter
    // It may hold anything.
    if (!isSound) this.#kept = null
    this.#spare ??= fresh(bytes, this.#left)
    this.#left = null
  }
}

/** An interpreter in a memory that cannot grow further: its own count knows single pieces only, not their sum. */
function fresh(bytes: number, left: WebAssembly.Memory | null = null): Interpreter {
  const maximum = Math.max(Math.ceil((bytes + OVERHEAD) / PAGE), FIRST_PAGES)
  const isSmall = left !== null && left.buffer.byteLength === FIRST_PAGES * PAGE
  const wasmMemory = isSmall ? cleared(left) : new WebAssembly.Memory({ initial: FIRST_PAGES, maximum })
  // Its types describe the CommonJS form; what is imported is the variant itself.
  const own = newVariant(variant as unknown as QuickJSSyncVariant, { wasmMemory, wasmModule: program })
  return { bytes, memory: wasmMemory, wasm: newQuickJSWASMModuleFromVariant(own) }
}

/**
 * A memory without what it held. It is used again because V8 collects garbage after every fourth new one. Most of it was never
 * written to, and comparing that is faster than writing it.
 */
function cleared(memory: WebAssembly.Memory): WebAssembly.Memory {
  const bytes = Buffer.from(memory.buffer)
  for (let at = 0; at < bytes.length; at += PAGE) {
    const page = bytes.subarray(at, at + PAGE)
    if (!page.equals(EMPTY_PAGE)) page.fill(0)
  }
  return memory
}
