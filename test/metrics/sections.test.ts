import { isoOf } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { DAY, openBusiness } from './business.ts'

const HOUR = 3_600_000

describe('pipeline', () => {
  verifies(
    ['metrics.pipeline', 'metrics.open', 'metrics.stages'],
    'totals count open deals, stages count all of them',
    () => {
      const { create, snapshot } = openBusiness()
      create('Deal', { name: 'a', value: 100 })
      create('Deal', { name: 'b', value: 50, stage: 'Proposal' })
      create('Deal', { name: 'c', stage: 'Proposal' })
      for (const stage of ['Won', 'Lost', 'Closed']) create('Deal', { name: stage, value: 1_000, stage })

      expect(snapshot().pipeline).toEqual({
        totalDeals: 3,
        totalValue: 150,
        stages: { Prospecting: 1, Proposal: 2, Won: 1, Lost: 1, Closed: 1 },
      })
    },
  )

  test('a value is null when no open deal has one, or when they are in two currencies', () => {
    const { create, snapshot } = openBusiness()

    expect(snapshot().pipeline).toEqual({ totalDeals: 0, totalValue: 0, stages: {} })
    create('Deal', { name: 'a' })
    expect(snapshot().pipeline.totalValue).toBeNull()
    create('Deal', { name: 'b', value: 5, currency: 'usd' })
    create('Deal', { name: 'c', value: 5, currency: 'USD' })
    expect(snapshot().pipeline.totalValue).toBe(10)
    create('Deal', { name: 'd', value: 5, currency: 'eur' })
    expect(snapshot().pipeline.totalValue).toBeNull()
  })

  test('a deleted deal is gone from it at once', () => {
    const { create, verb, snapshot } = openBusiness()
    const id = create('Deal', { name: 'a', value: 1 })

    expect(snapshot().pipeline.totalDeals).toBe(1)
    verb('Deal', id, 'delete')
    expect(snapshot().pipeline.totalDeals).toBe(0)
  })
})

describe('product', () => {
  verifies('metrics.product', 'counts subscriptions, trials, plans, and what was tracked in thirty days', () => {
    const { plan, create, daysAgo, snapshot } = openBusiness()
    const pro = plan({ name: 'Pro' })
    plan({ name: 'Solo' })
    create('Subscription', { plan: pro })
    create('Subscription', { plan: pro, status: 'Active', trialStart: daysAgo(40), trialEnd: daysAgo(20) })
    create('Subscription', { plan: pro, status: 'Trialing', trialStart: daysAgo(1), trialEnd: daysAgo(-13) })
    create('Subscription', { status: 'Cancelled', trialEnd: daysAgo(20), canceledAt: daysAgo(21) })
    create('Subscription', { status: 'Cancelled', trialEnd: daysAgo(20), canceledAt: daysAgo(2) })
    const track = (who: object, days: number) =>
      create('Event', { name: 'opened', type: 'track', timestamp: daysAgo(days), ...who })
    track({ userId: 'u1', anonymousId: 'a1' }, 1)
    track({ userId: 'u1', anonymousId: 'a2' }, 2)
    track({ anonymousId: 'a3', sessionId: 's1' }, 3)
    track({ sessionId: 's2' }, 29)
    track({}, 1)
    track({ userId: 'u9' }, 31)

    expect(snapshot().product).toEqual({
      activeSubscriptions: 2,
      trialConversions: 2,
      plans: { Pro: 2, Solo: 0 },
      events30d: 5,
      activeUsers30d: 3,
    })
  })
})

describe('support', () => {
  verifies('metrics.support', 'counts open tickets and averages first answers and satisfaction', () => {
    const { create, clock, snapshot } = openBusiness()
    const answered = (hours: number) => ({ firstResponseAt: isoOf(clock.at + hours * HOUR) })
    create('Ticket', { subject: 'a', satisfaction: 5, ...answered(1) })
    create('Ticket', { subject: 'b', status: 'Closed', satisfaction: 4, ...answered(2) })
    create('Ticket', { subject: 'c', status: 'Resolved', ...answered(-5) })
    create('Ticket', { subject: 'd', status: 'Escalated' })

    expect(snapshot().support).toEqual({ openTickets: 2, avgResponseHours: 1.5, satisfaction: 4.5 })
  })

  test('averages of nothing are null', () => {
    const { snapshot } = openBusiness()

    expect(snapshot().support).toEqual({ openTickets: 0, avgResponseHours: null, satisfaction: null })
  })
})

describe('marketing', () => {
  verifies('metrics.marketing', 'counts campaigns that run and leads of thirty days, and the share converted', () => {
    const { create, clock, snapshot } = openBusiness()
    create('Lead', { name: 'old', status: 'Converted' })
    clock.at += 31 * DAY
    for (const status of ['New', 'Lost', 'Qualified']) create('Lead', { name: status, status })
    for (const status of ['Active', 'Launched', 'Draft', 'Completed']) create('Campaign', { name: status, status })

    expect(snapshot().marketing).toEqual({ activeCampaigns: 2, leads30d: 3, conversionRate: 0.25 })
  })
})

describe('who sees what', () => {
  verifies('scope.leaveOut.metrics', 'sections of types that the key may not read are null', () => {
    const { create, plan, snapshot } = openBusiness()
    create('Deal', { name: 'a', value: 1 })
    create('Subscription', { plan: plan({}, { amount: 9, interval: 'Monthly' }) })
    const grant = { actor: 'k', scopes: [{ action: 'read', area: 'crm' }], rows: {} } as const

    expect(snapshot(grant)).toMatchObject({ revenue: null, pipeline: { totalDeals: 1 }, product: null, support: null })
    expect(snapshot(grant).marketing).toEqual({ activeCampaigns: null, leads30d: 0, conversionRate: null })
  })

  test('a key that is narrowed to some rows gets their numbers only', () => {
    const { create, snapshot } = openBusiness()
    create('Deal', { name: 'mine', value: 1, source: 'web' })
    create('Deal', { name: 'theirs', value: 9, source: 'fair' })
    const grant = (rows: object) =>
      ({ actor: 'k', scopes: [{ action: 'read', area: 'all' }], rows: { Deal: rows } }) as never

    expect(snapshot().pipeline.totalValue).toBe(10)
    expect(snapshot(grant({ source: 'web' })).pipeline.totalValue).toBe(1)
    // Patterns are matched in memory, not by the sums.
    expect(snapshot(grant({ source: { $regex: '^web$' } })).pipeline.totalValue).toBeNull()
  })

  verifies('lens.metrics', 'a domain or journey lens selects the sections', () => {
    const { snapshot } = openBusiness()
    const sections = (...lens: string[]) => Object.keys(snapshot(undefined, null, lens)).toSorted()

    expect(sections()).toEqual(['asOf', 'marketing', 'pipeline', 'product', 'revenue', 'support'])
    expect(sections('crm')).toEqual(['asOf', 'pipeline'])
    expect(sections('billing')).toEqual(['asOf', 'product', 'revenue'])
    expect(sections('grow')).toEqual(['asOf', 'marketing', 'pipeline', 'product'])
    expect(sections('crm', 'support')).toEqual(['asOf', 'pipeline', 'support'])
    expect(sections('projects')).toEqual(['asOf'])
    expect(sections('healthcare')).toHaveLength(6)
  })
})
