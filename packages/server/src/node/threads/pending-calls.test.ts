import { expect, test } from 'vitest'
import { FairQueue } from './pending-calls.ts'

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
