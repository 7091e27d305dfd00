import { noun } from '../notation/notation.ts'

/** The paying customer and the payment method. */
export const Customer = noun('Customer', {
  $domain: 'billing',
  name: 'string!',
  email: 'string#',
  stripeCustomerId: 'string##',
  paymentMethod: 'string',
  currency: 'string',
  taxExempt: 'string',
  organization: '-> Organization',
  subscriptions: '<- Subscription.customer[]',
  invoices: '<- Invoice.customer[]',
  payments: '<- Payment.customer[]',
  contact: '-> Contact',
})

/** A request for payment. */
export const Invoice = noun('Invoice', {
  $domain: 'billing',
  number: 'string!##',
  subtotal: 'number',
  tax: 'number',
  discount: 'number',
  total: 'number',
  amountPaid: 'number',
  amountDue: 'number',
  currency: 'string',
  status: 'Draft | Open | Paid | Voided | Uncollectible = Draft',
  periodStart: 'datetime',
  periodEnd: 'datetime',
  issuedAt: 'datetime',
  dueAt: 'datetime',
  paidAt: 'datetime',
  voidedAt: 'datetime',
  lineItems: 'json',
  receiptUrl: 'string',
  pdfUrl: 'string',
  hostedUrl: 'string',
  stripeInvoiceId: 'string##',
  organization: '-> Organization',
  customer: '-> Customer.invoices',
  subscription: '-> Subscription',
  pay: { event: 'paid', from: 'Open', set: { status: 'Paid', paidAt: '$now' } },
  void: { event: 'voided', from: 'Open', set: { status: 'Voided', voidedAt: '$now' } },
  finalize: { event: 'finalized', from: 'Draft', set: { status: 'Open', issuedAt: '$now' } },
})

/** Money received, or refunded. */
export const Payment = noun('Payment', {
  $domain: 'billing',
  amount: 'number!',
  currency: 'string',
  status: 'Pending | Succeeded | Failed | Refunded = Pending',
  method: 'string',
  stripePaymentId: 'string##',
  customer: '-> Customer.payments',
  invoice: '-> Invoice',
  refund: { event: 'refunded', from: 'Succeeded', set: { status: 'Refunded' } },
  capture: { event: 'captured', from: 'Pending', set: { status: 'Succeeded' } },
})

/** A subscription offer for a product. */
export const Plan = noun('Plan', {
  $domain: 'billing',
  name: 'string!',
  slug: 'string##',
  description: 'string',
  trialDays: 'number',
  features: 'string',
  limits: 'string',
  status: 'Draft | Active | Grandfathered | Archived = Draft',
  isDefault: 'boolean',
  isFree: 'boolean',
  isEnterprise: 'boolean',
  badge: 'string',
  order: 'number',
  product: '-> Product.plans',
  prices: '<- Price.plan[]',
})

/** The price of a plan in one currency and interval. */
export const Price = noun('Price', {
  $domain: 'billing',
  amount: 'number!',
  currency: 'string = usd',
  interval: 'Monthly | Quarterly | Yearly | OneTime',
  intervalCount: 'number',
  originalAmount: 'number',
  discountPercent: 'number',
  active: 'boolean',
  stripeId: 'string##',
  plan: '-> Plan.prices',
})

/** A product for sale. */
export const Product = noun('Product', {
  $domain: 'billing',
  name: 'string!',
  slug: 'string##',
  description: 'string',
  tagline: 'string',
  type: 'Software | Service | Addon | Bundle',
  icon: 'string',
  image: 'string',
  features: 'string',
  highlights: 'string',
  status: 'Draft | Active | Archived = Draft',
  visibility: 'Public | Private | Hidden',
  featured: 'boolean',
  stripeProductId: 'string##',
  plans: '<- Plan.product[]',
})

/** A plan that a customer pays for, period by period. */
export const Subscription = noun('Subscription', {
  $domain: 'billing',
  status: 'Active | PastDue | Cancelled | Trialing | Paused | Incomplete = Active',
  currentPeriodStart: 'datetime! = now',
  currentPeriodEnd: 'datetime',
  cancelAtPeriodEnd: 'boolean',
  trialStart: 'datetime',
  trialEnd: 'datetime',
  startedAt: 'datetime! = now',
  canceledAt: 'datetime',
  pausedAt: 'datetime',
  resumesAt: 'datetime',
  endedAt: 'datetime',
  cancelReason: 'string',
  cancelFeedback: 'string',
  quantity: 'number',
  paymentMethod: 'string',
  collectionMethod: 'string',
  stripeSubscriptionId: 'string##',
  stripeCustomerId: 'string',
  organization: '-> Organization.subscriptions',
  customer: '-> Customer.subscriptions',
  plan: '-> Plan',
  pause: {
    event: 'paused',
    from: 'Active',
    set: { status: 'Paused', pausedAt: '$now', resumesAt: '$args.resumesAt' },
    args: 'resumesAt',
  },
  cancel: {
    event: 'cancelled',
    from: ['Active', 'Trialing', 'Paused', 'PastDue'],
    set: {
      status: 'Cancelled',
      canceledAt: '$now',
      cancelAtPeriodEnd: '$args.cancelAtPeriodEnd',
      cancelReason: '$args.cancelReason',
      cancelFeedback: '$args.cancelFeedback',
    },
    args: ['cancelAtPeriodEnd', 'cancelReason', 'cancelFeedback'],
  },
  reactivate: { event: 'reactivated', from: ['Paused', 'Cancelled'], set: { status: 'Active' } },
  upgrade: { event: 'upgraded', from: 'Active', set: { status: 'Active', plan: '$args.plan' }, args: 'plan' },
  downgrade: {
    event: 'downgraded',
    from: 'Active',
    set: { status: 'Active', plan: '$args.plan' },
    args: ['plan', 'cancelAtPeriodEnd'],
  },
  activate: { event: 'activated', from: ['Trialing', 'PastDue', 'Incomplete'], set: { status: 'Active' } },
  renew: { event: 'renewed', from: 'Active', set: { status: 'Active' } },
  end: {
    event: 'ended',
    from: ['Active', 'Trialing', 'PastDue', 'Paused'],
    set: { status: 'Cancelled', endedAt: '$now' },
  },
  $timers: {
    resume: { at: 'resumesAt', from: 'Paused', run: 'reactivate' },
    trialEnd: { at: 'trialEnd', from: 'Trialing', run: 'activate' },
    periodEnd: {
      at: 'currentPeriodEnd',
      from: ['Active', 'Trialing', 'PastDue', 'Paused'],
      when: { cancelAtPeriodEnd: true },
      run: 'end',
    },
  },
})
