import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATOR, type TenantWriter } from '@tildebase/tenant'
import { Hooks } from '@tildebase/tenant/hooks'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TOO_LONG, unlimited } from '../../packages/tenant/src/budget.ts'
import type { LongWrite } from '../../packages/tenant/src/facade/long-writes.ts'
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

/** A tenant in a file, where long writes are tasks, and steps of others come between theirs. */
async function withTasks(
  options: { readonly automationRate?: number },
  work: (automation: Automation) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-rate-'))
  const automation = openAutomation(options, join(folder, 'acme.db'))
  const run = async <T>(steps: Iterator<void, T>): Promise<T> => {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value
      await new Promise((go) => setImmediate(go))
    }
  }
  automation.tenant.equip({ turns: { run, now: () => performance.now(), isAwaited: () => false } })
  await work(automation)
  automation.close()
  rmSync(folder, { recursive: true })
}

const ABOUT = () => ({ title: 'long', result: () => ({}), isDryRun: false })

test('a task continues with the budget, and leaves what it did not use', () =>
  withTasks({ automationRate: 10 }, async ({ tenant, clock }) => {
    const { facade, engine } = tenant
    const create = (write: TenantWriter) => write.run({ type: 'Comment', verb: 'create', data: { body: 'x' } })
    const write = (count: number) =>
      facade.writeOrBegin(OPERATOR, { hops: 1 } as never, unlimited(), ABOUT, (one, isLong) => {
        if (!isLong) throw TOO_LONG
        for (let i = 0; i < count; i++) create(one)
        return true
      })
    for (const count of [3, 4]) await ((await write(count)) as LongWrite<boolean>).ended

    expect(engine.automation.state(clock.at)).toMatchObject({ left: 3 })
  }))

test('a write that waits for a task for 30 s is refused, and can be sent again', () =>
  withTasks({}, async ({ tenant, clock }) => {
    const { facade } = tenant
    let isOver = false
    const task = (await facade.writeOrBegin(OPERATOR, {}, unlimited(), ABOUT, (_, isLong) => {
      if (!isLong) throw TOO_LONG
      return (function* () {
        while (!isOver) yield
        return true
      })()
    })) as LongWrite<boolean>
    const write = () =>
      facade
        .write(OPERATOR, {}, unlimited(), (one) => one.run({ type: 'Comment', verb: 'create', data: { body: 'x' } }))
        .then(() => 'written')
        .catch(({ code, about }) => [code, about.retryAfter])
    for (let i = 0; i < 20; i++) await new Promise((go) => setImmediate(go))
    const early = write()
    clock.at += 29 * SECOND
    for (let i = 0; i < 20; i++) await new Promise((go) => setImmediate(go))
    const late = write()
    clock.at += 2 * SECOND

    expect(await early).toEqual(['busy', 5])
    isOver = true
    expect(await late).toBe('written')
    await task.ended
    expect(await write()).toBe('written')
  }))

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
