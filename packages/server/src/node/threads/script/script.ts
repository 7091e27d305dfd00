import { availableParallelism } from 'node:os'
import type { Script } from '@tildebase/tenant/ports'
import { ScriptPool } from './pool.ts'

/** Other code gives way to requests wherever there are more threads than processors. */
const PATIENT = 19

/** Runs untrusted code on Node. Hooks have their own workers, so that long scripts do not delay writes. */
export function openScript(most: number = Math.min(Math.max(availableParallelism(), 2), 8)): NodeScript {
  const long = new ScriptPool(most, PATIENT)
  const quick = new ScriptPool(2, 0)
  return {
    // Code whose computing is limited is a hook that a write waits for.
    run: (request) => (request.cpuMs === undefined ? long : quick).run(request),
    close: async () => void (await Promise.all([long.close(), quick.close()])),
  }
}

export interface NodeScript extends Script {
  close(): Promise<void>
}
