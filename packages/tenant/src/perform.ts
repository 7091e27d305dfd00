import { type Noun, Problem } from '@tildebase/nouns'
import { type Act, act, type Done, notFound } from './act/act.ts'
import { demand, type Grant, isNarrowed } from './keys/grant.ts'
import { createKey, updateKey } from './keys/keys.ts'
import { analyzeFunnel } from './metrics/funnel.ts'
import { createGoal, updateGoal } from './metrics/goals.ts'
import { refreshSegment } from './metrics/segment.ts'
import { find, withId } from './query/find.ts'
import { readerOf } from './read.ts'
import type { Tenant } from './tenant.ts'
import { createWebhook, deleteWebhook, reviveWebhook, rotateWebhook, updateWebhook } from './webhooks/verbs.ts'

/** A verb that somebody asks for, whatever door they came through. */
export type Operation = Pick<Act, 'type' | 'verb' | 'id' | 'data' | 'ifVersions' | 'correlation' | 'keepId' | 'coming'>

/** What became of it; `secret` is there once, when a key or a webhook was created. */
export interface Outcome extends Done {
  readonly secret?: string
}

/** Verbs of types whose meaning is the service's own. */
const SPECIAL: { readonly [name: string]: (tenant: Tenant, grant: Grant, ask: Act) => Outcome } = {
  'ApiKey.create': createKey,
  'ApiKey.update': updateKey,
  'Webhook.create': createWebhook,
  'Webhook.update': updateWebhook,
  'Webhook.delete': deleteWebhook,
  'Webhook.rotate': rotateWebhook,
  'Webhook.restore': reviveWebhook,
  'Webhook.rollback': reviveWebhook,
  'Funnel.analyze': analyzeFunnel,
  'Goal.create': createGoal,
  'Goal.update': updateGoal,
  'Segment.refresh': refreshSegment,
}

/** Runs a verb for somebody, if they may. The one way in for REST, batch, MCP, hooks and scripts. */
export function perform(tenant: Tenant, grant: Grant, operation: Operation): Outcome {
  const noun = tenant.noun(operation.type)
  demand(grant, 'write', noun)
  const ask: Act = { ...operation, type: noun.name, actor: grant.actor }
  const special = SPECIAL[`${noun.name}.${ask.verb}`]
  const run = (): Outcome => (special ? special(tenant, grant, ask) : act(tenant, ask))
  return tenant.transaction(() => (isNarrowed(grant) ? narrowly(tenant, grant, noun, ask, run) : run()) as never)
}

/** A narrowed key touches only rows that it sees before, and leaves only rows that it sees after. */
function narrowly(tenant: Tenant, grant: Grant, noun: Noun, ask: Act, run: () => Outcome): Outcome {
  const starts = ask.verb !== 'create' && ask.verb !== 'restore'
  if (starts && !sees(tenant, grant, noun, ask.id ?? '')) throw notFound(noun.name, ask.id ?? '')
  const outcome = run()
  if (ask.verb === 'delete' || sees(tenant, grant, noun, outcome.entity.id)) return outcome
  throw new Problem(
    'forbidden',
    `This key may not leave a ${noun.name} with these values: its filter does not show it.`,
    { type: noun.name },
  )
}

/** Whether the entity is among the rows that a grant sees. */
export function sees(tenant: Tenant, grant: Grant, noun: Noun, id: string): boolean {
  return (
    find(readerOf(tenant, grant), { type: noun.name, filter: withId(id), limit: 1, total: false }).results.length > 0
  )
}
