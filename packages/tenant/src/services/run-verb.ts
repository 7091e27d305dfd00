import { type Noun, Problem } from '@tildebase/nouns'
import { analyzeFunnel } from '../business/funnel.ts'
import { createGoal, updateGoal } from '../business/goals.ts'
import { refreshSegment } from '../business/segment.ts'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant, isNarrowed } from '../grant/grant.ts'
import { find, withId } from '../query/find.ts'
import { readContextOf } from '../query/parameters.ts'
import { applyVerb, notFound, type VerbRequest, type VerbResult } from '../write/verb.ts'
import { createKey, updateKey } from './keys.ts'
import { createWebhook, deleteWebhook, reviveWebhook, rotateWebhook, updateWebhook } from './webhooks/verbs.ts'

/** A verb that somebody asks for, whatever door they came through. */
export type Operation = Pick<
  VerbRequest,
  'type' | 'verb' | 'id' | 'data' | 'ifVersions' | 'correlation' | 'keepId' | 'pendingIds'
>

/** What became of it; `secret` is there once, when a key or a webhook was created. */
export interface RunResult extends VerbResult {
  readonly secret?: string
}

/** Verbs of types whose meaning is the service's own. */
const SPECIAL: { readonly [name: string]: (tenant: Engine, grant: Grant, ask: VerbRequest) => RunResult } = {
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
export function runVerb(tenant: Engine, grant: Grant, operation: Operation): RunResult {
  const noun = tenant.noun(operation.type)
  demand(grant, 'write', noun)
  const ask: VerbRequest = { ...operation, type: noun.name, actor: grant.actor }
  const special = SPECIAL[`${noun.name}.${ask.verb}`]
  const run = (): RunResult => (special ? special(tenant, grant, ask) : applyVerb(tenant, ask))
  return tenant.transaction(() => (isNarrowed(grant) ? narrowly(tenant, grant, noun, ask, run) : run()) as never)
}

/** A narrowed key touches only rows that it sees before, and leaves only rows that it sees after. */
function narrowly(tenant: Engine, grant: Grant, noun: Noun, ask: VerbRequest, run: () => RunResult): RunResult {
  const starts = ask.verb !== 'create' && ask.verb !== 'restore'
  if (starts && !isVisible(tenant, grant, noun, ask.id ?? '')) throw notFound(noun.name, ask.id ?? '')
  const outcome = run()
  if (ask.verb === 'delete' || isVisible(tenant, grant, noun, outcome.entity.id)) return outcome
  throw new Problem(
    'forbidden',
    `This key may not leave a ${noun.name} with these values: its filter does not show it.`,
    { type: noun.name },
  )
}

/** Whether the entity is among the rows that a grant sees. */
export function isVisible(tenant: Engine, grant: Grant, noun: Noun, id: string): boolean {
  return (
    find(readContextOf(tenant, grant), { type: noun.name, filter: withId(id), limit: 1, total: false }).results.length >
    0
  )
}
