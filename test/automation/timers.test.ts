import { OPERATOR } from '@tildebase/tenant'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Importer } from '../../packages/tenant/src/services/bulk/import.ts'
import { sync } from '../../packages/tenant/src/services/sync/sync.ts'
import { timersOf } from '../../packages/tenant/src/services/timers/view.ts'
import { renameTypeField } from '../../packages/tenant/src/services/types/migrate-type.ts'
import { verifies } from '../verifies.ts'
import { type Automation, DAY, HOUR, MINUTE, openAutomation, SECOND } from './bench.ts'

const ALARM = {
  status: 'Armed | Off = Armed',
  level: 'number',
  ringAt: 'datetime',
  ring: { event: 'rang' },
  off: { event: 'switchedOff', set: { status: 'Off' } },
  $timers: { ring: { at: 'ringAt', from: 'Armed', when: { level: { $gte: 3 } }, run: 'ring' } },
}

function openAlarms(): Automation {
  const automation = openAutomation()
  automation.declare('Alarm', ALARM)
  return automation
}

verifies(
  ['timer.fires', 'timer.custom'],
  'a timer of a custom type runs its verb at the time of its field',
  async () => {
    const { run, iso, advance, events, clock } = openAlarms()
    const { $id } = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(HOUR) })
    const due = clock.at + HOUR

    await advance(HOUR - 1)
    expect(events(/rang/)).toEqual([])
    await advance(1)

    expect(events(/rang/)).toMatchObject([{ entity: $id, actor: 'timer:Alarm.ring', at: due }])
    await advance(30 * DAY)
    expect(events(/rang/)).toHaveLength(1)
  },
)

verifies('timer.fires', 'a time in the past is due at once', async () => {
  const { run, iso, settle, events } = openAlarms()

  run('Alarm', 'create', undefined, { level: 3, ringAt: iso(-DAY) })
  await settle()

  expect(events(/rang/)).toHaveLength(1)
})

verifies('timer.conditions', 'the state and the filter are looked at when the time has come', async () => {
  const { run, iso, advance, events } = openAlarms()
  const ringAt = iso(HOUR)
  const [low, off, low2, high] = [
    run('Alarm', 'create', undefined, { level: 2, ringAt }),
    run('Alarm', 'create', undefined, { level: 3, ringAt }),
    run('Alarm', 'create', undefined, { level: 2, ringAt }),
    run('Alarm', 'create', undefined, { level: 9, ringAt }),
  ]
  run('Alarm', 'off', off!.$id)
  run('Alarm', 'update', low2!.$id, { level: 4 })

  await advance(2 * HOUR)
  // The time has passed for these: what holds later does not count.
  run('Alarm', 'update', low!.$id, { level: 5 })
  await advance(HOUR)

  expect(events(/rang/).map(({ entity }) => entity)).toEqual([low2!.$id, high!.$id])
})

verifies('timer.reschedule', 'changing the field reschedules, clearing it and deleting the entity cancel', async () => {
  const { run, iso, advance, events, tenant } = openAlarms()
  const [moved, cleared, deleted, restored] = [1, 2, 3, 4].map(
    () => run('Alarm', 'create', undefined, { level: 3, ringAt: iso(HOUR) }).$id,
  ) as [string, string, string, string]

  run('Alarm', 'update', moved, { ringAt: iso(3 * HOUR) })
  run('Alarm', 'update', cleared, { ringAt: null })
  run('Alarm', 'delete', deleted)
  run('Alarm', 'delete', restored)
  run('Alarm', 'restore', restored)
  await advance(2 * HOUR)
  expect(events(/rang/).map(({ entity }) => entity)).toEqual([restored])
  // What was due while it was deleted, or has run before, does not run when it comes back.
  run('Alarm', 'restore', deleted)
  run('Alarm', 'delete', restored)
  run('Alarm', 'restore', restored)
  await advance(2 * HOUR)

  expect(events(/rang/).map(({ entity }) => entity)).toEqual([restored, moved])
  expect(tenant.sql.rows('SELECT count(*) FROM timers')).toEqual([[0]])
})

verifies('timer.once', 'timers run in the order of time, whatever the order in which they were set', async () => {
  const { run, iso, clock, settle, events } = openAlarms()
  const expected = [5, 3, 9, 1, 3, 7].map((hour) => ({
    hour,
    id: run('Alarm', 'create', undefined, { level: 3, ringAt: iso(hour * HOUR) }).$id,
  }))

  // All at once, as after a long sleep.
  clock.at += DAY
  await settle()

  const inOrder = expected.toSorted((a, b) => a.hour - b.hour).map(({ id }) => id)
  expect(events(/rang/).map(({ entity }) => entity)).toEqual(inOrder)
})

verifies(
  'timer.custom',
  'declaring a timer on a type with entities schedules them, those of the past included',
  async () => {
    const { run, iso, declare, advance, settle, events } = openAutomation()
    const { $timers, ...plain } = ALARM
    declare('Alarm', plain)
    const ids = Array.from({ length: 1_200 }, (_, i) =>
      run('Alarm', 'create', undefined, { level: 3, ringAt: iso(i < 700 ? -MINUTE : HOUR) }),
    ).map(({ $id }) => $id)
    await settle()
    expect(events(/rang/)).toEqual([])

    declare('Alarm', ALARM)
    await settle()
    expect(new Set(events(/rang/).map(({ entity }) => entity))).toEqual(new Set(ids.slice(0, 700)))
    await advance(HOUR)

    expect(events(/rang/).map(({ entity }) => entity)).toHaveLength(1_200)
    expect(new Set(events(/rang/).map(({ entity }) => entity))).toEqual(new Set(ids))
  },
)

test('an entity that is changed while the type is gone through rings once', async () => {
  const { run, iso, declare, tenant, settle, events } = openAutomation()
  const { $timers, ...plain } = ALARM
  declare('Alarm', plain)
  const ids = Array.from({ length: 1_100 }, () => run('Alarm', 'create', undefined, { level: 3, ringAt: iso(DAY) }).$id)

  declare('Alarm', ALARM)
  // The last one is due before the scan has reached it.
  run('Alarm', 'update', ids.at(-1)!, { ringAt: iso(-SECOND) })
  await tenant.wake()
  expect(events(/rang/)).toHaveLength(1)
  await settle()
  await settle()

  expect(events(/rang/).map(({ entity }) => entity)).toEqual([ids.at(-1)])
  expect(tenant.sql.rows('SELECT count(*) FROM timers')).toEqual([[1_099]])
})

test('another field for a timer moves what waits, and what has run stays done', async () => {
  const { run, iso, declare, advance, settle, events } = openAutomation()
  declare('Alarm', { ...ALARM, laterAt: 'datetime' })
  const done = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(-HOUR), laterAt: iso(DAY) }).$id
  const waits = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(HOUR), laterAt: iso(2 * DAY) }).$id
  await settle()

  declare('Alarm', {
    ...ALARM,
    laterAt: 'datetime',
    $timers: { ring: { ...ALARM.$timers.ring, from: ['Armed', 'Off'] } },
  })
  await settle()
  expect(events(/rang/).map(({ entity }) => entity)).toEqual([done])
  declare('Alarm', { ...ALARM, laterAt: 'datetime', $timers: { ring: { ...ALARM.$timers.ring, at: 'laterAt' } } })
  await advance(HOUR)
  expect(events(/rang/)).toHaveLength(1)
  await advance(3 * DAY)

  expect(events(/rang/).map(({ entity }) => entity)).toEqual([done, done, waits])
})

test('a renamed field sets no timer: what has run stays done, and what waits runs once', async () => {
  const { run, iso, declare, advance, settle, events, tenant } = openAutomation()
  declare('Alarm', ALARM)
  const done = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(-HOUR) }).$id
  await settle()
  const late = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(-HOUR) }).$id
  const waits = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(HOUR) }).$id

  tenant.write(OPERATOR, (write) => renameTypeField(write, tenant.engine.noun('Alarm'), 'ringAt', 'soundAt'))
  await settle()

  expect(events(/rang/).map(({ entity }) => entity)).toEqual([done, late])
  await advance(2 * HOUR)
  expect(events(/rang/).map(({ entity }) => entity)).toEqual([done, late, waits])
})

verifies('timer.sources', 'rows of an import and changes of a sync schedule timers', async () => {
  const { tenant, iso, advance, events, clock } = openAlarms()
  const importer = new Importer(tenant.engine.noun('Alarm'), { upsert: null, dryRun: false })
  const rows = [{ row: 0, line: 1, value: { level: 3, ringAt: iso(HOUR) } }] as never
  expect(tenant.write(OPERATOR, (write) => importer.take(write, rows))).toMatchObject({ imported: 1 })
  const change = {
    id: 'alarm_fromareplica1',
    type: 'Alarm',
    operation: 'create',
    data: { level: 3, ringAt: iso(HOUR) },
    timestamp: new Date(clock.at).toISOString(),
  }
  tenant.write(OPERATOR, (write) => sync(write, { changes: [change] }))

  await advance(HOUR)

  expect(events(/rang/)).toHaveLength(2)
  expect(events(/rang/).map(({ entity }) => entity)).toContain('alarm_fromareplica1')
})

verifies('timer.list', 'the timers of an entity show what is due next, and why a verb was refused', async () => {
  const { tenant, run, iso, settle, declare } = openAutomation()
  declare('Alarm', { ...ALARM, ring: { event: 'rang', from: 'Off', set: { status: 'Off' } } })
  const alarm = tenant.engine.noun('Alarm')
  const later = iso(HOUR)
  const waiting = run('Alarm', 'create', undefined, { level: 3, ringAt: later }).$id
  const refused = run('Alarm', 'create', undefined, { level: 3, ringAt: iso(0) }).$id

  await settle()

  expect(timersOf(tenant.engine, OPERATOR, alarm, waiting)).toEqual({
    timers: [
      {
        name: 'ring',
        at: later,
        field: 'ringAt',
        run: 'ring',
        from: ['Armed'],
        when: { level: { $gte: 3 } },
        status: 'Waiting',
        error: null,
      },
    ],
    total: 1,
  })
  expect(timersOf(tenant.engine, OPERATOR, alarm, refused)).toMatchObject({
    timers: [{ name: 'ring', status: 'Failed', error: expect.stringContaining('ring is allowed from Off') }],
  })
})

verifies('timer.slices', 'thousands that are due at once run in many commits, none of them long', async () => {
  const { tenant, run, iso, settle, events, clock } = openAlarms()
  const many = 1_500
  for (let i = 0; i < many; i++) run('Alarm', 'create', undefined, { level: 3, ringAt: iso(MINUTE) })
  const sizes: number[] = []
  tenant.engine.listen((written) => sizes.push(written.length))

  clock.at += MINUTE
  await settle()

  expect(events(/rang/)).toHaveLength(many)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(50)
})

test('a verb that sets its own field to the past does not run endlessly', async () => {
  const { run, declare, iso, settle, events, log, tenant, clock } = openAutomation()
  tenant.equip({ clock: { now: () => ++clock.at } })
  declare('Loop', {
    at: 'datetime',
    go: { event: 'gone', set: { at: '$now' } },
    $timers: { go: { at: 'at', run: 'go' } },
  })

  run('Loop', 'create', undefined, { at: iso(-HOUR) })
  await settle()

  expect(events(/gone/).length).toBeLessThanOrEqual(18)
  expect(log.join()).toContain('A loop of timers was stopped')
})

verifies(
  ['timer.content', 'timer.subscription', 'timer.activity'],
  'the timers of the catalogue publish, end, activate and remind',
  async () => {
    const { run, iso, advance, entity, events } = openAutomation()
    const content = run('Content', 'create', undefined, { title: 'News' }).$id
    run('Content', 'schedule', content, { scheduledAt: iso(DAY) })
    const activity = run('Activity', 'create', undefined, { subject: 'Call', type: 'Call', reminderAt: iso(DAY) }).$id
    const subscription = run('Subscription', 'create', undefined, {
      status: 'Active',
      currentPeriodEnd: iso(DAY),
      cancelAtPeriodEnd: true,
    }).$id
    const goesOn = run('Subscription', 'create', undefined, { status: 'Active', currentPeriodEnd: iso(DAY) }).$id
    const trial = run('Subscription', 'create', undefined, { status: 'Trialing', trialEnd: iso(DAY) }).$id

    await advance(DAY)

    expect(entity('Content', content)).toMatchObject({ status: 'Published' })
    expect(events(/Activity\.reminded/)).toMatchObject([{ entity: activity, actor: 'timer:Activity.remind' }])
    expect(entity('Subscription', subscription).status).toBe('Cancelled')
    expect(entity('Subscription', goesOn).status).toBe('Active')
    expect(entity('Subscription', trial).status).toBe('Active')
  },
)

const action = fc.record({
  do: fc.constantFrom('create', 'update', 'off', 'arm', 'delete', 'restore', 'wait'),
  which: fc.nat(4),
  in: fc.integer({ min: -120, max: 600 }),
  level: fc.integer({ min: 1, max: 5 }),
})

/** A timer in the plainest words: what is due is looked for second by second. */
class Simulation {
  readonly alarms: { at: number | null; armed: boolean; level: number; there: boolean; due: boolean }[] = []
  readonly rang: string[] = []

  set(i: number, at: number | null): void {
    const alarm = this.alarms[i]!
    if (alarm.at === at) return
    alarm.at = at
    alarm.due = at !== null
  }

  until(now: number, ids: readonly string[]): void {
    const due = this.alarms
      .map((alarm, i) => ({ alarm, i }))
      .filter(({ alarm }) => alarm.there && alarm.due && alarm.at! <= now)
      .sort((a, b) => a.alarm.at! - b.alarm.at! || a.i - b.i)
    for (const { alarm, i } of due) {
      alarm.due = false
      if (alarm.armed && alarm.level >= 3) this.rang.push(ids[i]!)
    }
  }
}

verifies('timer.once', 'random timers run as a simple simulation says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40, size: 'max' }), async (actions) => {
      const { run, declare, settle, advance, events, clock, close } = openAutomation()
      declare('Alarm', { ...ALARM, arm: { event: 'armed', set: { status: 'Armed' } } })
      const simulation = new Simulation()
      const ids: string[] = []
      for (const { do: verb, which, in: seconds, level } of actions) {
        const i = which % Math.max(ids.length, 1)
        const alarm = simulation.alarms[i]
        const at = clock.at + seconds * SECOND
        const ringAt = new Date(at).toISOString()
        if (verb === 'wait') {
          const wait = Math.max(seconds, 0) * SECOND
          simulation.until(clock.at + wait, ids)
          await advance(wait)
        } else if (verb === 'create') {
          ids.push(run('Alarm', 'create', undefined, { level, ringAt }).$id)
          simulation.alarms.push({ at, armed: true, level, there: true, due: true })
        } else if (!alarm || alarm.there === (verb === 'restore')) {
          continue
        } else if (verb === 'update') {
          run('Alarm', 'update', ids[i]!, { level, ringAt: level === 5 ? null : ringAt })
          alarm.level = level
          simulation.set(i, level === 5 ? null : at)
        } else if (verb === 'off' || verb === 'arm') {
          run('Alarm', verb, ids[i]!)
          alarm.armed = verb === 'arm'
        } else {
          run('Alarm', verb, ids[i]!)
          alarm.there = verb === 'restore'
          alarm.due = verb === 'restore' && alarm.at !== null && alarm.at > clock.at
        }
        simulation.until(clock.at, ids)
        await settle()
      }
      simulation.until(clock.at + HOUR, ids)
      await advance(HOUR)

      expect(events(/rang/).map(({ entity }) => entity)).toEqual(simulation.rang)
      close()
    }),
    { numRuns: Number(process.env.TILDE_RUNS ?? 100) },
  )
})
