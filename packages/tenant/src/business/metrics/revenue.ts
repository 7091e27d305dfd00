import { type PlanRow, type PriceRow, readPlans, readPrices } from '../sql/prices.ts'
import { type SubscriptionTally, tallyRetention, tallySubscriptions } from '../sql/subscriptions.ts'
import { type MetricView, rounded, share } from '../view.ts'

/** What subscriptions bring in. */
export interface Revenue {
  readonly mrr: number | null
  readonly arr: number | null
  readonly nrr: number | null
  readonly churn: number | null
  readonly ltv: number | null
}

/** What a plan costs a month. */
interface Fee {
  readonly amount: number
  readonly currency: string | null
}

type Fees = ReadonlyMap<string | null, Fee>

/** The types that revenue is worked out from. */
export const REVENUE_TYPES = ['Subscription', 'Plan', 'Price'] as const

const UNKNOWN: Revenue & { readonly currency: null } = {
  mrr: null,
  arr: null,
  nrr: null,
  churn: null,
  ltv: null,
  currency: null,
}
const MONTHS: { readonly [interval: string]: number } = { Monthly: 1, Quarterly: 3, Yearly: 12 }

/** Works out the revenue of a view, and the currency it is in. */
export function revenue(view: MetricView): Revenue & { readonly currency: string | null } {
  return view.once(REVENUE_TYPES, 'revenue', () => {
    const { reader, moment } = view
    const tallies = subscriptions(view)
    const plans = readPlans(reader, moment)
    const prices = readPrices(reader, moment)
    if (tallies === null || plans === null || prices === null) return UNKNOWN
    const fees = monthlyFees(plans, prices)
    const currencies = currenciesOf(tallies, fees)
    const known = currencies.length <= 1
    const mrr = known ? monthly(tallies, fees) : null
    const [active, lost, started] = [sum(tallies, 'active'), sum(tallies, 'lost'), sum(tallies, 'started')]
    return {
      mrr: cents(mrr),
      arr: cents(mrr && mrr * 12),
      nrr: known ? retention(view, fees) : null,
      churn: share(lost, started),
      // How long a subscription lasts is one over the share that leaves.
      ltv: active === 0 || lost === 0 || started === 0 ? null : cents(mrr && ((mrr / active) * started) / lost),
      currency: currencies[0] ?? null,
    }
  })
}

/** The subscriptions of a view, by plan. */
export function subscriptions(view: MetricView): SubscriptionTally[] | null {
  return view.once(['Subscription'], 'subscriptions', () => tallySubscriptions(view.reader, view.moment, view.window))
}

export function sum<K extends string>(rows: readonly { readonly [key in K]: number }[], key: K): number {
  return rows.reduce((total, row) => total + row[key], 0)
}

/** The monthly fee of each plan that has one: by its first active price that recurs, else its first one. */
function monthlyFees(plans: readonly PlanRow[], prices: readonly PriceRow[]): Fees {
  const fees = new Map<string | null, Fee>(
    plans.filter(({ free }) => free).map(({ id }) => [id, { amount: 0, currency: null }]),
  )
  // Active prices come first, and the first one counts.
  const priced = new Set<string>()
  for (const { plan, amount, currency, interval, intervalCount } of prices) {
    const months = (MONTHS[interval ?? ''] ?? 0) * intervalCount
    if (months <= 0 || priced.has(plan)) continue
    priced.add(plan)
    fees.set(plan, { amount: amount / months, currency })
  }
  return fees
}

/** The currencies that active subscriptions are paid in. Two of them have no sum. */
function currenciesOf(tallies: readonly SubscriptionTally[], fees: Fees): string[] {
  const paid = tallies.filter(({ active }) => active > 0).map(({ plan }) => fees.get(plan)?.currency ?? null)
  return [...new Set(paid.flatMap((currency) => (currency === null ? [] : [currency.toLowerCase()])))]
}

/** Null when there are no subscriptions, or active ones and no price to any of them. */
function monthly(tallies: readonly SubscriptionTally[], fees: Fees): number | null {
  const active = tallies.filter(({ active }) => active > 0)
  const priced = active.filter(({ plan }) => fees.has(plan))
  if (tallies.length === 0 || (active.length > 0 && priced.length === 0)) return null
  return priced.reduce((total, { plan, quantity }) => total + fees.get(plan)!.amount * quantity, 0)
}

/** Money is rounded once, at the end. */
function cents(amount: number | null): number | null {
  return amount === null ? null : rounded(amount, 2)
}

function retention({ reader, before, moment }: MetricView, fees: Fees): number | null {
  const rows = before && tallyRetention(reader, before, moment)
  if (rows === null) return null
  const feeOf = (plan: string | null) => fees.get(plan)?.amount ?? 0
  const then = rows.reduce((total, { plan, quantity }) => total + feeOf(plan) * quantity, 0)
  const now = rows.reduce((total, { nextPlan, nextQuantity }) => total + feeOf(nextPlan) * nextQuantity, 0)
  return share(now, then)
}
