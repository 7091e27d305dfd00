import type { Verb } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { currentOf } from '../../store/entities.ts'
import { type Attempt, type Delivery, requeueFailed, saveAttempt } from '../../store/outbox.ts'
import { applyVerb } from '../../write/verb.ts'
import { nextTry, WEBHOOK_DEFAULTS } from './retry.ts'
import { isSuccess } from './send.ts'

/** Verbs of the service's own, which no client can name. */
const FAIL: Verb = { name: 'fail', before: 'failing', event: 'failing', set: { status: 'failing' } }
const RECOVER: Verb = { name: 'recover', before: 'recovering', event: 'recovered', set: { status: 'active' } }

/** A delivery that was tried, and how that went. */
export interface AttemptResult {
  readonly delivery: Delivery
  readonly attempt: Attempt
}

/** Writes down what came of deliveries, in one transaction: what failed is booked again, webhooks fail and recover. */
export function recordAttempts(tenant: Engine, outcomes: readonly AttemptResult[]): void {
  if (outcomes.length === 0) return
  tenant.transaction(() => {
    for (const { delivery, attempt } of outcomes) {
      if (isSuccess(attempt.status)) succeed(tenant, delivery, attempt)
      else fail(tenant, delivery, attempt)
    }
  })
}

/** The first success of a failing webhook makes it active, and queues what had been given up again at once. */
function succeed(tenant: Engine, delivery: Delivery, attempt: Attempt): void {
  saveAttempt(tenant.sql, delivery, attempt, delivery.state === 'test' ? 'test' : 'delivered', delivery.failures, null)
  if (statusOf(tenant, delivery.webhook) !== 'failing') return
  requeueFailed(tenant.sql, delivery.webhook)
  applyVerb(tenant, { type: 'Webhook', verb: 'recover', id: delivery.webhook, actor: 'system', internalVerb: RECOVER })
}

function fail(tenant: Engine, delivery: Delivery, attempt: Attempt): void {
  const failures = delivery.failures + 1
  if (delivery.state === 'test') return void saveAttempt(tenant.sql, delivery, attempt, 'test', failures, null)
  const { retries } = tenant.options.webhooks ?? WEBHOOK_DEFAULTS
  const due = nextTry(retries, failures, tenant.ports.clock.now())
  saveAttempt(tenant.sql, delivery, attempt, due === null ? 'failed' : 'retry', failures, due)
  if (due !== null || statusOf(tenant, delivery.webhook) !== 'active') return
  applyVerb(tenant, { type: 'Webhook', verb: 'fail', id: delivery.webhook, actor: 'system', internalVerb: FAIL })
}

function statusOf(tenant: Engine, webhook: string): string | null {
  const current = currentOf(tenant.sql, 'Webhook', webhook)
  return current && !current.deleted ? JSON.parse(current.data).status : null
}
