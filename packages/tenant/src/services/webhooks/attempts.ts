import type { Verb } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { WEBHOOK_DEFAULTS } from '../../engine/options.ts'
import { currentOf } from '../../store/entities.ts'
import { type Attempt, type Delivery, requeueFailed, saveAttempt } from '../../store/outgoing/outbox.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { isSuccess } from './send.ts'
import { subscriptions } from './subscription.ts'

/** Verbs of the service's own, which no client can name. */
const FAIL: Verb = { name: 'fail', before: 'failing', event: 'failing', set: { status: 'failing' } }
const RECOVER: Verb = { name: 'recover', before: 'recovering', event: 'recovered', set: { status: 'active' } }

/** A delivery that was tried, and how that went. */
export interface AttemptResult {
  readonly delivery: Delivery
  readonly attempt: Attempt
}

/** Writes down what came of deliveries, in one transaction: what failed is booked again, webhooks fail and recover. */
export function recordAttempts(transactor: Transactor, outcomes: readonly AttemptResult[]): void {
  if (outcomes.length === 0) return
  transactor.commitAs('system', (write) => {
    for (const { delivery, attempt } of outcomes) {
      if (isSuccess(attempt.status)) succeed(write, delivery, attempt)
      else fail(write, delivery, attempt)
    }
  })
}

/** The first success of a failing webhook makes it active, and queues what had been given up again at once. */
function succeed(write: Write, delivery: Delivery, attempt: Attempt): void {
  saveAttempt(write.sql, delivery, attempt, delivery.state === 'test' ? 'test' : 'delivered', delivery.failures, null)
  const known = subscriptions(write.engine).get(delivery.webhook)
  // One that is suspended is not among them.
  if (known ? !known.isFailing : statusOf(write.engine, delivery.webhook) !== 'failing') return
  requeueFailed(write.sql, delivery.webhook)
  applyVerb(write, { type: 'Webhook', verb: 'recover', id: delivery.webhook, internalVerb: RECOVER })
}

function fail(write: Write, delivery: Delivery, attempt: Attempt): void {
  const failures = delivery.failures + 1
  if (delivery.state === 'test') return void saveAttempt(write.sql, delivery, attempt, 'test', failures, null)
  const { engine } = write
  const { retries } = engine.options.webhooks ?? WEBHOOK_DEFAULTS
  const due = nextTry(retries, failures, engine.ports.clock.now())
  saveAttempt(write.sql, delivery, attempt, due === null ? 'failed' : 'retry', failures, due)
  if (due !== null || statusOf(write.engine, delivery.webhook) !== 'active') return
  applyVerb(write, { type: 'Webhook', verb: 'fail', id: delivery.webhook, internalVerb: FAIL })
}

function statusOf(engine: Engine, webhook: string): string | null {
  const current = currentOf(engine.sql, 'Webhook', webhook)
  return current && !current.deleted ? JSON.parse(current.data).status : null
}

/** When to try again after `failures` failed tries, or null once the retries are used up. */
function nextTry(retries: readonly number[], failures: number, now: number): number | null {
  const wait = retries[failures - 1]
  return wait === undefined ? null : now + wait
}
