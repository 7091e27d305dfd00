import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Scheduler } from './turns.ts'

/** Runs work of two milliseconds for each name, in the lane of its first letter. Returns what each turn did. */
async function turnsOf(names: readonly string[]): Promise<string[][]> {
  const turns = new Scheduler()
  const done: string[][] = [[]]
  for (const name of names) {
    const work = () => {
      done.at(-1)!.push(name)
      for (const end = performance.now() + 2; performance.now() < end; );
    }
    void turns.inTurn('request', name[0]!, work)
  }
  while (done.flat().length < names.length) {
    await nextTurn()
    done.push([])
  }
  return done.filter(({ length }) => length > 0)
}

const burst = Array.from({ length: 20 }, (_, i) => `a${i}`)

test('a request begins once all input has been read, and an answer that comes alone leaves at once', async () => {
  const turns = new Scheduler()
  const order: string[] = []

  const begun = turns.inTurn('request', 'a', () => void order.push('request'))
  await Promise.resolve().then(() => order.push('input'))
  await begun

  expect(order).toEqual(['input', 'request'])
  expect(turns.isFree()).toBe(true)
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

test('answers that are ready leave before requests begin, and slices come after both', async () => {
  // The clock is held: on a busy machine a turn may end after its first work.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const turns = new Scheduler()
  const order: string[] = []
  void turns.next('c').then(() => order.push('slice'))
  expect(turns.isFree()).toBe(true)
  const begun = ['a', 'b'].map((lane) => turns.inTurn('request', lane, () => void order.push(`request ${lane}`)))
  const left = ['a', 'b'].map((lane) => turns.inTurn('answer', lane, () => void order.push(`answer ${lane}`)))

  await Promise.all([...begun, ...left, nextTurn().then(() => nextTurn())])

  expect(order).toEqual(['answer a', 'answer b', 'request a', 'request b', 'slice'])
})

test('long work is done in steps, each tenant in its turn', async () => {
  const turns = new Scheduler()
  const order: string[] = []
  let worked = 0
  function* steps(name: string): Generator<void, string> {
    for (let i = 0; i < 3; i++) {
      order.push(name)
      for (const end = performance.now() + 3; performance.now() < end; );
      yield
    }
    return name
  }
  const count = (ms: number) => {
    worked += ms
  }
  const counted = { isAwaited: () => true, worked: count }

  const names = await Promise.all(['a', 'b'].map((name) => turns.steps(name, steps(name), counted)))

  expect(names).toEqual(['a', 'b'])
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
  expect(worked).toBeGreaterThanOrEqual(18)
})
