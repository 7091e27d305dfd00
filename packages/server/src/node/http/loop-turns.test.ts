import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LoopTurns } from './loop-turns.ts'

/** Runs work of two milliseconds for each name, in the lane of its first letter. Returns what each turn did. */
async function turnsOf(names: readonly string[]): Promise<string[][]> {
  const turns = new LoopTurns()
  const done: string[][] = [[]]
  for (const name of names) {
    turns.run(
      () => name[0]!,
      () => {
        done.at(-1)!.push(name)
        for (const end = performance.now() + 2; performance.now() < end; );
      },
    )
  }
  while (done.flat().length < names.length) {
    await nextTurn()
    done.push([])
  }
  return done.filter(({ length }) => length > 0)
}

const burst = Array.from({ length: 20 }, (_, i) => `a${i}`)

test('work that comes alone is done at once', async () => {
  expect(await turnsOf(['a0'])).toEqual([['a0']])
})

test('a burst is spread over turns, in its order', async () => {
  const turns = await turnsOf(burst)

  expect(turns.flat()).toEqual(burst)
  expect(turns.length).toBeGreaterThanOrEqual(5)
})

test('another lane does not wait for all of a burst', async () => {
  const order = (await turnsOf([...burst, 'b0', 'b1'])).flat()

  expect(order.indexOf('b0')).toBeLessThan(6)
  expect(order.indexOf('b1')).toBeLessThan(8)
})
