import { describe, expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { crashAgentEvents } from './agent-events.ts'
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

  test('kill -9 between a write and its delivery: the subscription of an agent gets every event, in order', async () => {
    const seed = Number(process.env.TILDE_SEED ?? Date.now() % 1_000_000)

    const report = await on((start) => crashAgentEvents(Number(process.env.TILDE_ROUNDS ?? 3), seed, undefined, start))

    expect(report.faults, `seed ${seed}`).toEqual([])
    expect(report.between).toBeGreaterThan(0)
  }, 600_000)
})
