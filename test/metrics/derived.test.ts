import { isoOf } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BUILT_IN } from '../../packages/tenant/src/business/metrics/builtin.ts'
import { ascending, deepest } from '../../packages/tenant/src/business/steps.ts'
import { toEnd } from '../../packages/tenant/src/engine/turns.ts'
import { runVerb } from '../../packages/tenant/src/write/run-verb.ts'
import { verifies } from '../verifies.ts'
import { openBusiness } from './business.ts'

const MONTHLY = { amount: 30, interval: 'Monthly', active: true }

describe('a built-in metric', () => {
  verifies(['metric.builtin', 'metric.shape', 'metric.history.shape'], 'has value, unit and twelve months', () => {
    const { business } = openBusiness()

    expect(Object.keys(BUILT_IN)).toEqual(
      'mrr arr nrr churn ltv pipeline deals_won leads tickets_open satisfaction trial_conversion'.split(' '),
    )
    for (const name of Object.keys(BUILT_IN)) {
      const metric = business().metric(name, null)
      const dates = (metric.history as { date: string }[]).map(({ date }) => date)
      expect(metric).toMatchObject({ name, unit: expect.any(String) })
      expect(dates).toHaveLength(12)
      expect(dates).toEqual(dates.toSorted())
      expect([dates[0], dates.at(-1)]).toEqual(['2025-02-28', '2026-01-01'])
    }
  })

  verifies('metric.history', 'tells what the log says of the ends of months', () => {
    const { business, clock, plan, create, verb } = openBusiness()
    const pro = plan({}, MONTHLY)
    const first = create('Subscription', { plan: pro })
    create('Deal', { name: 'd', stage: 'Won' })
    clock.at = Date.UTC(2026, 1, 10)
    create('Subscription', { plan: pro, quantity: 2 })
    clock.at = Date.UTC(2026, 2, 10)
    verb('Subscription', first, 'cancel')
    clock.at = Date.UTC(2026, 3, 10)

    const values = (name: string) =>
      (business().metric(name, null).history as { value: number }[]).map(({ value }) => value)
    expect(values('mrr').slice(-5)).toEqual([null, 30, 90, 60, 60])
    expect(values('arr').slice(-2)).toEqual([720, 720])
    expect(values('deals_won').slice(-5)).toEqual([0, 1, 1, 1, 1])
    expect(business().metric('mrr', null)).toMatchObject({ value: 60, unit: 'usd' })
  })

  test('needs the right to read what it is made of', () => {
    const { business } = openBusiness()
    const grant = { actor: 'k', scopes: [{ action: 'read', area: 'analytics' }], rows: {} } as const

    expect(() => business(grant).metric('mrr', null)).toThrow('may not read Subscription')
  })
})

describe('a stored metric', () => {
  verifies('metric.stored', 'is found by id and by name, with its values at the ends of months', () => {
    const { business, clock, create, verb } = openBusiness()
    const id = create('Metric', { name: 'nps', value: 10 })
    clock.at = Date.UTC(2026, 1, 10)
    verb('Metric', id, 'record', { value: 20 })
    clock.at = Date.UTC(2026, 2, 10)
    verb('Metric', id, 'reset')

    const metric = business().metric('nps', null)
    expect(metric.$id).toBe(id)
    expect(business().metric(id, null).$id).toBe(id)
    expect((metric.history as object[]).slice(-4)).toEqual([
      { date: '2025-12-31', value: null },
      { date: '2026-01-31', value: 10 },
      { date: '2026-02-28', value: 20 },
      { date: '2026-03-10', value: 0 },
    ])
    expect(business().series('nps', 2)).toEqual([
      { timestamp: isoOf(Date.UTC(2026, 1, 10)), value: 20, event: 'recorded' },
      { timestamp: isoOf(Date.UTC(2026, 2, 10)), value: 0, event: 'reset' },
    ])
  })
})

describe('a goal', () => {
  verifies(['goal.follows', 'goal.current'], 'has the value of its metric, whatever is sent', () => {
    const { create, verb, read } = openBusiness()
    const metric = create('Metric', { name: 'signups', value: 3 })
    const goal = create('Goal', { name: 'Hundred', target: 100, metric, current: 77 })

    expect(read('Goal', goal)).toMatchObject({ current: 3, status: 'OnTrack' })
    verb('Metric', metric, 'record', { value: 40 })
    expect(read('Goal', goal)).toMatchObject({ current: 40, status: 'OnTrack' })
    expect(JSON.parse(verb('Goal', goal, 'update', { current: 99 }).data)).toMatchObject({ current: 40 })
  })

  verifies('goal.achieved', 'is Achieved once its current reaches its target, and tells so', () => {
    const { tenant, create, verb, read } = openBusiness()
    const metric = create('Metric', { name: 'signups', value: 3 })
    const goal = create('Goal', { name: 'Ten', target: 10, metric, status: 'Behind' })
    const events: string[] = []
    tenant.engine.listen((rows) => events.push(...rows.map(({ type, event }) => `${type}.${event}`)))

    verb('Metric', metric, 'record', { value: 10 })

    expect(read('Goal', goal)).toMatchObject({ current: 10, status: 'Achieved' })
    expect(events).toEqual(['Metric.recorded', 'Goal.updated', 'Goal.achieved'])
    verb('Metric', metric, 'record', { value: 4 })
    expect(read('Goal', goal)).toMatchObject({ current: 4, status: 'Achieved' })
  })

  test('is Achieved when it is created or changed beyond its target, with a metric or without', () => {
    const { create, verb, read } = openBusiness()
    const metric = create('Metric', { name: 'signups', value: 30 })

    expect(read('Goal', create('Goal', { name: 'a', target: 10, metric }))).toMatchObject({ status: 'Achieved' })
    const goal = create('Goal', { name: 'b', target: 10, current: 1 })
    expect(JSON.parse(verb('Goal', goal, 'update', { current: 11 }).data)).toMatchObject({ status: 'Achieved' })
  })

  test('is left as it was when the change of its metric is refused', () => {
    const { tenant, create, read } = openBusiness()
    const metric = create('Metric', { name: 'signups', value: 3 })
    const goal = create('Goal', { name: 'Ten', target: 10, metric })

    expect(() =>
      tenant.write(OPERATOR, (write) => {
        runVerb(write, { type: 'Metric', verb: 'record', id: metric, data: { value: 10 } })
        throw new Error('refused')
      }),
    ).toThrow('refused')
    expect(read('Goal', goal)).toMatchObject({ current: 3, status: 'OnTrack' })
  })
})

describe('a funnel', () => {
  const track = (create: ReturnType<typeof openBusiness>['create'], who: object, name: string, timestamp: string) =>
    create('Event', { name, type: 'track', timestamp, ...who })

  verifies(
    ['funnel.analyze', 'funnel.actor', 'funnel.matching', 'funnel.steps', 'funnel.answer', 'metrics.derived'],
    'counts who completed its steps in order, by user, else visitor, else session',
    () => {
      const { create, verb, daysAgo, read } = openBusiness()
      const go = (who: object, ...names: string[]) =>
        names.map((name, index) => track(create, who, name, daysAgo(20 - index)))
      go({ userId: 'u1', sessionId: 's0' }, 'visit', 'signup', 'buy')
      go({ anonymousId: 'a1', sessionId: 's0' }, 'visit', 'other', 'signup')
      go({ sessionId: 's1' }, 'signup', 'visit', 'buy')
      go({ userId: 'u2' }, 'signup', 'buy')
      go({}, 'visit', 'signup', 'buy')
      const funnel = create('Funnel', {
        name: 'Sales',
        steps: ['visit', { name: 'Signed up', event: 'signup' }, 'buy'],
      })

      const entity = verb('Funnel', funnel, 'analyze')

      expect(entity.extra!.analysis).toEqual({
        steps: [
          { name: 'visit', count: 3, conversion: 1, dropOff: 0 },
          { name: 'Signed up', count: 2, conversion: 0.6667, dropOff: 1 },
          { name: 'buy', count: 1, conversion: 0.3333, dropOff: 1 },
        ],
        conversionRate: 0.3333,
      })
      expect(read('Funnel', funnel)).toMatchObject({ conversionRate: 0.3333, $version: 2 })
      expect(read('Funnel', funnel)).not.toHaveProperty('analysis')
    },
  )

  test('takes a window and a filter', () => {
    const { create, verb, daysAgo } = openBusiness()
    track(create, { userId: 'slow' }, 'visit', daysAgo(20))
    track(create, { userId: 'slow' }, 'buy', daysAgo(5))
    track(create, { userId: 'quick', url: 'https://x.test' }, 'visit', daysAgo(20))
    track(create, { userId: 'quick', url: 'https://x.test' }, 'visit', daysAgo(7))
    track(create, { userId: 'quick', url: 'https://x.test' }, 'buy', daysAgo(5))
    const funnel = create('Funnel', { name: 'Sales', steps: ['visit', 'buy'] })
    const counts = (args: object) =>
      (verb('Funnel', funnel, 'analyze', args).extra!.analysis as any).steps.map(({ count }: any) => count)

    expect(counts({})).toEqual([2, 2])
    expect(counts({ window: '7d' })).toEqual([2, 1])
    expect(counts({ window: null, filter: { url: 'https://x.test' } })).toEqual([1, 1])
  })

  test.each([
    ['no steps', {}],
    ['steps that are no list', { steps: 'visit' }],
    ['a step that names no event', { steps: [{ title: 'x' }] }],
    ['a window that is no time', { steps: ['a'], window: 'soon' }],
  ])('with %s is not valid', (_, data) => {
    const { create, verb } = openBusiness()
    const funnel = create('Funnel', { name: 'F', ...data })

    expect(() => verb('Funnel', funnel, 'analyze')).toThrow('not valid')
  })

  test('takes visits in the order of their times, and of equal times the last of the list first', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 300 }), (times) => {
        const expected = times.map((_, i) => i).sort((a, b) => times[a]! - times[b]! || b - a)

        expect([...toEnd(ascending(times))]).toEqual(expected)
      }),
    )
  })

  test('within a window agrees with trying every way through', () => {
    const visit = fc.record({ at: fc.integer({ min: 0, max: 12 }), step: fc.integer({ min: 0, max: 3 }) })
    fc.assert(
      fc.property(fc.array(visit, { maxLength: 12 }), fc.integer({ min: 1, max: 8 }), (given, windowMs) => {
        const visits = given.toSorted((a, b) => a.at - b.at).map(({ at, step }) => ({ actor: 'a', at, steps: [step] }))
        // Every way through, by brute force.
        const reach = (from: number, step: number, begun: number): number => {
          let best = step
          for (let i = from; i < visits.length; i++) {
            const { at, steps } = visits[i]!
            if (steps[0] !== step || (step > 0 && at - begun > windowMs)) continue
            best = Math.max(best, reach(i + 1, step + 1, step === 0 ? at : begun))
          }
          return best
        }
        const depth = reach(0, 0, 0)

        expect(toEnd(deepest(visits, 4, windowMs))).toEqual([0, 1, 2, 3].map((step) => (step < depth ? 1 : 0)))
      }),
    )
  })
})

describe('a segment', () => {
  test('refreshed, counts those who meet its criteria', () => {
    const { create, verb } = openBusiness()
    for (const stage of ['Lead', 'Lead', 'Customer']) create('Contact', { name: stage, stage })
    create('Lead', { name: 'l', score: 9 })
    const members = (criteria?: string) =>
      JSON.parse(verb('Segment', create('Segment', { name: 's', criteria }), 'refresh').data).memberCount

    expect(members('{"stage": "Lead"}')).toBe(2)
    expect(members('{"type": "Lead", "filter": {"score": {"$gte": 5}}}')).toBe(1)
    expect(members()).toBe(3)
    expect(() => members('stage = Lead')).toThrow('criteria: must be JSON')
    expect(() => members('{"score": {"$near": 1}}')).toThrow('criteria')
  })
})

describe('a feature flag', () => {
  const evaluate = (data: object, userId: string | null = 'u1', context: object = {}) => {
    const { business, create } = openBusiness()
    create('FeatureFlag', { key: 'beta', name: 'Beta', status: 'Enabled', ...data })
    return business().evaluateFlag('beta', userId, context as never)
  }

  test.each([
    ['is on for everybody when enabled', {}, true, true, 'rollout'],
    ['is off as a draft', { status: 'Draft' }, false, false, 'off'],
    ['says its default when off', { status: 'Disabled', type: 'String', defaultValue: 'red' }, 'red', false, 'off'],
    ['reads its default by type', { status: 'Paused', type: 'Number', defaultValue: '4' }, 4, false, 'off'],
    ['reaches nobody at 0 %', { rolloutPercentage: 0 }, false, false, 'outside'],
    ['reaches everybody once rolled out', { status: 'RolledOut', rolloutPercentage: 0 }, true, true, 'rollout'],
    [
      'gives a variant its value',
      { type: 'String', variants: [{ name: 'b', value: 'blue' }] },
      'blue',
      true,
      'rollout',
    ],
    ['follows a rule', { rolloutPercentage: 0, targetingRules: [{ filter: { plan: 'pro' } }] }, true, true, 'rule'],
    [
      'lets a rule decide the value',
      { type: 'String', targetingRules: [{ filter: { plan: { $in: ['pro'] } }, value: 'gold' }] },
      'gold',
      true,
      'rule',
    ],
    [
      'passes over a rule that is not met',
      { targetingRules: [{ filter: { plan: 'x' }, value: 1 }] },
      true,
      true,
      'rollout',
    ],
  ])('%s', (_, data, value, enabled, reason) => {
    expect(evaluate(data, 'u1', { plan: 'pro' })).toMatchObject({ key: 'beta', value, enabled, reason })
  })

  test('applies to an unknown user only if it applies to all users', () => {
    expect(evaluate({ rolloutPercentage: 99 }, null)).toMatchObject({ enabled: false, reason: 'unknown_user' })
    expect(evaluate({ rolloutPercentage: 100 }, null)).toMatchObject({ enabled: true })
  })

  test('gives each user the same answer always, keeps who is in as it grows, and spreads evenly', () => {
    const { business, create, verb } = openBusiness()
    const id = create('FeatureFlag', { key: 'beta', name: 'Beta', status: 'Enabled', rolloutPercentage: 30 })
    const users = Array.from({ length: 2_000 }, (_, n) => `user-${n}`)
    const inside = () => users.filter((user) => business().evaluateFlag(id, user, {}).enabled)

    const first = inside()
    expect(inside()).toEqual(first)
    expect(first.length / users.length).toBeCloseTo(0.3, 1)
    verb('FeatureFlag', id, 'update', { rolloutPercentage: 60 })
    expect(inside()).toEqual(expect.arrayContaining(first))
  })

  test('counts its evaluations without a version for each', async () => {
    const { tenant, business, create, clock, alarms, read } = openBusiness()
    const id = create('FeatureFlag', { key: 'beta', name: 'Beta', status: 'Enabled' })
    const counted = async (times: number) => {
      for (let n = 0; n < times; n++) business().evaluateFlag('beta', 'u', {})
      clock.at = Math.max(clock.at, ...alarms)
      await tenant.wake()
      const { evaluations, $version } = read('FeatureFlag', id)
      return [evaluations, $version]
    }

    expect(await counted(5)).toEqual([5, 2])
    expect(await counted(2)).toEqual([7, 3])
    expect(await counted(0)).toEqual([7, 3])
  })
})
