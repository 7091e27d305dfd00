import { type Tildebase, tildebase } from '@tildebase/client'
import { catalogue, noun } from '@tildebase/nouns'

/**
 * Dunning: an invoice that is overdue is followed by a reminder; after a time of grace its subscription is paused, and
 * resumes once the invoice is paid. Two timers on Invoice and three workflows, no other program.
 *
 * Run it with `node examples/dunning.ts`; TILDE_URL, TILDE_KEY and TILDE_TENANT say where.
 */
const GRACE_MS = Number(process.env.GRACE_MS ?? 14 * 86_400_000)

/** What an invoice gets in addition. */
const ADDED = {
  suspendAt: 'datetime',
  remind: { event: 'reminded', from: 'Open' },
  escalate: { event: 'escalated', from: 'Open' },
  $timers: {
    overdue: { at: 'dueAt', from: 'Open', run: 'remind' },
    suspend: { at: 'suspendAt', from: 'Open', run: 'escalate' },
  },
} as const

const Invoice = noun('Invoice', { ...catalogue.Invoice.notation, ...ADDED })
type Client = Tildebase<{ Invoice: typeof Invoice }>

/** Adds the timers and the workflows to a tenant. */
export async function installDunning($: Client, graceMs = GRACE_MS): Promise<void> {
  await $.request('PUT', '/schema/Invoice', { body: ADDED })
  const workflows = [
    {
      name: 'Remind of an overdue invoice',
      triggerEvent: 'Invoice.reminded',
      steps: [
        { code: `(event) => new Date(Date.parse(event.timestamp) + ${graceMs}).toISOString()` },
        { verb: 'update', type: 'Invoice', id: '$event.data.$id', args: { suspendAt: '$steps.0' } },
        {
          verb: 'create',
          type: 'Activity',
          args: { subject: 'Remind of an overdue invoice', type: 'Email', description: '$event.data.number' },
        },
      ],
    },
    {
      name: 'Pause the subscription of an invoice that stays unpaid',
      triggerEvent: 'Invoice.escalated',
      filter: { subscription: { $exists: true } },
      steps: [{ verb: 'pause', type: 'Subscription', id: '$event.data.subscription' }],
    },
    {
      name: 'Resume the subscription once the invoice is paid',
      triggerEvent: 'Invoice.paid',
      filter: { 'subscription.status': 'Paused' },
      steps: [{ verb: 'reactivate', type: 'Subscription', id: '$event.data.subscription' }],
    },
  ] as const
  for (const draft of workflows) {
    const { $id } = await $.Workflow.create(draft)
    await $.Workflow.activate($id)
  }
}

/** An open invoice for a subscription, due at a time. */
async function openInvoice($: Client, dueAt: Date) {
  const subscription = await $.Subscription.create({ status: 'Active' })
  const { $id } = await $.Invoice.create({
    number: `I-${Date.now()}`,
    amountDue: 100,
    subscription: subscription.$id,
  })
  await $.Invoice.finalize($id)
  // The timer looks at the state when its time has come: a draft would not be reminded of.
  await $.Invoice.update($id, { dueAt: dueAt.toISOString() })
  return { invoice: $id, subscription: subscription.$id }
}

async function until($: Client, id: string, status: string): Promise<void> {
  while ((await $.Subscription.get(id))?.status !== status) await new Promise((done) => setTimeout(done, 100))
  console.log(`The subscription is ${status}.`)
}

if (import.meta.main) {
  const { TILDE_URL = 'http://localhost:8787', TILDE_KEY = '', TILDE_TENANT = 'dunning' } = process.env
  const $ = tildebase({ tenant: TILDE_TENANT, apiKey: TILDE_KEY, baseUrl: TILDE_URL, nouns: { Invoice } })
  await installDunning($, 1_000)
  const { invoice, subscription } = await openInvoice($, new Date(Date.now() + 1_000))
  await until($, subscription, 'Paused')
  await $.Invoice.pay(invoice)
  await until($, subscription, 'Active')
}
