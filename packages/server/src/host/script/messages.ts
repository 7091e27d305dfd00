import type { ScriptFailure } from '@tildebase/tenant/ports'

/** What the host tells a worker. */
export type ToWorker =
  | {
      readonly kind: 'run'
      readonly code: string
      readonly owner: string
      /** JSON text of the names that the code knows. */
      readonly values: string
      /** The time that the code sees; absent for the real one. */
      readonly now?: number | undefined
      readonly timeMs: number
      readonly cpuMs: number
      readonly memoryBytes: number
      readonly operations: number
      readonly resultLength: number
    }
  /** The answer to a call: JSON text of the value, or of what went wrong. */
  | {
      readonly kind: 'reply'
      readonly call: number
      readonly ok: boolean
      readonly text: string
      /** For how many milliseconds the code has waited for tasks so far: waiting is not run time. */
      readonly excusedMs: number
    }

/** What a worker tells the host. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly call: number; readonly name: string; readonly args: string }
  | { readonly kind: 'done'; readonly outcome: Outcome }

/** How a run ended. */
export interface Outcome {
  /** JSON text. */
  readonly result?: string
  readonly error?: ScriptFailure
  readonly logs: readonly string[]
  /** True where the thread failed, not the code: it must not run other code. */
  readonly isBroken?: boolean
}
