import { type Json, Problem } from '@tildebase/nouns'
import {
  type Ask,
  type Connector,
  type Found,
  listIn,
  type PastValues,
  pathWith,
  type Question,
  type Values,
} from './connector.ts'

// biome-ignore lint/suspicious/noExplicitAny: what Stripe answers is read field by field
type Raw = any

/** Events are kept for thirty days: after a longer time everything is read again. */
const EVENTS_KEPT = 29 * 86_400_000

/** Stripe: customers, subscriptions and invoices with the times at which their status changed. */
export const stripe: Connector = {
  name: 'stripe',
  apiUrl: 'https://api.stripe.com',
  mapping: {
    customers: {
      type: 'Customer',
      fields: { name: 'name', email: 'email', currency: 'currency', id: 'stripeCustomerId' },
    },
    subscriptions: {
      type: 'Subscription',
      fields: {
        id: 'stripeSubscriptionId',
        status: 'status',
        customer: 'customer',
        quantity: 'quantity',
        start_date: 'startedAt',
        trial_start: 'trialStart',
        trial_end: 'trialEnd',
        canceled_at: 'canceledAt',
        ended_at: 'endedAt',
        cancel_at_period_end: 'cancelAtPeriodEnd',
      },
    },
    invoices: {
      type: 'Invoice',
      fields: {
        number: 'number',
        id: 'stripeInvoiceId',
        status: 'status',
        customer: 'customer',
        subscription: 'subscription',
        subtotal: 'subtotal',
        total: 'total',
        amount_paid: 'amountPaid',
        amount_due: 'amountDue',
        currency: 'currency',
        due_date: 'dueAt',
        finalized_at: 'issuedAt',
        paid_at: 'paidAt',
        voided_at: 'voidedAt',
      },
    },
  },
  headers: (token) => ({ authorization: `Bearer ${token}`, accept: 'application/json' }),
  checkPath: () => '/v1/customers?limit=1',
  records,
  refersTo: (object, field) => {
    if (field === 'customer' && object !== 'customers') return 'customers'
    return field === 'subscription' && object === 'invoices' ? 'subscriptions' : null
  },
  words: (object, field) => (field === 'status' ? (WORDS[object] ?? null) : null),
}

const WORDS: { readonly [object: string]: { readonly [value: string]: string } } = {
  subscriptions: {
    trialing: 'Trialing',
    active: 'Active',
    past_due: 'PastDue',
    unpaid: 'PastDue',
    canceled: 'Cancelled',
    paused: 'Paused',
    incomplete: 'Incomplete',
    incomplete_expired: 'Cancelled',
  },
  invoices: { draft: 'Draft', open: 'Open', paid: 'Paid', void: 'Voided', uncollectible: 'Uncollectible' },
}

async function* records(ask: Ask, { object, since, now }: Question): AsyncGenerator<Found> {
  const recent = since !== null && now - Date.parse(since) < EVENTS_KEPT
  if (recent) yield* changed(ask, object, Date.parse(since))
  else
    for await (const raw of pages(ask, `/v1/${object}`, object === 'subscriptions' ? { status: 'all' } : {}))
      yield foundOf(object, raw)
}

/** Objects of a list, the newest first. */
async function* pages(ask: Ask, path: string, params: { readonly [name: string]: string }): AsyncGenerator<Raw> {
  /** The ids of the last page. The next page begins after the last one that still exists. */
  let ids: string[] = []
  for (const seen = new Set<string>(); ; ) {
    let body: Raw
    try {
      body = (await ask(pathWith(path, { limit: '100', ...params, starting_after: ids.at(-1) ?? null }))).body
    } catch (reason) {
      if (ids.length < 2 || !isMissing(reason)) throw reason
      ids.pop()
      continue
    }
    const list = listIn(body?.data)
    for (const one of list) if (!seen.has(one.id)) yield one
    for (const { id } of list) seen.add(id)
    ids = list.map(({ id }) => id)
    if (body.has_more !== true || ids.length === 0) return
  }
}

/** Whether Stripe does not know the object after which a page begins: it was deleted since the page before. */
function isMissing(reason: unknown): boolean {
  return reason instanceof Problem && (reason.about.status === 400 || reason.about.status === 404)
}

/** The objects that events since a time are about, each as its newest event shows it. */
async function* changed(ask: Ask, object: string, since: number): AsyncGenerator<Found> {
  const seen = new Set<string>()
  const singular = object.slice(0, -1)
  for await (const event of pages(ask, '/v1/events', { 'created[gte]': String(Math.floor(since / 1_000)) })) {
    const raw = event.data?.object
    if (raw?.object !== singular || seen.has(raw.id)) continue
    seen.add(raw.id)
    // A subscription that is “deleted” is cancelled: it stays.
    const isDeleted = event.type === 'customer.deleted' || event.type === 'invoice.deleted'
    yield {
      ...foundOf(object, raw),
      updatedAt: iso(event.created)!,
      ...(isDeleted && { deletedAt: iso(event.created)! }),
    }
  }
}

function foundOf(object: string, raw: Raw): Found {
  const { values, past } =
    object === 'invoices' ? invoice(raw) : object === 'subscriptions' ? subscription(raw) : plain(raw)
  return { id: raw.id, createdAt: iso(raw.created)!, values, past }
}

interface Course {
  readonly values: Values
  readonly past: readonly PastValues[]
}

function plain(raw: Raw): Course {
  return { values: raw, past: [] }
}

function invoice(raw: Raw): Course {
  const { finalized_at, paid_at, voided_at, marked_uncollectible_at } = raw.status_transitions ?? {}
  const past: PastValues[] = []
  const at = (seconds: number | null | undefined, verb: string, values: Values) => {
    if (typeof seconds === 'number') past.push({ at: iso(seconds)!, verb, values })
  }
  at(finalized_at, 'finalize', { status: 'open', finalized_at: iso(finalized_at) })
  at(paid_at, 'pay', { status: 'paid', paid_at: iso(paid_at), amount_paid: money(raw.amount_paid, raw.currency) })
  at(voided_at, 'void', { status: 'void', voided_at: iso(voided_at) })
  at(marked_uncollectible_at, 'update', { status: 'uncollectible' })
  const amounts = ['subtotal', 'total', 'amount_due'].map((name) => [name, money(raw[name], raw.currency)])
  const values = {
    ...raw,
    ...Object.fromEntries(amounts),
    number: raw.number ?? raw.id,
    status: 'draft',
    amount_paid: 0,
    due_date: iso(raw.due_date),
    customer: idIn(raw.customer),
    subscription: idIn(raw.subscription ?? raw.parent?.subscription_details?.subscription),
  }
  return { values, past }
}

function subscription(raw: Raw): Course {
  const past: PastValues[] = []
  if (typeof raw.trial_end === 'number' && raw.status !== 'trialing' && (raw.canceled_at ?? Infinity) > raw.trial_end) {
    past.push({ at: iso(raw.trial_end)!, verb: 'update', values: { status: 'active' } })
  }
  const end = raw.ended_at ?? raw.canceled_at
  if (typeof end === 'number' && raw.status === 'canceled') {
    const values = { status: 'canceled', canceled_at: iso(raw.canceled_at), ended_at: iso(raw.ended_at) }
    past.push({ at: iso(end)!, verb: 'cancel', values })
  } else if (raw.status !== 'active' && raw.status !== 'trialing' && raw.status !== 'canceled') {
    past.push({ at: iso(raw.current_period_start ?? raw.created)!, verb: 'update', values: { status: raw.status } })
  }
  const begun = typeof raw.trial_start === 'number' ? 'trialing' : 'active'
  const times = ['start_date', 'trial_start', 'trial_end'].map((name) => [name, iso(raw[name])])
  const values = { ...raw, ...Object.fromEntries(times), status: begun, canceled_at: null, ended_at: null }
  return {
    values: {
      ...values,
      customer: idIn(raw.customer),
      quantity: raw.quantity ?? raw.items?.data?.[0]?.quantity ?? null,
    },
    past,
  }
}

/** An object may be shown in place of its id. */
function idIn(value: Raw): Json {
  return typeof value === 'object' && value !== null ? value.id : (value ?? null)
}

function iso(seconds: number | null | undefined): string | null {
  return typeof seconds === 'number' ? new Date(seconds * 1_000).toISOString() : null
}

/** Currencies without a smaller unit: their amounts are whole. */
const WHOLE = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' '))

function money(amount: unknown, currency: unknown): Json {
  if (typeof amount !== 'number') return null
  return WHOLE.has(String(currency).toLowerCase()) ? amount : amount / 100
}
