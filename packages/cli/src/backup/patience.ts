import { setTimeout as pause } from 'node:timers/promises'

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 15_000

/** Waits before the next try, longer each time. */
export async function waitFor(failures: number, signal?: AbortSignal): Promise<void> {
  await pause(Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE), null, { signal }).catch(() => {})
}
