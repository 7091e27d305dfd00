import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Scheduler } from '../doors/turns.ts'
import { BodyMemory } from './limits/bodies.ts'
import { PendingCalls } from './threads/pending-calls.ts'
import { Refusals } from './watch/refusals.ts'

/** What a request has with it, as far as these tests go. */
const load = () => ({ headers: Array.from({ length: 100 }, (_, n) => ({ n })) })

setFlagsFromString('--expose-gc')
const collectAll: () => void = runInNewContext('gc')

/**
 * Lets requests come and go, up to 64 at a time, and returns how many bytes more the old generation has then: the least of
 * three times, since V8 may collect all garbage at any moment. What is there then becomes old: from then on it may keep
 * what follows it.
 */
async function promoted(wave: (count: number) => unknown): Promise<number> {
  await waves(wave)
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < 3; time++) {
    collectAll()
    const before = oldBytes()
    await waves(wave)
    least = Math.min(least, oldBytes() - before)
  }
  return least
}

async function waves(wave: (count: number) => unknown): Promise<void> {
  for (let n = 0; n < 2_000; n++) await wave(1 + (n % 64))
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size
}

/** All requests of one measurement have more than 100 MB with them. */
const FEW = 200_000

test('bodies that are over are not carried into the old generation of memory', async () => {
  const bodies = new BodyMemory(1_000_000_000, 60_000, new Refusals())
  const body = () => {
    const [giveUp, stalled] = [() => {}, () => {}]
    const known = { tenant: 'acme', address: 'a', bytes: 0, isComplete: false, heardAt: 0, place: -1, giveUp, stalled }
    return { ...known, ...load() }
  }
  const wave = (count: number) => {
    const held = Array.from({ length: count }, body)
    for (const one of held) bodies.hold(one)
    for (const one of held) bodies.release(one)
  }
  expect(await promoted(wave)).toBeLessThan(FEW)
})

test('nor are calls to a thread', async () => {
  const calls = new PendingCalls()
  const wave = async (count: number) => {
    const ids: number[] = []
    const all = Array.from({ length: count }, () => {
      const { headers } = load()
      return calls.add('acme', null, (id) => void ids.push(id)).then(() => headers.length)
    })
    for (const id of ids) calls.answer(id, null)
    await Promise.all(all)
  }
  expect(await promoted(wave)).toBeLessThan(FEW)
})

test('nor is work that waited for its turn', async () => {
  const scheduler = new Scheduler()
  const wave = async (count: number) => {
    const all = Array.from({ length: count }, () => {
      const { headers } = load()
      return scheduler.inTurn('request', 'acme', () => headers.length)
    })
    await Promise.all(all)
  }
  expect(await promoted(wave)).toBeLessThan(FEW)
})
