import type { JsonObject, Verb } from '@tildebase/nouns'
import { type Authored, holderOf, type Kind } from '../authorship/stored.ts'
import type { Engine } from '../engine/engine.ts'
import { storedBy } from '../store/automation/authors.ts'
import { createdBy, currentOf } from '../store/entities.ts'
import { authoredHook } from '../write/stored-hooks.ts'
import { applyVerb } from '../write/verb.ts'
import type { Write } from '../write/write.ts'
import { authoredWebhook } from './webhooks/author.ts'
import { authoredWorkflow } from './workflows/author.ts'

/** What continues with the rights of a key or a person after their access has ended, by ids. */
export interface MadeBy {
  readonly webhooks: readonly string[]
  readonly hooks: readonly string[]
  readonly workflows: readonly string[]
  readonly apiKeys: readonly string[]
}

/** Verbs of the service's own, which no client can name. */
const SUSPEND: Verb = { name: 'suspend', before: 'suspending', event: 'suspended', set: { suspended: true } }
export const PAUSE_WORKFLOW: Verb = { name: 'pause', before: 'pausing', event: 'paused', set: { status: 'Paused' } }

/**
 * What still works with the rights of a key or a person: what they stored, or their agents did, and no other caller has
 * stored since. Of API keys those that they created, since they have seen the secret.
 */
export function madeBy(engine: Engine, maker: string): MadeBy {
  const { sql } = engine
  const held = (kind: Kind, type: string, authorOf: (id: string, data: JsonObject) => Authored<unknown> | null) =>
    storedBy(sql, kind, maker).filter((id) => {
      const current = currentOf(sql, type, id)
      if (!current || current.deleted || !isWorking(current.data)) return false
      const stored = authorOf(id, JSON.parse(current.data) as JsonObject)
      return stored !== null && holderOf(stored.author) === maker
    })
  return {
    webhooks: held('webhook', 'Webhook', (id, data) => authoredWebhook(engine, id, data)),
    hooks: held('hook', 'Hook', (id, data) => authoredHook(engine, { id, ...(data as unknown as HookData) })),
    workflows: held('workflow', 'Workflow', (id, data) => authoredWorkflow(engine, id, data)),
    apiKeys: createdBy(sql, maker, ['ApiKey'])
      .filter(({ data }) => isWorking(data))
      .map(({ id }) => id),
  }
}

interface HookData {
  readonly type: string
  readonly name: string
  readonly code: string
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
