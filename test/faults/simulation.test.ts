import { expect, test } from 'vitest'
import { type Strike, simulate } from './simulation.ts'

const SEEDS = Number(process.env.TILDE_SEEDS ?? 50)

test.each<Strike>(['crash', 'error'])(
  'a %s at any statement loses nothing acknowledged and leaves nothing half done',
  (strike) => {
    const failing = Array.from({ length: SEEDS }, (_, seed) => seed)
      .map((seed) => ({ seed, faults: simulate(seed, strike) }))
      .filter(({ faults }) => faults.length > 0)

    expect(failing).toEqual([])
  },
)
