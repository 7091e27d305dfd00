import { describe, expect, test } from 'vitest'
import { crash } from './crash.ts'
import { HOSTS } from './server.ts'

describe.each(Object.entries(HOSTS))('on %s', (_, on) => {
  test('kill -9 under load loses no acknowledged write, halves none, and leaves no gap', {
    timeout: 600_000,
  }, async () => {
    const seed = Number(process.env.TILDE_SEED ?? Date.now() % 1_000_000)

    const report = await on((start) =>
      crash(Number(process.env.TILDE_ROUNDS ?? 3), seed, undefined, [], undefined, start),
    )

    expect(report.faults, `seed ${seed}`).toEqual([])
    expect(report.acknowledged).toBeGreaterThan(100)
  })
})
