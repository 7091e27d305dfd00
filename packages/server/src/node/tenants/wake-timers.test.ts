import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WakeTimers } from './wake-timers.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

test('however many have something due there is one timer, and none when nothing is', () => {
  const woken: string[] = []
  const wakes = new WakeTimers((name) => woken.push(name))
  for (let i = 0; i < 1_000; i++) wakes.book(`t${i}`, Date.now() + 10 + ((i * 7_919) % 1_000))

  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(500)
  expect([woken.length, vi.getTimerCount()]).toEqual([491, 1])
  vi.advanceTimersByTime(510)
  expect([woken.length, new Set(woken).size, vi.getTimerCount()]).toEqual([1_000, 1_000, 0])
})

test('a time that is further away than a timer reaches is waited for all the same', () => {
  const woken: string[] = []
  const wakes = new WakeTimers((name) => woken.push(name))
  wakes.book('acme', Date.now() + 60 * 86_400_000)

  vi.advanceTimersByTime(59 * 86_400_000)
  expect(woken).toEqual([])
  vi.advanceTimersByTime(86_400_000)
  expect(woken).toEqual(['acme'])
})

test('one that books again while it is woken is woken again', () => {
  const woken: number[] = []
  const wakes: WakeTimers = new WakeTimers((name) => {
    woken.push(Date.now())
    if (woken.length < 3) wakes.book(name, Date.now() + 10)
  })
  const begun = Date.now()
  wakes.book('acme', begun)

  vi.advanceTimersByTime(100)
  expect(woken.map((at) => at - begun)).toEqual([0, 10, 20])
})

test('each is woken once at the earliest time it asked for since it was woken last, unless it was cancelled', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const step = fc.oneof(
    fc.record({ do: fc.constant('book' as const), name, ms: fc.nat(50) }),
    fc.record({ do: fc.constant('cancel' as const), name }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(30) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const woken: string[] = []
      const expected: string[] = []
      const times = new Map<string, number>()
      const wakes = new WakeTimers((one) => woken.push(`${one} ${Date.now()}`))
      const pass = (ms: number) => {
        const until = Date.now() + ms
        for (const [one, at] of [...times].filter(([, due]) => due <= until)) {
          expected.push(`${one} ${at}`)
          times.delete(one)
        }
        vi.advanceTimersByTime(ms)
      }
      for (const one of steps) {
        if (one.do === 'wait') pass(one.ms)
        else if (one.do === 'cancel') {
          wakes.cancel(one.name)
          times.delete(one.name)
        } else {
          const at = Date.now() + 1 + one.ms
          wakes.book(one.name, at)
          times.set(one.name, Math.min(at, times.get(one.name) ?? at))
        }
        expect(vi.getTimerCount()).toBe(times.size > 0 ? 1 : 0)
      }
      pass(100)
      expect(woken.toSorted()).toEqual(expected.toSorted())
    }),
  )
})
