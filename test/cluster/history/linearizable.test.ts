import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Action, Operation, Outcome } from './history.ts'
import { refuteLinearizable } from './linearizable.ts'

const INITIAL = { version: 1, value: 'start' }

test('a read that began after an acknowledged write and shows the value before it is refused', () => {
  const stale = [
    operation({ kind: 'write', value: 'a' }, 0, 1, { version: 2, value: 'a' }),
    operation({ kind: 'read' }, 2, 3, { version: 1, value: 'start' }),
  ]

  expect(refuteLinearizable(INITIAL, stale)).toBe(stale[1])
})

test('a read during a write may show either state', () => {
  const write = operation({ kind: 'write', value: 'a' }, 0, 10, { version: 2, value: 'a' })
  const before = operation({ kind: 'read' }, 1, 2, { version: 1, value: 'start' })
  const after = operation({ kind: 'read' }, 3, 4, { version: 2, value: 'a' })
  const back = operation({ kind: 'read' }, 5, 6, { version: 1, value: 'start' })

  expect(refuteLinearizable(INITIAL, [write, before, after])).toBe(null)
  expect(refuteLinearizable(INITIAL, [write, before, after, back])).not.toBe(null)
})

test('two acknowledged swaps of one version are refused', () => {
  const swap = (value: string) => operation({ kind: 'swap', value, expected: 1 }, 0, 5, { version: 2, value })

  expect(refuteLinearizable(INITIAL, [swap('a')])).toBe(null)
  expect(refuteLinearizable(INITIAL, [swap('a'), swap('b')])).not.toBe(null)
})

test('a refused swap of the version that the entity had all the time is refused', () => {
  const refused = operation({ kind: 'swap', value: 'a', expected: 1 }, 0, 1, null, 'fail')

  expect(refuteLinearizable(INITIAL, [refused])).toBe(refused)
})

test('a write without an answer may take effect later, or never, and only once', () => {
  const unanswered = operation({ kind: 'write', value: 'a' }, 0, Number.POSITIVE_INFINITY, null, 'unknown')
  const read = (at: number, version: number, value: string) =>
    operation({ kind: 'read' }, at, at + 1, { version, value })

  expect(refuteLinearizable(INITIAL, [unanswered, read(5, 1, 'start'), read(9, 2, 'a')])).toBe(null)
  expect(refuteLinearizable(INITIAL, [unanswered, read(5, 1, 'start')])).toBe(null)
  expect(refuteLinearizable(INITIAL, [unanswered, read(5, 2, 'a'), read(9, 3, 'a')])).not.toBe(null)
  expect(refuteLinearizable(INITIAL, [unanswered, read(5, 2, 'a'), read(9, 1, 'start')])).not.toBe(null)
})

test('an entity that is not found after it was created is refused', () => {
  expect(refuteLinearizable(INITIAL, [operation({ kind: 'read' }, 0, 1, { version: 0, value: '' })])).not.toBe(null)
})

test('the verdict on small histories is that of trying every order', () => {
  let refused = 0
  fc.assert(
    fc.property(fc.array(operations(), { minLength: 1, maxLength: 6 }), (list) => {
      const history = list.map((one, index) => operation(...one, `v${index}`))
      const isLinearizable = someOrderFits(history)
      if (!isLinearizable) refused++
      expect(refuteLinearizable(INITIAL, history) === null).toBe(isLinearizable)
    }),
    { numRuns: Math.ceil(Number(process.env.TILDE_RUNS ?? 2_000) / 4) },
  )
  expect(refused).toBeGreaterThan(0)
})

/** An operation whose value is made unique by its place in the list. */
function operations(): fc.Arbitrary<[Action, number, number, Answer, Outcome]> {
  const version = fc.integer({ min: 1, max: 4 })
  const action = fc.oneof(
    fc.constant<Action>({ kind: 'read' }),
    fc.constant<Action>({ kind: 'write', value: '?' }),
    version.map((expected): Action => ({ kind: 'swap', value: '?', expected })),
  )
  const value = fc.constantFrom('start', 'v0', 'v1', 'v2')
  const outcome = fc.constantFrom<Outcome>('ok', 'ok', 'ok', 'fail', 'unknown')
  return fc
    .tuple(action, fc.nat(8), fc.integer({ min: 1, max: 6 }), fc.record({ version, value }), outcome)
    .map(([asked, began, length, answer, drawn]) => {
      const result = drawn === 'fail' && asked.kind !== 'swap' ? 'ok' : drawn
      return [asked, began, result === 'unknown' ? Number.POSITIVE_INFINITY : began + length, answer, result]
    })
}

type Answer = { readonly version: number; readonly value: string } | null

function operation(
  action: Action,
  began: number,
  ended: number,
  answer: Answer,
  outcome: Outcome = 'ok',
  unique?: string,
): Operation {
  const named = unique === undefined || action.kind === 'read' ? action : { ...action, value: unique }
  return {
    client: 'c',
    entity: 'e',
    action: named,
    outcome,
    began,
    ended,
    version: answer?.version ?? null,
    value: answer?.value ?? null,
  }
}

/** The definition itself: some order of all answered and any unanswered operations keeps real time and every answer. */
function someOrderFits(rest: readonly Operation[], register = INITIAL): boolean {
  if (rest.every(({ outcome }) => outcome === 'unknown')) return true
  return rest.some((one) => {
    const others = rest.filter((other) => other !== one)
    if (others.some((other) => other.ended < one.began)) return false
    const { action, outcome } = one
    if (action.kind === 'read') {
      const isRight = outcome === 'unknown' || (one.version === register.version && one.value === register.value)
      return isRight && someOrderFits(others, register)
    }
    const isApplied = action.kind !== 'swap' || action.expected === register.version
    if (outcome === 'fail') return !isApplied && someOrderFits(others, register)
    if (outcome === 'unknown' && !isApplied) return someOrderFits(others, register)
    if (!isApplied || (outcome === 'ok' && one.version !== register.version + 1)) return false
    return someOrderFits(others, { version: register.version + 1, value: (action as { value: string }).value })
  })
}
