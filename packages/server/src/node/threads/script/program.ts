import { readFile } from 'node:fs/promises'

let compiled: Promise<WebAssembly.Module> | undefined

/**
 * The interpreter, compiled once for the process: V8 gives the code to every thread that compiles the same bytes, for as long
 * as one thread holds it. The thread that starts the others holds it, so that a new one does not compile it again.
 */
export function program(): Promise<WebAssembly.Module> {
  compiled ??= readFile(new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))).then((bytes) =>
    WebAssembly.compile(bytes),
  )
  return compiled
}
