import { readPlans } from '../sql/prices.ts'
import { type DealTally, tallyCampaigns, tallyDeals, tallyEvents, tallyLeads, tallyTickets } from '../sql/tally.ts'
import { type MetricView, rounded, share } from '../view.ts'
import { subscriptions, sum } from './revenue.ts'

const HOUR = 3_600_000
const SETTLED = ['Closed', 'Won', 'Lost']
const MOST_PLANS = 100

/** The deals: open ones in number and value, and all of them by stage. */
export function pipeline(view: MetricView) {
  return view.once(['Deal'], 'pipeline', () => {
    const tallies = tallyDeals(view.reader, view.moment)
    if (tallies === null) return { totalDeals: null, totalValue: null, stages: null, currency: null }
    const open = tallies.filter(({ stage }) => !SETTLED.includes(stage ?? ''))
    const currencies = currenciesOf(open)
    return {
      totalDeals: sum(open, 'count'),
      totalValue: currencies.length <= 1 ? totalValue(open) : null,
      stages: counted(tallies.map(({ stage, count }) => [stage ?? 'None', count])),
      currency: currencies[0] ?? null,
    }
  })
}

/** What people do with the product. */
export function product(view: MetricView, may: (type: string) => boolean) {
  const tallies = may('Subscription') ? subscriptions(view) : null
  const tracked = may('Event')
    ? view.once(['Event'], 'tracked', () => tallyEvents(view.reader, view.moment, view.window))
    : null
  return {
    activeSubscriptions: tallies && sum(tallies, 'active'),
    trialConversions: tallies && sum(tallies, 'trialed') > 0 ? sum(tallies, 'converted') : null,
    plans: tallies && may('Plan') ? subscribersByPlan(view) : null,
    events30d: tracked?.events ?? null,
    activeUsers30d: tracked?.users ?? null,
  }
}

/** The share of finished trials that continued as subscriptions. */
export function trialConversion(view: MetricView): number | null {
  const tallies = subscriptions(view)
  return tallies && share(sum(tallies, 'converted'), sum(tallies, 'trialed'))
}

/** How those who ask for help fare. */
export function support(view: MetricView) {
  return view.once(['Ticket'], 'support', () => {
    const tally = tallyTickets(view.reader, view.moment)
    if (tally === null) return { openTickets: null, avgResponseHours: null, satisfaction: null }
    return {
      openTickets: tally.open,
      avgResponseHours: tally.responseMs === null ? null : rounded(tally.responseMs / HOUR, 2),
      satisfaction: tally.satisfaction === null ? null : rounded(tally.satisfaction, 2),
    }
  })
}

/** How the business becomes known. */
export function marketing(view: MetricView, may: (type: string) => boolean) {
  const { reader, moment, since } = view
  const campaigns = may('Campaign') ? view.once(['Campaign'], 'campaigns', () => tallyCampaigns(reader, moment)) : null
  const leads = may('Lead') ? view.once(['Lead'], 'leads', () => tallyLeads(reader, moment, since)) : null
  return {
    activeCampaigns: campaigns,
    leads30d: leads?.recent ?? null,
    conversionRate: leads && share(leads.converted, leads.count),
  }
}

/** Null when there are open deals and none of them has a value. */
function totalValue(open: readonly DealTally[]): number | null {
  return sum(open, 'count') > 0 && sum(open, 'valued') === 0 ? null : rounded(sum(open, 'value'), 2)
}

/** The currencies of deals that have a value. Two of them have no sum. */
function currenciesOf(tallies: readonly DealTally[]): string[] {
  const paid = tallies.filter(({ valued }) => valued > 0)
  return [...new Set(paid.flatMap(({ currency }) => (currency === null ? [] : [currency.toLowerCase()])))]
}

/** Active subscriptions by the name of their plan, the largest plans first. */
function subscribersByPlan(view: MetricView): { readonly [plan: string]: number } | null {
  return view.once(['Plan', 'Subscription'], 'plans', () => {
    const plans = readPlans(view.reader, view.moment)
    const tallies = subscriptions(view)
    if (plans === null || tallies === null) return null
    const active = new Map(tallies.map(({ plan, active }) => [plan, active]))
    const rows = plans.map(({ id, name }) => [name, active.get(id) ?? 0] as const)
    return counted(rows.toSorted(([, a], [, b]) => b - a).slice(0, MOST_PLANS))
  })
}

function counted(rows: readonly (readonly [string, number])[]): { readonly [name: string]: number } {
  const counts = new Map<string, number>()
  for (const [name, count] of rows) counts.set(name, (counts.get(name) ?? 0) + count)
  return Object.fromEntries(counts)
}
