import type { PastChange } from '../import/history.ts'
import {
  CHANNELS,
  CITIES,
  COMPANIES,
  FIRST_NAMES,
  INDUSTRIES,
  KINDS,
  LAST_NAMES,
  LOST_REASONS,
  PLANS,
  PROBLEMS,
  TITLES,
} from './names.ts'
import { Chance, iso, Story } from './story.ts'

/** The people of the company. Their ids are fixed, so that the past can name them. */
export const PEOPLE = [
  { $id: 'user_demoMiraOkafor0001', name: 'Mira Okafor', email: 'mira@brightwater.example', role: 'Admin' },
  { $id: 'user_demoJonasLind00002', name: 'Jonas Lind', email: 'jonas@brightwater.example', role: 'Member' },
  { $id: 'user_demoPriyaNair00003', name: 'Priya Nair', email: 'priya@brightwater.example', role: 'Member' },
  { $id: 'user_demoTomasVega00004', name: 'Tomás Vega', email: 'tomas@brightwater.example', role: 'Member' },
  { $id: 'user_demoHanaSato000005', name: 'Hana Sato', email: 'hana@brightwater.example', role: 'Viewer' },
] as const

const SALES = [PEOPLE[1].$id, PEOPLE[2].$id]
const SUPPORT = [PEOPLE[3].$id, PEOPLE[0].$id]
const OFFICE = PEOPLE[0].$id
/** Agents of the company: one sorts tickets, one writes invoices. */
const TRIAGE = 'Triage agent'
const BILLING = 'Billing agent'

const YEAR = 365.25 * 86_400_000
const ORGANIZATIONS = 190
const TICKETS = 2_520

interface Customer {
  readonly organization: string
  readonly contact: string
  readonly since: number
  readonly plan: number
  /** When they left, if they did. */
  readonly until: number
}

/**
 * Two years of Brightwater, a company that sells software to water works: all that happened until `now`, in the order of time.
 * The same day gives the same company.
 */
export function company(now: number): readonly PastChange[] {
  const end = Math.floor(now / 86_400_000) * 86_400_000
  const story = new Story(new Chance(20_240_501), end - 2 * YEAR, end)
  tellPlans(story)
  const customers = Array.from({ length: ORGANIZATIONS }, (_, i) => tellOrganization(story, i)).flat()
  for (const [i, customer] of customers.entries()) tellSubscription(story, i, customer)
  for (let i = 0; i < TICKETS; i++) tellTicket(story, i, customers)
  return story.changes
}

function tellPlans(story: Story): void {
  const at = story.workday(story.begin, 0)
  story.tell(at, OFFICE, 'create', 'Product', 'demo:product:1', {
    name: 'Brightwater',
    type: 'Software',
    status: 'Active',
  })
  for (const [i, { name, amount }] of PLANS.entries()) {
    const plan = { name, status: 'Active', order: i + 1, product: { source: 'demo:product:1' } }
    story.tell(at + 1_000, OFFICE, 'create', 'Plan', `demo:plan:${i}`, plan)
    const price = { amount, currency: 'eur', interval: 'Monthly', active: true, plan: { source: `demo:plan:${i}` } }
    story.tell(at + 2_000, OFFICE, 'create', 'Price', `demo:price:${i}`, price)
  }
}

/** An organization with its contacts and deals. Returns it as a customer once it has bought something. */
function tellOrganization(story: Story, i: number): Customer[] {
  const { chance } = story
  const name = `${COMPANIES[i % COMPANIES.length]} ${KINDS[Math.floor(i / COMPANIES.length) % KINDS.length]}`
  const domain = `${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}.example`
  const source = `demo:organization:${i}`
  const seller = chance.one(SALES)
  const first = story.workday(story.begin, 2 + Math.floor((i / ORGANIZATIONS) * 660) + chance.whole(0, 12))
  const facts = {
    name,
    domain,
    website: `https://${domain}`,
    industry: chance.one(INDUSTRIES),
    city: chance.one(CITIES),
  }
  story.tell(first, seller, 'create', 'Organization', source, { ...facts, employeeCount: chance.whole(12, 900) })
  const [contact] = Array.from({ length: chance.whole(2, 5) }, (_, k) =>
    tellContact(story, `${i}-${k}`, domain, source, seller, story.workday(first, k * chance.whole(0, 40))),
  ) as [string, ...string[]]
  const bought = tellDeal(story, `${i}-0`, name, source, contact, seller, story.workday(first, chance.whole(1, 9)))
  if (bought === null) return []
  story.tell(bought + 60_000, seller, 'update', 'Organization', source, { type: 'Customer' })
  story.tell(bought + 120_000, seller, 'update', 'Contact', contact, { stage: 'Customer' })
  for (let k = 1; chance.is(0.55) && k < 4; k++) {
    tellDeal(story, `${i}-${k}`, name, source, contact, seller, story.workday(bought, k * chance.whole(40, 160)))
  }
  const leaves = chance.is(0.16) ? story.workday(bought, chance.whole(120, 600)) : Number.POSITIVE_INFINITY
  if (leaves < story.end) story.tell(leaves, OFFICE, 'update', 'Organization', source, { status: 'Churned' })
  return [{ organization: source, contact, since: bought, plan: chance.whole(0, PLANS.length - 1), until: leaves }]
}

function tellContact(
  story: Story,
  key: string,
  domain: string,
  organization: string,
  seller: string,
  at: number,
): string {
  const { chance } = story
  const source = `demo:contact:${key}`
  const [firstName, lastName] = [chance.one(FIRST_NAMES), chance.one(LAST_NAMES)]
  const email = `${firstName}.${lastName}.${key}@${domain}`.toLowerCase()
  story.tell(at, seller, 'create', 'Contact', source, {
    name: `${firstName} ${lastName}`,
    firstName,
    lastName,
    email,
    title: chance.one(TITLES),
    organization: { source: organization },
    owner: seller,
    leadScore: chance.whole(5, 60),
  })
  if (chance.is(0.6))
    story.tell(story.workday(at, chance.whole(1, 10)), seller, 'qualify', 'Contact', source, { stage: 'Qualified' })
  for (let k = 0, last = at; k < chance.whole(1, 5); k++) {
    last = story.workday(last, chance.whole(12, 120))
    const change = chance.is(0.3)
      ? { title: chance.one(TITLES) }
      : { leadScore: chance.whole(10, 100), lastEngagement: iso(last) }
    story.tell(last, seller, 'update', 'Contact', source, change)
  }
  return source
}

/** A deal from its first talk to its end. Returns when it was won; null if it was not. */
function tellDeal(
  story: Story,
  key: string,
  name: string,
  organization: string,
  contact: string,
  seller: string,
  at: number,
): number | null {
  const { chance } = story
  const source = `demo:deal:${key}`
  const value = chance.whole(4, 90) * 500
  const closing = iso(story.workday(at, 90)).slice(0, 10)
  const told = story.tell(at, seller, 'create', 'Deal', source, {
    name: `${name}, ${key.endsWith('-0') ? 'first contract' : 'more seats'}`,
    value,
    currency: 'eur',
    expectedCloseDate: closing,
    organization: { source: organization },
    contact: { source: contact },
    owner: seller,
  })
  if (!told) return null
  let last = at
  for (const [i, stage] of ['Qualification', 'Proposal', 'Negotiation'].entries()) {
    last = story.workday(last, chance.whole(3, 24))
    if (chance.is(0.12)) {
      const lost = { stage: 'Lost', lostReason: chance.one(LOST_REASONS), actualCloseDate: iso(last).slice(0, 10) }
      story.tell(last, seller, 'lose', 'Deal', source, lost)
      return null
    }
    story.tell(last, seller, 'advance', 'Deal', source, { stage, probability: [25, 50, 75][i]! })
    if (chance.is(0.4)) {
      const offer = Math.round((value * chance.whole(80, 115)) / 10_000) * 100
      story.tell(story.workday(last, 1), seller, 'update', 'Deal', source, { value: offer })
    }
  }
  last = story.workday(last, chance.whole(3, 20))
  const won = { stage: 'Won', probability: 100, actualCloseDate: iso(last).slice(0, 10) }
  return story.tell(last, seller, 'win', 'Deal', source, won) ? last : null
}

/** A subscription with an invoice for every month. */
function tellSubscription(story: Story, i: number, { organization, contact, since, plan, until }: Customer): void {
  const { chance } = story
  const [customer, subscription] = [`demo:customer:${i}`, `demo:subscription:${i}`]
  const to = { source: organization }
  const begin = story.workday(since, 1)
  const bill = { name: `Customer ${i + 1}`, currency: 'eur', organization: to, contact: { source: contact } }
  story.tell(begin, OFFICE, 'create', 'Customer', customer, bill)
  const quantity = chance.whole(1, 9)
  const terms = { status: 'Active', startedAt: iso(begin), currentPeriodStart: iso(begin), quantity }
  const of = { organization: to, customer: { source: customer } }
  story.tell(begin + 1_000, OFFICE, 'create', 'Subscription', subscription, {
    ...terms,
    ...of,
    plan: { source: `demo:plan:${plan}` },
  })
  let amount = PLANS[plan]!.amount * quantity
  for (let month = 0; month < 25; month++) {
    const at = story.workday(begin, 1 + Math.round(month * 30.44))
    if (at > until || at > story.end) break
    if (month > 2 && chance.is(0.04)) {
      story.tell(at - 3_600_000, OFFICE, 'update', 'Subscription', subscription, { quantity: quantity + month })
      amount = PLANS[plan]!.amount * (quantity + month)
    }
    tellInvoice(story, `${i}-${month}`, at, amount, of, subscription)
  }
  if (until < story.end) {
    const end = {
      status: 'Cancelled',
      canceledAt: iso(until),
      endedAt: iso(until),
      cancelReason: chance.one(LOST_REASONS),
    }
    story.tell(until + 60_000, OFFICE, 'cancel', 'Subscription', subscription, end)
  }
}

function tellInvoice(story: Story, key: string, at: number, amount: number, of: object, subscription: string): void {
  const { chance } = story
  const source = `demo:invoice:${key}`
  const dueAt = iso(at + 14 * 86_400_000)
  const lineItems = [{ description: 'Brightwater', quantity: 1, unitPrice: amount, taxRate: 19 }]
  const draft = {
    number: `BW-${key}`,
    currency: 'eur',
    lineItems,
    dueAt,
    ...of,
    subscription: { source: subscription },
  }
  story.tell(at, BILLING, 'create', 'Invoice', source, draft)
  story.tell(at + 300_000, BILLING, 'finalize', 'Invoice', source, { status: 'Open', issuedAt: iso(at + 300_000) })
  const paid = story.workday(at, chance.is(0.85) ? chance.whole(2, 13) : chance.whole(15, 45))
  story.tell(paid, BILLING, 'pay', 'Invoice', source, { status: 'Paid', paidAt: iso(paid) })
}

function tellTicket(story: Story, i: number, customers: readonly Customer[]): void {
  const { chance } = story
  const { organization, contact, since } = chance.one(customers)
  const days = (story.end - since) / 86_400_000
  const at = story.workday(since, Math.min(3 + chance.next() * days, days))
  const source = `demo:ticket:${i}`
  const channel = chance.one(CHANNELS)
  const facts = {
    subject: chance.one(PROBLEMS),
    channel,
    requester: { source: contact },
    organization: { source: organization },
  }
  if (!story.tell(at, channel, 'create', 'Ticket', source, facts)) return
  const sorted = at + chance.whole(20, 90) * 1_000
  story.tell(sorted, TRIAGE, 'update', 'Ticket', source, {
    priority: chance.one(['Low', 'Medium', 'Medium', 'High', 'Urgent']),
    assignee: chance.one(SUPPORT),
  })
  const assignee = chance.one(SUPPORT)
  const begun = story.workday(sorted, chance.is(0.7) ? 0 : 1)
  story.tell(begun, assignee, 'start', 'Ticket', source, { status: 'InProgress', firstResponseAt: iso(begun) })
  const solved = story.workday(begun, chance.whole(0, 6))
  story.tell(solved, assignee, 'resolve', 'Ticket', source, { status: 'Resolved', resolvedAt: iso(solved) })
  if (chance.is(0.7)) {
    const rated = { status: 'Closed', satisfaction: chance.one([3, 4, 4, 5, 5, 5]) }
    story.tell(story.workday(solved, chance.whole(1, 4)), assignee, 'close', 'Ticket', source, rated)
  }
}
