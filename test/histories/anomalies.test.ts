import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chance } from '../chance.ts'
import { findAnomalies } from './anomalies.ts'
import type { Outcome, Step, Transaction } from './transaction.ts'

test.each<[string, string, readonly Transaction[]]>([
  ['writes that replace each other in a circle', 'G0', [t('A', 'x+1 y+1'), t('B', 'x+2 y+2'), t('R', 'x=1,2 y=2,1')]],
  ['a value of a transaction that failed', 'G1a', [t('A', 'x+1', 0, 9, 'fail'), t('R', 'x=1')]],
  ['a state in the middle of a transaction', 'G1b', [t('A', 'x+1 x+2'), t('R', 'x=1'), t('S', 'x=1,2')]],
  ['values that flow in a circle', 'G1c', [t('A', 'x+1 y=1'), t('B', 'y+1 x=1')]],
  ['a read of a state that is partly old', 'G-single', [t('A', 'x+1 y+1'), t('R', 'x=1 y='), t('S', 'y=1')]],
  ['writers that have not seen each other', 'G2-item', [t('A', 'x= y+1'), t('B', 'y= x+1'), t('R', 'x=1 y=1')]],
  ['two updates of one version', 'lost-update', [t('A', 'x= x+1'), t('B', 'x= x+2'), t('R', 'x=1,2')]],
  ['an acknowledged write that is gone', 'G-single-realtime', [t('A', 'x+1', 0, 1), t('R', 'x=', 2, 3)]],
  ['an old state after a new one', 'G-single-realtime', [t('A', 'x+1', 0, 9), t('R', 'x=1', 1, 2), t('S', 'x=', 3, 4)]],
  [
    'writers of different lists in another order than that of time',
    'G-single-realtime',
    [t('A', 'x+1', 0, 1), t('B', 'y+1', 2, 3), t('R', 'x= y=1', 0, 9), t('S', 'x=1 y=1', 10, 11)],
  ],
  [
    'writes in another order than that of time',
    'G0-realtime',
    [t('A', 'x+1', 0, 1), t('B', 'x+2', 2, 3), t('R', 'x=2,1')],
  ],
  ['a value before it is written', 'G1c-realtime', [t('R', 'x=1', 0, 1), t('A', 'x+1', 2, 3)]],
  [
    'a circle of reads that only time closes',
    'G2-item-realtime',
    [t('C', 'y+1', 0, 1), t('A', 'x=', 2, 3), t('B', 'x+1 y=', 0, 9), t('R', 'x=1 y=1', 10, 11)],
  ],
  ['a value twice', 'duplicate', [t('A', 'x+1'), t('R', 'x=1,1')]],
  ['a value that was never written', 'garbage', [t('A', 'x+1'), t('R', 'x=1,7')]],
  ['a value of another list', 'garbage', [t('A', 'y+1'), t('R', 'x=1')]],
  ['two orders of one list', 'incompatible-order', [t('A', 'x+1'), t('B', 'x+2'), t('R', 'x=1,2'), t('S', 'x=2,1')]],
  ['the appends of one transaction in another order', 'reordered', [t('A', 'x+1 x+2'), t('R', 'x=2,1')]],
  ['an own write that is not seen', 'internal', [t('A', 'x+1 x=')]],
  ['an own write before it is made', 'internal', [t('A', 'x=1 x+1')]],
  ['a list that changes within a transaction', 'internal', [t('A', 'x+1'), t('B', 'x= x=1')]],
  ['half of a transaction without an answer', 'G-single', [t('A', 'x+1 y+1', 0, 1, 'unknown'), t('R', 'x=1 y=')]],
])('%s is found as %s', (_, kind, history) => {
  expect(findAnomalies(history).map((found) => found.kind)).toContain(kind)
})

test.each<[string, readonly Transaction[]]>([
  [
    'transactions one after the other',
    [t('A', 'x+1 y+1', 0, 1), t('B', 'x=1 y=1 x+2', 2, 3), t('R', 'x=1,2 y=1', 4, 5)],
  ],
  ['a read during a write that shows the state before it', [t('A', 'x+1', 0, 9), t('R', 'x=', 1, 8), t('S', 'x=1')]],
  [
    'a write without an answer that happens late',
    [t('A', 'x+1', 0, 1, 'unknown'), t('R', 'x=', 5, 6), t('S', 'x=1', 7, 8)],
  ],
  ['a write without an answer that never happens', [t('A', 'x+1', 0, 1, 'unknown'), t('R', 'x=', 5, 6)]],
  ['a failed write that is not seen', [t('A', 'x+1', 0, 1, 'fail'), t('R', 'x=', 5, 6)]],
])('%s are accepted', (_, history) => {
  expect(findAnomalies(history)).toEqual([])
})

test('the verdict on small histories is that of trying every order', () => {
  let refused = 0
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
      const history = smallHistory(new Chance(seed))
      const isSerializable = someOrderFits(history)
      if (!isSerializable) refused++

      expect(findAnomalies(history).length === 0).toBe(isSerializable)
    }),
    { numRuns: Number(process.env.TILDE_RUNS ?? 2_000) },
  )
  expect(refused).toBeGreaterThan(0)
})

/** `x+1` appends 1 to x, `x=1,2` reads 1 and 2. The same number in two lists is two numbers. */
function t(name: string, text: string, began = 0, ended = 20, outcome: Outcome = 'ok'): Transaction {
  const steps = text.split(' ').map((word): Step => {
    const [key, sign, rest] = [word[0]!, word[1], word.slice(2)]
    // No other list has this number, except where a value is read from a wrong list.
    const numbers = rest === '' ? [] : rest.split(',').map((digit) => Number(digit))
    const own = numbers.map((number) => (key === 'x' || number === 7 ? number : number + 10 * key.charCodeAt(0)))
    return sign === '+' ? { kind: 'append', key, value: own[0]! } : { kind: 'read', key, list: own }
  })
  return { name, steps, outcome, began, ended: outcome === 'unknown' ? Number.POSITIVE_INFINITY : ended }
}

/** Transactions in some order, of which some answers are then wrong, and a last one that reads all. */
function smallHistory(chance: Chance): Transaction[] {
  const lists = new Map<string, number[]>([...'xy'].map((key) => [key, []]))
  let value = 0
  const history = Array.from({ length: 2 + Math.floor(chance.next() * 4) }, (_, at): Transaction => {
    const outcome = chance.next() < 0.15 ? 'unknown' : chance.next() < 0.1 ? 'fail' : 'ok'
    const isDone = outcome === 'ok' || (outcome === 'unknown' && chance.next() < 0.5)
    const steps = Array.from({ length: 1 + Math.floor(chance.next() * 3) }, (): Step => {
      const key = chance.pick(['x', 'y'])
      if (chance.next() < 0.5) {
        value++
        if (isDone) lists.get(key)!.push(value)
        return { kind: 'append', key, value }
      }
      return { kind: 'read', key, list: outcome === 'ok' ? [...lists.get(key)!] : null }
    })
    const began = at * 4 - chance.next() * 10
    const ended = outcome === 'unknown' ? Number.POSITIVE_INFINITY : at * 4 + 1 + chance.next() * 8
    return { name: `T${at}`, steps, outcome, began, ended }
  })
  const steps = [...lists].map(([key, list]): Step => ({ kind: 'read', key, list: [...list] }))
  const all: Transaction = { name: 'last', steps, outcome: 'ok', began: 1_000, ended: 1_001 }
  return [...history, all].map((one) => (chance.next() < 0.3 ? wrong(one, chance) : one))
}

/** Another answer to one read: without its end, with more, or in another order. */
function wrong(transaction: Transaction, chance: Chance): Transaction {
  const at = transaction.steps.findIndex((step) => step.kind === 'read' && step.list !== null)
  const step = transaction.steps[at]
  if (step?.kind !== 'read' || step.list === null) return transaction
  const { list } = step
  const other = chance.pick([list.slice(0, -1), [...list, 1 + Math.floor(chance.next() * 6)], chance.shuffle(list)])
  return { ...transaction, steps: transaction.steps.with(at, { ...step, list: other }) }
}

/** The definition itself: one after the other, in an order that keeps real time, they give these answers. */
function someOrderFits(
  rest: readonly Transaction[],
  lists: ReadonlyMap<string, readonly number[]> = new Map(),
): boolean {
  if (rest.every(({ outcome }) => outcome !== 'ok')) return true
  return rest.some((one) => {
    if (one.outcome === 'fail') return false
    const others = rest.filter((other) => other !== one)
    if (others.some((other) => other.outcome === 'ok' && other.ended < one.began)) return false
    const after = new Map(lists)
    for (const step of one.steps) {
      const list = after.get(step.key) ?? []
      if (step.kind === 'append') after.set(step.key, [...list, step.value])
      else if (step.list !== null && String(step.list) !== String(list)) return false
    }
    return someOrderFits(others, after)
  })
}
