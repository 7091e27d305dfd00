import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { crashAutomation } from './automation.ts'

verifies(
  ['timer.crash', 'workflow.durable', 'workflow.once'],
  'kill -9 between due and done: each timer runs once, and so does each step of a workflow',
  async () => {
    const seed = Number(process.env.TILDE_SEED ?? Date.now() % 1_000_000)

    const report = await crashAutomation(Number(process.env.TILDE_ROUNDS ?? 6), seed)

    expect(report.faults, `seed ${seed}`).toEqual([])
    expect(report.between).toBeGreaterThan(0)
  },
  600_000,
)
