import { describe, expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { crashAutomation } from './automation.ts'
import { HOSTS } from './server.ts'

describe.each(Object.entries(HOSTS))('on %s', (_, on) => {
  verifies(
    ['timer.crash', 'workflow.durable', 'workflow.once'],
    'kill -9 between due and done: each timer runs once, and so does each step of a workflow',
    async () => {
      const seed = Number(process.env.TILDE_SEED ?? Date.now() % 1_000_000)

      const report = await on((start) => crashAutomation(Number(process.env.TILDE_ROUNDS ?? 3), seed, undefined, start))

      expect(report.faults, `seed ${seed}`).toEqual([])
      expect(report.between).toBeGreaterThan(0)
    },
    600_000,
  )
})
