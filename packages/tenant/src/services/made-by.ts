import type { Verb } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { createdBy } from '../store/entities.ts'
import { applyVerb } from '../write/verb.ts'
import type { Write } from '../write/write.ts'

/** What a key or a person made that continues after their access has ended, by ids. */
export interface MadeBy {
  readonly webhooks: readonly string[]
  readonly hooks: readonly string[]
  readonly workflows: readonly string[]
  readonly apiKeys: readonly string[]
}

/** Verbs of the service's own, which no client can name. */
const SUSPEND: Verb = { name: 'suspend', before: 'suspending', event: 'suspended', set: { suspended: true } }
export const PAUSE_WORKFLOW: Verb = { name: 'pause', before: 'pausing', event: 'paused', set: { status: 'Paused' } }

/** What a key or a person made and what still works. */
export function madeBy({ sql }: Engine, maker: string): MadeBy {
  const made = createdBy(sql, maker, ['Webhook', 'Hook', 'Workflow', 'ApiKey'])
  const ids = (type: string) => made.filter((one) => one.type === type && isWorking(one.data)).map(({ id }) => id)
  return { webhooks: ids('Webhook'), hooks: ids('Hook'), workflows: ids('Workflow'), apiKeys: ids('ApiKey') }
}

/** Suspends webhooks, hooks and workflows. */
export function suspend(write: Write, { webhooks, hooks, workflows }: MadeBy): void {
  const run = (type: string, ids: readonly string[], internalVerb: Verb) => {
    for (const id of ids) applyVerb(write, { type, verb: internalVerb.name, id, internalVerb })
  }
  run('Webhook', webhooks, SUSPEND)
  run('Hook', hooks, SUSPEND)
  run('Workflow', workflows, PAUSE_WORKFLOW)
}

function isWorking(data: string): boolean {
  const { status, suspended } = JSON.parse(data) as { status?: string; suspended?: boolean }
  return suspended !== true && !['Revoked', 'Expired', 'Paused', 'Archived'].includes(status ?? '')
}
