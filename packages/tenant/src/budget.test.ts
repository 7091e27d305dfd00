import { expect, test } from 'vitest'
import { Budget, TOO_LONG } from './budget.ts'

const LIMITS = { ms: 10_000, rows: 1, bytes: 1 }

/** How many parts of some milliseconds fit into a slice of 25 ms, of which the thread works `share`. */
function parts(share: number, each = 1): number {
  let [passed, done] = [0, 0]
  const budget = new Budget(
    LIMITS,
    () => passed,
    () => passed * share,
  )
  try {
    budget.slice(25, () => {
      for (; done < 1_000; done++) {
        passed += each
        budget.checkTime()
      }
    })
  } catch (reason) {
    if (reason !== TOO_LONG) throw reason
  }
  return done
}

test('a slice ends after its time, once it has more than a few parts', () => {
  expect(parts(1)).toBeGreaterThanOrEqual(25)
  expect(parts(1)).toBeLessThan(50)
  expect(parts(1, 100)).toBe(19)
})

test('on a busy machine a slice ends by the work of its thread, or after ten times its time', () => {
  expect(parts(0.25)).toBeGreaterThanOrEqual(100)
  expect(parts(0.25)).toBeLessThan(125)
  expect(parts(0)).toBe(249)
})
