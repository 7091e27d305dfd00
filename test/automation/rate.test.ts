import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATOR } from '@tildebase/tenant'
import { Hooks } from '@tildebase/tenant/hooks'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { erase } from '../../packages/tenant/src/services/erasure/erase.ts'
import { verifies } from '../verifies.ts'
import { type Automation, HOUR, MINUTE, openAutomation, SECOND } from './bench.ts'

const ALARM = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }
const COMMENT = { verb: 'create', type: 'Comment', args: { body: 'x' } }

/** In no time since the beginning more was written than the rate and what it fills up allow, and one piece of work. */
function expectWithin(times: readonly number[], begun: number, perMinute: number, one: number): void {
  for (const [i, at] of times.entries()) {
    expect(i + 1).toBeLessThanOrEqual(perMinute + ((at - begun) * perMinute) / MINUTE + one)
  }
}

verifies('automation.rate', 'timers above the rate wait, in their order, and none is lost', async () => {
  const schedules = fc.array(fc.integer({ min: 0, max: 5 * 60 }), { minLength: 1, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(schedules, fc.integer({ min: 1, max: 20 }), async (seconds, automationRate) => {
      const { declare, run, iso, advance, events, clock } = openAutomation({ automationRate })
      declare('Alarm', ALARM)
      const begun = clock.at
      const due = new Map(
        seconds.map((s) => [run('Alarm', 'create', undefined, { ringAt: iso(s * SECOND) }).$id, begun + s * SECOND]),
      )

      await advance(2 * HOUR)

      const rang = events(/rang/)
      expect(new Set(rang.map(({ entity }) => entity))).toEqual(new Set(due.keys()))
      expect(rang).toHaveLength(due.size)
      const order = rang.map(({ entity }) => due.get(entity)!)
      expect(order).toEqual([...order].sort((a, b) => a - b))
      for (const { entity, at } of rang) expect(at).toBeGreaterThanOrEqual(due.get(entity)!)
      expectWithin(
        rang.map(({ at }) => at),
        begun,
        automationRate,
        1,
      )
    }),
    { numRuns: 30 },
  )
})

verifies('automation.rate', 'runs of workflows and AFTER hooks above the rate wait, and none is lost', async () => {
  const hooks = new Hooks()
  hooks.add('Deal', 'created', async (_, $) => void (await $.Comment!.create!({ body: 'hook' })))
  const automation = openAutomation({ automationRate: 20, hooks })
  const { run, advance, events, clock } = automation
  const workflow = run('Workflow', 'create', undefined, {
    name: 'w',
    triggerEvent: 'Contact.created',
    steps: [COMMENT, COMMENT],
  })
  run('Workflow', 'activate', workflow.$id)
  const begun = clock.at
  for (let i = 0; i < 50; i++) run('Contact', 'create', undefined, { name: `c${i}` })
  for (let i = 0; i < 30; i++) run('Deal', 'create', undefined, { name: `d${i}` })

  await advance(1)
  const atOnce = events(/Comment|succeeded/).length
  await advance(HOUR)

  expect(events(/Comment/)).toHaveLength(2 * 50 + 30)
  expect(events(/Workflow.succeeded/)).toHaveLength(50)
  expect(atOnce).toBeLessThanOrEqual(23)
  // A run is two comments and its end.
  expectWithin(
    events(/Comment|succeeded/).map(({ at }) => at),
    begun,
    20,
    3,
  )
})

test('a budget that is used up stays so when the tenant is opened again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-rate-'))
  const path = join(folder, 'acme.db')
  const first = openAutomation({ automationRate: 5 }, path)
  first.declare('Alarm', ALARM)
  for (let i = 0; i < 20; i++) first.run('Alarm', 'create', undefined, { ringAt: first.iso(0) })
  await first.settle()
  expect(first.events(/rang/)).toHaveLength(5)
  first.close()

  const second = openAutomation({ automationRate: 5 }, path)
  await second.settle()

  expect(second.events(/rang/)).toHaveLength(5)
  await second.advance(12 * SECOND)
  expect(second.events(/rang/)).toHaveLength(6)
  second.close()
  rmSync(folder, { recursive: true })
})

test('what is undone is not counted', () => {
  const { tenant, clock } = openAutomation({ automationRate: 5 })
  const before = tenant.engine.automation.state(clock.at)

  const undone = () =>
    tenant.write(
      OPERATOR,
      (write) => {
        tenant.runIn(write, { type: 'Contact', verb: 'create', data: { name: 'a' } })
        throw new Error('undone')
      },
      { hops: 1 },
    )

  expect(undone).toThrow('undone')
  expect(tenant.engine.automation.state(clock.at)).toEqual(before)
})

verifies(['tenant.quota', 'automation.rate'], 'timers and runs of a tenant without room wait for room', async () => {
  const mostBytes = 1_048_576
  const automation = openAutomation({ mostBytes })
  const { tenant, declare, run, iso, advance, events } = automation
  declare('Alarm', ALARM)
  const workflow = run('Workflow', 'create', undefined, {
    name: 'w',
    triggerEvent: 'Contact.created',
    steps: [COMMENT],
  })
  run('Workflow', 'activate', workflow.$id)
  run('Alarm', 'create', undefined, { ringAt: iso(MINUTE) })
  const contacts = fill(automation)
  await advance(10 * MINUTE)

  // Those that were queued while there was room are there too.
  expect(events(/rang|Workflow.failed/)).toEqual([])
  const waiting = contacts.length - events(/Comment/).length
  expect(waiting).toBeGreaterThan(0)
  for (const id of contacts) tenant.write(OPERATOR, (write) => erase(write, write.engine.noun('Contact'), id, null))
  await advance(2 * MINUTE)

  expect(events(/rang/)).toHaveLength(1)
  expect(events(/Comment/)).toHaveLength(contacts.length)
})

/** Creates contacts until the tenant refuses one. Returns their ids. */
function fill({ run }: Automation): string[] {
  const ids: string[] = []
  for (let i = 0; i < 500; i++) {
    const notes = Array.from({ length: 1_000 }, (_, j) => (i * 7_919 + j * 104_729).toString(36)).join(' ')
    try {
      ids.push(run('Contact', 'create', undefined, { name: `c${i}`, notes }).$id)
    } catch (reason) {
      expect(reason).toMatchObject({ code: 'over_quota' })
      return ids
    }
  }
  throw new Error('The tenant has no limit.')
}
