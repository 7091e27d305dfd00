import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '@tildebase/client'

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 15_000

/** Whether the failure is temporary: no connection, a busy or restarting service, an interrupted answer. */
export function passes(reason: unknown): boolean {
  if (reason instanceof Problem)
    return reason.code === 'unreachable' || [429, 503].includes(Number(reason.about.status))
  return reason instanceof TypeError
}

/** Waits before the next try, longer each time. */
export async function waitFor(failures: number, signal?: AbortSignal): Promise<void> {
  await pause(Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE), null, { signal }).catch(() => {})
}
