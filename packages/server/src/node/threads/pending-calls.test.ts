import { expect, test } from 'vitest'
import { FairQueue, PendingCalls } from './pending-calls.ts'

function started(queue: FairQueue, tenant: string, count: number, order: string[]): void {
  for (let n = 0; n < count; n++)
    queue.add(tenant, { start: () => order.push(tenant), cancel: () => order.push('cancelled') })
}

test('the first call of a tenant starts at once next to a thousand of another', () => {
  const queue = new FairQueue()
  const order: string[] = []
  started(queue, 'loud', 1_000, order)
  const ahead = order.length

  started(queue, 'quiet', 1, order)

  expect(ahead).toBe(64)
  expect(order.at(-1)).toBe('quiet')
})

test('when all places are taken, the tenant that used least is next', () => {
  const queue = new FairQueue()
  const order: string[] = []
  started(queue, 'loud', 200, order)
  started(queue, 'busy', 200, order)
  started(queue, 'quiet', 1, order)
  expect(order).toHaveLength(96)

  queue.charge('loud', 50)
  queue.charge('busy', 10)
  queue.leave('busy')

  expect(order.at(-1)).toBe('quiet')
})

test('a tenant with slow calls has few of them in the thread at a time', () => {
  const queue = new FairQueue()
  const order: string[] = []
  started(queue, 'slow', 1, order)
  queue.charge('slow', 400)
  started(queue, 'slow', 10, order)

  expect(order).toHaveLength(1)
  queue.leave('slow')
  expect(order).toHaveLength(2)
})

test('a tenant that shares the thread has fewer calls in it than one that is alone', () => {
  const ahead = (...others: readonly string[]) => {
    const queue = new FairQueue()
    const order: string[] = []
    started(queue, 'loud', 1, order)
    for (const other of others) started(queue, other, 1, order)
    // An eighth of it is the average: one millisecond a call.
    queue.charge('loud', 8)
    started(queue, 'loud', 100, order)
    return order.filter((tenant) => tenant === 'loud').length
  }

  expect([ahead(), ahead('quiet')]).toEqual([20, 5])
})

test('calls that wait when the thread ends are cancelled, and places are free again', () => {
  const queue = new FairQueue()
  const order: string[] = []
  started(queue, 'loud', 66, order)

  queue.clear(new Error('ended'))
  started(queue, 'loud', 1, order)

  expect(order.slice(-3)).toEqual(['cancelled', 'cancelled', 'loud'])
})

test('each of thousands of calls gets its own answer, whatever the order', async () => {
  const calls = new PendingCalls()
  const ids: number[] = []
  const call = () => calls.add<number>('acme', null, (id) => void ids.push(id))
  const first = Array.from({ length: 700 }, call)
  for (const id of ids.slice(1, 600)) calls.answer(id, id)
  const more = Array.from({ length: 4_000 }, call)

  expect([calls.size, calls.has(ids[0]!), calls.has(ids[1]!)]).toEqual([4_101, true, false])
  expect(new Set(ids).size).toBe(4_700)
  for (const id of ids.toReversed()) calls.answer(id, id)
  expect(await Promise.all([...first, ...more])).toEqual(ids)
  expect([calls.size, calls.last]).toEqual([0, ids.at(-1)])
})

test('calls fail together when the thread ends', async () => {
  const calls = new PendingCalls()
  const open = Array.from({ length: 3 }, () => calls.add(null, null, () => {}))
  calls.failAll(() => new Error('ended'))

  expect((await Promise.allSettled(open)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(calls.size).toBe(0)
})
