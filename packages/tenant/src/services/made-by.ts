import type { JsonObject, Verb } from '@tildebase/nouns'
import { authoredParts, endParts } from '../authorship/parts.ts'
import { type Authored, holderOf, type Kind } from '../authorship/stored.ts'
import type { Engine } from '../engine/engine.ts'
import { storedBy } from '../store/automation/authors.ts'
import { connectedOf, dropConnected } from '../store/automation/integrations.ts'
import { openRuns } from '../store/automation/workflow-runs.ts'
import { createdBy, currentOf } from '../store/entities.ts'
import { authoredHook } from '../write/stored-hooks.ts'
import { applyVerb } from '../write/verb.ts'
import type { Write } from '../write/write.ts'
import { authoredCall } from './agents/author.ts'
import { authoredIntegration } from './integrations/author.ts'
import { authoredWebhook } from './webhooks/author.ts'
import { authoredWorkflow, currentWorkflow } from './workflows/author.ts'
import { end, PAUSE } from './workflows/end.ts'

/** What continues with the rights of a key or a person after their access has ended, by ids. */
export interface MadeBy {
  readonly webhooks: readonly string[]
  readonly hooks: readonly string[]
  readonly workflows: readonly string[]
  readonly integrations: readonly string[]
  readonly agents: readonly string[]
  /** As `Type.name`. */
  readonly timers: readonly string[]
  readonly computed: readonly string[]
  readonly apiKeys: readonly string[]
}

/** Verbs of the service's own, which no client can name. */
const SUSPEND: Verb = { name: 'suspend', before: 'suspending', event: 'suspended', set: { suspended: true } }
const DISCONNECT: Verb = {
  name: 'disconnect',
  before: 'disconnecting',
  event: 'disconnected',
  set: { status: 'Disconnected' },
}

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
      return isOf(maker, stored)
    })
  const parts = (kind: Kind, working: ReadonlyMap<string, Authored<unknown>>) =>
    storedBy(sql, kind, maker).filter((id) => isOf(maker, working.get(id) ?? null))
  return {
    webhooks: held('webhook', 'Webhook', (id, data) => authoredWebhook(engine, id, data)),
    hooks: held('hook', 'Hook', (id, data) => authoredHook(engine, { id, ...(data as unknown as HookData) })),
    workflows: held('workflow', 'Workflow', (id, data) => authoredWorkflow(engine, id, data)),
    integrations: held('integration', 'Integration', (id) =>
      connectedOf(sql, id) === null ? null : authoredIntegration(engine, id),
    ),
    agents: held('agent', 'Agent', (id, data) => authoredCall(engine, id, data)),
    timers: parts('timer', authoredParts(engine).timers),
    computed: parts('computed', authoredParts(engine).computed),
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

/**
 * Suspends webhooks, hooks, workflows and agents, disconnects integrations, and ends the runs that would continue. Timers and
 * computed fields end until another caller declares them.
 */
export function suspend(write: Write, maker: string, made: MadeBy): void {
  const { webhooks, hooks, workflows, agents, integrations, timers, computed } = made
  const run = (type: string, ids: readonly string[], internalVerb: Verb) => {
    for (const id of ids) applyVerb(write, { type, verb: internalVerb.name, id, internalVerb })
  }
  run('Webhook', webhooks, SUSPEND)
  run('Hook', hooks, SUSPEND)
  run('Workflow', workflows, PAUSE)
  run('Agent', agents, PAUSE)
  run('Integration', integrations, DISCONNECT)
  for (const id of integrations) dropConnected(write.sql, id)
  endRuns(write, maker)
  endParts(write, 'timer', timers, maker)
  endParts(write, 'computed', computed, maker)
}

/** A retry runs while its workflow is paused, and a run continues with its definition after another caller has stored one. */
function endRuns(write: Write, maker: string): void {
  const { engine, sql } = write
  for (const id of storedBy(sql, 'workflow', maker)) {
    const isPaused = isOf(maker, currentWorkflow(engine, id))
    for (const run of openRuns(sql, id)) {
      const behaviour = run.definition?.behaviour
      const isMine = behaviour ? isOf(maker, authoredWorkflow(engine, id, behaviour)) : isPaused
      if (isMine && (run.trigger === 'retry' || !isPaused)) end(write, run, 'Cancelled', 'Its author was suspended.')
    }
  }
}

function isOf(maker: string, stored: Authored<unknown> | null): boolean {
  return stored !== null && holderOf(stored.author) === maker
}

function isWorking(data: string): boolean {
  const { status, suspended } = JSON.parse(data) as { status?: string; suspended?: boolean }
  return suspended !== true && !['Revoked', 'Expired', 'Paused', 'Archived'].includes(status ?? '')
}
