import type { JsonObject } from '@tildebase/nouns'
import { partsOf } from '../authorship/parts.ts'
import { type Authorship, inherit } from '../authorship/stored.ts'
import { type Engine, formOf } from '../engine/engine.ts'
import { ALL, parseScopes } from '../grant/scopes.ts'
import { mustInherit, setInherit } from '../store/automation/authors.ts'
import { storedHooks } from '../store/automation/hooks.ts'
import { openDefinitions } from '../store/automation/workflow-runs.ts'
import { storedWorkflows, workflowRow } from '../store/automation/workflows.ts'
import { currentOf } from '../store/entities.ts'
import { readEntry } from '../store/log/log.ts'
import { receivers } from '../store/outgoing/receivers.ts'
import { hookForm, hookThing } from '../write/stored-hooks.ts'
import { rightsOf } from './identity/roles.ts'
import { areaOf } from './keys.ts'
import { schemaId } from './types/schema.ts'
import { webhookForm, webhookThing } from './webhooks/author.ts'
import { behaviourOf, workflowThing } from './workflows/author.ts'

/** Actors that can store something. Every other actor in the log wrote for the service: timers, hooks, workflows, the system. */
const CALLERS = /^(apiKey_|user_|agent_|operator$|signup$)/

type Rights = Authorship['grant']

/**
 * Writes down the authors of what an earlier version stored. Hooks, workflows and webhooks keep the rights that were kept
 * with them, if a caller left them there; otherwise they have those of their creator. Timers and computed fields have the
 * rights of the last caller who declared the type. Rights of a key or a person are those that they have now, or had last.
 */
export function inheritAuthors(engine: Engine): void {
  const { sql } = engine
  if (!mustInherit(sql)) return
  sql.transaction(() => {
    inheritHooks(engine)
    inheritWorkflows(engine)
    inheritWebhooks(engine)
    inheritParts(engine)
    setInherit(sql, false)
  })
  for (const type of ['Hook', formOf('Workflow'), 'Webhook', 'Schema']) engine.cache.forget(type)
}

function inheritHooks(engine: Engine): void {
  for (const hook of storedHooks(engine.sql)) {
    const data = dataOf(engine, 'Hook', hook.id)
    const kept = data.grant as unknown as (Rights & { readonly actor?: string }) | null | undefined
    const author = kept?.actor
      ? { actor: kept.actor, grant: { scopes: kept.scopes, rows: kept.rows } }
      : lastCaller(engine, 'Hook', hook.id)
    if (author) inherit(engine, hookThing(hook), hookForm(hook), author)
  }
}

function inheritWorkflows(engine: Engine): void {
  for (const { id, data } of storedWorkflows(engine.sql)) {
    const row = workflowRow(engine.sql, id)
    const author = keptWith(engine, row?.rights, row?.seq) ?? creatorOf(engine, 'Workflow', id)
    if (!author) continue
    inherit(engine, workflowThing(id), behaviourOf(JSON.parse(data) as JsonObject), author)
    for (const { behaviour, rights } of openDefinitions(engine.sql, id)) {
      if (rights) inherit(engine, workflowThing(id), behaviourOf(behaviour), author)
    }
  }
}

function inheritWebhooks(engine: Engine): void {
  for (const { id, sees } of receivers(engine.sql)) {
    const kept = sees === '' ? null : (JSON.parse(sees) as Rights & { readonly actor?: string })
    const actor = kept?.actor ?? currentOf(engine.sql, 'Webhook', id)?.createdBy
    const author = kept && actor ? { actor, grant: { scopes: kept.scopes, rows: kept.rows } } : null
    if (author) inherit(engine, webhookThing(id), webhookForm(dataOf(engine, 'Webhook', id)), author)
  }
}

function inheritParts(engine: Engine): void {
  for (const noun of engine.nouns.all) {
    const author = lastCaller(engine, 'Schema', schemaId(noun.name))
    if (!author) continue
    for (const { thing, form } of partsOf(engine.nouns, noun)) inherit(engine, thing, form, author)
  }
}

/** The author whose rights an earlier version kept with an event, if that event was a caller's. */
function keptWith(engine: Engine, rights: string | undefined, seq: number | undefined): Authorship | null {
  const event = rights && seq !== undefined ? readEntry(engine.sql, seq) : undefined
  if (!event || !CALLERS.test(event.actor)) return null
  const { scopes, rows } = JSON.parse(rights!) as Rights
  return { ...authorIn(event), grant: { scopes, rows } }
}

function creatorOf(engine: Engine, type: string, id: string): Authorship | null {
  const actor = currentOf(engine.sql, type, id)?.createdBy
  const grant = actor === undefined ? null : grantOf(engine, actor)
  return actor !== undefined && grant ? { actor, grant } : null
}

/** The caller of the newest event of an entity, with the rights that it has now; its creator where that was the service. */
function lastCaller(engine: Engine, type: string, id: string): Authorship | null {
  const current = currentOf(engine.sql, type, id)
  const event = current && readEntry(engine.sql, current.seq)
  const author = event && CALLERS.test(event.actor) ? authorIn(event) : null
  const grant = author && grantOf(engine, author.onBehalfOf ?? author.actor)
  return author && grant ? { ...author, grant } : creatorOf(engine, type, id)
}

function authorIn({ actor, onBehalfOf }: { readonly actor: string; readonly onBehalfOf: string | null }) {
  return { actor, ...(onBehalfOf !== null && actor.startsWith('agent_') && { onBehalfOf }) }
}

/** The rights of a key or a person, also of one that has ended; null when they cannot be known. */
function grantOf(engine: Engine, actor: string): Rights | null {
  if (actor === 'operator' || actor === 'signup') return { scopes: ALL, rows: {} }
  if (actor.startsWith('user_')) {
    const { role, email } = dataOf(engine, 'User', actor)
    return rightsOf(engine, role, { id: actor, email: typeof email === 'string' ? email : '' })
  }
  if (!actor.startsWith('apiKey_')) return null
  const { scopes = '', filter = {} } = dataOf(engine, 'ApiKey', actor)
  return { scopes: parseScopes(String(scopes), (area) => areaOf(engine, area)).scopes, rows: filter as JsonObject }
}

function dataOf({ sql }: Engine, type: string, id: string): JsonObject {
  const current = currentOf(sql, type, id)
  return current ? (JSON.parse(current.data) as JsonObject) : {}
}
