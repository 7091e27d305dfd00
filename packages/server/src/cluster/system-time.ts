import type { Time } from './protocol/time.ts'

/** The clocks and timers of this machine. */
export const SYSTEM_TIME: Time = {
  elapsed: () => performance.now(),
  wall: () => Date.now(),
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
}
