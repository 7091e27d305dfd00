import { describe, expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { DAY, openBusiness } from './business.ts'

const MONTHLY = { amount: 30, interval: 'Monthly', active: true }

describe('monthly recurring revenue', () => {
  test.each([
    ['a monthly price counts whole', { amount: 30, interval: 'Monthly' }, 1, 30],
    ['a quarterly price counts a third', { amount: 30, interval: 'Quarterly' }, 1, 10],
    ['a yearly price counts a twelfth', { amount: 120, interval: 'Yearly' }, 1, 10],
    ['a price for two months counts half', { amount: 30, interval: 'Monthly', intervalCount: 2 }, 1, 15],
    ['the quantity multiplies', { amount: 30, interval: 'Monthly' }, 4, 120],
    ['cents are rounded once, at the end', { amount: 100, interval: 'Yearly' }, 3, 25],
  ])('%s', (_, price, quantity, expected) => {
    const { plan, create, snapshot } = openBusiness()
    create('Subscription', { plan: plan({}, price), quantity })

    expect(snapshot().revenue).toMatchObject({ mrr: expected, arr: expected * 12 })
  })

  verifies('metrics.revenue', 'money is rounded at the end only', () => {
    const { plan, create, daysAgo, snapshot } = openBusiness()
    const pro = plan({}, { amount: 100, interval: 'Yearly', active: true })
    const old = { plan: pro, startedAt: daysAgo(90) }
    for (let n = 0; n < 2; n++) create('Subscription', old)
    create('Subscription', { ...old, status: 'Cancelled', canceledAt: daysAgo(10) })

    // A hundred a year for each of two. One in three leaves: three months for each.
    expect(snapshot().revenue).toMatchObject({ mrr: 16.67, arr: 200, churn: 0.3333, ltv: 25 })
  })

  test('only active subscriptions count', () => {
    const { plan, create, snapshot } = openBusiness()
    const pro = plan({}, MONTHLY)
    for (const status of ['Active', 'Active', 'Trialing', 'Paused', 'PastDue', 'Cancelled']) {
      create('Subscription', { plan: pro, status })
    }

    expect(snapshot().revenue.mrr).toBe(60)
  })

  test('the active price beats an older one that is not, and the older beats the newer', () => {
    const { plan, create, snapshot } = openBusiness()
    const pro = plan({}, { ...MONTHLY, amount: 1, active: false }, { ...MONTHLY, amount: 2 }, { ...MONTHLY, amount: 3 })
    create('Subscription', { plan: pro })

    expect(snapshot().revenue.mrr).toBe(2)
  })

  test('a price that does not recur brings nothing every month', () => {
    const { plan, create, snapshot } = openBusiness()
    create('Subscription', {
      plan: plan({}, { amount: 99, interval: 'OneTime', active: true }, { ...MONTHLY, active: false }),
    })

    expect(snapshot().revenue.mrr).toBe(30)
  })

  test('a free plan counts as nothing', () => {
    const { plan, create, snapshot } = openBusiness()
    create('Subscription', { plan: plan({ isFree: true }) })

    expect(snapshot().revenue.mrr).toBe(0)
  })

  verifies('metrics.null', 'it is null where the data cannot tell: no subscription, no price, two currencies', () => {
    const { plan, create, snapshot } = openBusiness()

    expect(snapshot().revenue).toEqual({ mrr: null, arr: null, nrr: null, churn: null, ltv: null })
    create('Subscription', { plan: plan({}) })
    expect(snapshot().revenue.mrr).toBeNull()
    create('Subscription', { plan: plan({}, MONTHLY) })
    expect(snapshot().revenue.mrr).toBe(30)
    create('Subscription', { plan: plan({}, { ...MONTHLY, currency: 'eur' }) })
    expect(snapshot().revenue.mrr).toBeNull()
  })

  test('it is zero when every subscription has ended', () => {
    const { plan, create, verb, snapshot } = openBusiness()
    const id = create('Subscription', { plan: plan({}, MONTHLY) })
    verb('Subscription', id, 'cancel')

    expect(snapshot().revenue.mrr).toBe(0)
  })
})

describe('churn and what follows from it', () => {
  verifies('metrics.revenue', 'churn is the share of those that ran thirty days ago and were cancelled since', () => {
    const { plan, create, daysAgo, snapshot } = openBusiness()
    const pro = plan({}, MONTHLY)
    const old = { plan: pro, startedAt: daysAgo(90) }
    for (let n = 0; n < 3; n++) create('Subscription', old)
    create('Subscription', { ...old, status: 'Cancelled', canceledAt: daysAgo(10) })
    create('Subscription', { ...old, status: 'Cancelled', canceledAt: daysAgo(40) })
    create('Subscription', { ...old, status: 'Cancelled', canceledAt: daysAgo(-5) })
    create('Subscription', { plan: pro, startedAt: daysAgo(5) })
    create('Subscription', { plan: pro, startedAt: daysAgo(5), status: 'Cancelled', canceledAt: daysAgo(1) })

    const { revenue } = snapshot()

    expect(revenue).toMatchObject({ churn: 0.2, mrr: 120, arr: 1440 })
    // 30 a month for the five months that one in five leaving means.
    expect(revenue.ltv).toBe(150)
  })

  test('an endless lifetime has no value', () => {
    const { plan, create, daysAgo, snapshot } = openBusiness()
    create('Subscription', { plan: plan({}, MONTHLY), startedAt: daysAgo(90) })

    expect(snapshot().revenue).toMatchObject({ churn: 0, ltv: null })
  })

  test('net retention is the revenue from those of thirty days ago, over theirs then', () => {
    const { plan, create, verb, clock, snapshot } = openBusiness()
    const small = plan({}, MONTHLY)
    const large = plan({}, { ...MONTHLY, amount: 90 })
    const [first, second] = [1, 2, 3].map(() => create('Subscription', { plan: small }))
    clock.at += 31 * DAY
    verb('Subscription', first!, 'upgrade', { plan: large })
    verb('Subscription', second!, 'cancel')
    create('Subscription', { plan: large })

    // (90 + 0 + 30) / 90
    expect(snapshot().revenue.nrr).toBe(1.3333)
  })
})

describe('the snapshot as of a time', () => {
  verifies('metrics.asOf', 'shows the numbers of that time and names it', () => {
    const { plan, create, verb, clock, snapshot } = openBusiness()
    const id = create('Subscription', { plan: plan({}, MONTHLY) })
    const then = clock.at
    clock.at += DAY
    verb('Subscription', id, 'cancel')

    expect(snapshot().revenue.mrr).toBe(0)
    expect(snapshot(undefined, then)).toMatchObject({ revenue: { mrr: 30 }, asOf: new Date(then).toISOString() })
    expect(snapshot(undefined, then - DAY).revenue.mrr).toBeNull()
  })
})
