/// <reference path="../isolates/isolates.d.ts" />
import { fromBase64 } from '@tildebase/nouns'

/** A binding that loads Workers into their own isolates, as far as it is used here. */
export interface WorkerLoader {
  get(id: string, code: () => Promise<WorkerCode> | WorkerCode): LoadedWorker
}

interface LoadedWorker {
  getEntrypoint(name: string, options?: { readonly limits?: Limits }): unknown
}

/** What the platform ends a call at. */
export interface Limits {
  readonly cpuMs?: number
  readonly subRequests?: number
}

interface WorkerCode {
  readonly compatibilityDate: string
  readonly mainModule: string
  readonly modules: { readonly [name: string]: string | { readonly wasm: ArrayBuffer } }
  readonly env: object
  /** Null: the isolate has no network access. */
  readonly globalOutbound: null
}

const COMPATIBILITY_DATE = '2026-10-01'

/** The entry point of one of our isolates. Those with the same id may be one and the same. */
export async function isolate<T>(
  loader: WorkerLoader,
  name: 'sandbox' | 'passwords',
  id: string,
  entry: string,
  limits: Limits,
): Promise<T> {
  // Most requests need none of it: it is half of the Worker's size.
  const { ISOLATES } = await import('#isolates')
  const { main, wasm } = ISOLATES[name]
  const worker = loader.get(id, () => ({
    compatibilityDate: COMPATIBILITY_DATE,
    mainModule: 'main.js',
    modules: {
      'main.js': main,
      ...Object.fromEntries(Object.entries(wasm).map(([file, text]) => [file, { wasm: bytesOf(text) }])),
    },
    env: {},
    globalOutbound: null,
  }))
  return worker.getEntrypoint(entry, { limits }) as T
}

function bytesOf(text: string): ArrayBuffer {
  return fromBase64(text)!.buffer
}
