import { expect, test } from 'vitest'
import { AtWork } from './at-work.ts'
import { Quarantine } from './worker-pool.ts'

const MINUTE = 60_000

test('two deaths within a minute begin a quarantine of ten minutes', () => {
  let now = 1_000
  const quarantine = new Quarantine(() => now)

  const first = quarantine.died('ill')
  now += MINUTE - 1
  const second = quarantine.died('ill')

  expect([first, second]).toEqual([null, now + 10 * MINUTE])
  expect(() => quarantine.refuse('ill')).toThrow(
    expect.objectContaining({ code: 'quarantined', about: { retryAfter: 600 } }),
  )
  expect([quarantine.has('ill'), quarantine.has('well'), quarantine.size]).toEqual([true, false, 1])
  now += 10 * MINUTE
  expect([quarantine.has('ill'), quarantine.size]).toEqual([false, 0])
  expect(quarantine.died('ill')).toBe(null)
})

test('deaths further apart, and those of different tenants, do not count together', () => {
  let now = 1_000
  const quarantine = new Quarantine(() => now)

  quarantine.died('ill')
  quarantine.died('other')
  now += MINUTE

  expect(quarantine.died('ill')).toBe(null)
  expect(quarantine.size).toBe(0)
})

test('a tenant that was released begins again', () => {
  const quarantine = new Quarantine(() => 1_000)
  quarantine.died('ill')
  quarantine.died('ill')

  expect([quarantine.release('ill'), quarantine.release('ill')]).toEqual([true, false])
  expect(() => quarantine.refuse('ill')).not.toThrow()
  expect(quarantine.died('ill')).toBe(null)
})

test('another thread reads the tenant that a thread turned to last', () => {
  const here = new AtWork()
  const there = new AtWork(here.memory)
  const longest = 'a'.repeat(63)

  const read = ['long-name', longest, 'b', 'b'].map((slug) => {
    there.turnTo(slug)
    return here.read()
  })

  expect(new AtWork().read()).toBe(null)
  expect(read).toEqual(['long-name', longest, 'b', 'b'])
})

test('a tenant that never failed is in no quarantine, whatever the clock shows', () => {
  expect(new Quarantine(() => -1).has('acme')).toBe(false)
})
