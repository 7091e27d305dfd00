import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IdleCaches } from './idle-caches.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

function cache(isIdle = () => true) {
  const one = { isIdle, released: 0, releaseMemory: () => void one.released++ }
  return one
}

test('what is not used for a minute releases its memory once, and again after its next use', () => {
  const caches = new IdleCaches<ReturnType<typeof cache>>()
  const one = cache()
  caches.used(one)
  vi.advanceTimersByTime(300_000)
  expect(one.released).toBe(1)

  caches.used(one)
  vi.advanceTimersByTime(300_000)
  expect(one.released).toBe(2)
})

test('what is used again and again keeps its memory', () => {
  const caches = new IdleCaches<ReturnType<typeof cache>>()
  const [busy, idle] = [cache(), cache()]
  caches.used(idle)
  for (let i = 0; i < 20; i++) {
    caches.used(busy)
    vi.advanceTimersByTime(20_000)
  }

  expect([busy.released, idle.released]).toEqual([0, 1])
})

test('what is at work keeps its memory until it is idle', () => {
  const caches = new IdleCaches<ReturnType<typeof cache>>()
  let isIdle = false
  const one = cache(() => isIdle)
  caches.used(one)
  vi.advanceTimersByTime(300_000)
  expect(one.released).toBe(0)

  isIdle = true
  vi.advanceTimersByTime(120_000)
  expect(one.released).toBe(1)
})

test('what is closed is forgotten, and without caches there is no timer', () => {
  const caches = new IdleCaches<ReturnType<typeof cache>>()
  const one = cache()
  caches.used(one)
  caches.forget(one)
  vi.advanceTimersByTime(60_000)

  expect([one.released, vi.getTimerCount()]).toEqual([0, 0])
})
