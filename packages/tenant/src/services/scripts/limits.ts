const MIB = 1_048_576

/** What code in `do`, and in an AFTER hook, may take. */
export const LIMITS = {
  timeMs: 10_000,
  memoryBytes: 64 * MIB,
  operations: 1_000,
  resultLength: MIB,
} as const

/** The limits of a BEFORE hook: a write waits for it. */
export const HOOK_LIMITS = {
  timeMs: 2_000,
  cpuMs: 50,
  memoryBytes: 16 * MIB,
  operations: 20,
  resultLength: MIB,
} as const

/** The longest code. */
export const MOST_CODE = 100_000
