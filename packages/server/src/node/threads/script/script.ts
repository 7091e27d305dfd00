import { availableParallelism } from 'node:os'
import type { Script } from '@tildebase/tenant/ports'
import { ScriptPool } from './pool.ts'

/** Other code gives way to requests wherever there are more threads than processors. */
const PATIENT = 19
const MOST = Math.min(Math.max(availableParallelism(), 2), 8)

export interface ScriptOptions {
  /** How many long scripts run at once. */
  readonly most?: number
  /** The time that the code sees, where it is moved by a test. */
  readonly clock?: { now(): number } | undefined
}

/** Runs untrusted code on Node. Hooks have their own workers, so that long scripts do not delay writes. */
export function openScript({ most = MOST, clock }: ScriptOptions = {}): NodeScript {
  const long = new ScriptPool(most, PATIENT)
  const quick = new ScriptPool(2, 0)
  return {
    // Code whose computing is limited is a hook that a write waits for.
    run: (request) => {
      const pool = request.cpuMs === undefined ? long : quick
      return pool.run(clock ? { ...request, now: clock.now() } : request)
    },
    close: async () => void (await Promise.all([long.close(), quick.close()])),
  }
}

export interface NodeScript extends Script {
  close(): Promise<void>
}
