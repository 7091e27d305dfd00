import { describe, expect, test } from 'vitest'
import { simulateServer } from './simulation/run.ts'
import { type Strike, simulate } from './simulation/statements.ts'

const SEEDS = Number(process.env.TILDE_SEEDS ?? 50)
const WORLDS = Number(process.env.TILDE_WORLDS ?? 2)
/** One of so many operations on the disk fails in a test run. */
const STEP = Number(process.env.TILDE_STEP ?? 8)
const LONG = 900_000

test.each<Strike>(['crash', 'error'])(
  'a %s at any statement loses nothing acknowledged and leaves nothing half done',
  (strike) => {
    const failing = Array.from({ length: SEEDS }, (_, seed) => seed)
      .map((seed) => ({ seed, faults: simulate(seed, strike) }))
      .filter(({ faults }) => faults.length > 0)

    expect(failing).toEqual([])
  },
)

// The library that fails operations on files is made for Linux.
describe.runIf(process.platform === 'linux')('the whole service on a simulated clock, network and disk', () => {
  test(
    'each operation on the disk may fail: the process continues, and all that is due happens after the repair',
    async () => {
      const { faults, powerCuts, refused } = await simulateServer({ seed: 7, episodes: 0, step: STEP })

      expect(faults).toEqual([])
      expect([powerCuts, refused].every((count) => count > 0)).toBe(true)
    },
    LONG,
  )

  test(
    `kills, power cuts and faults of disk and network lose nothing, and all that is due happens after them (${WORLDS} worlds)`,
    async () => {
      for (let seed = 1; seed <= WORLDS; seed++) {
        const { faults } = await simulateServer({ seed, episodes: 1, step: 0 })

        expect(faults, `seed ${seed}`).toEqual([])
      }
    },
    LONG,
  )
})
