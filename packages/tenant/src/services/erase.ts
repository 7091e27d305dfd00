import { type Noun, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { currentOf } from '../store/entities.ts'
import { eraseValues } from '../store/erase.ts'
import { applyVerb, notFound, type VerbResult } from '../write/verb.ts'

/** Types whose entities say how the service works: they hold no person, and must stay whole. */
const KEPT = new Set(['ApiKey', 'Webhook'])

/** Erases an entity for good: state, versions, log, texts. It is deleted first, so that everybody hears of it. */
export function erase(tenant: Engine, target: Noun, id: string, actor: string, reason: string | null): VerbResult {
  if (KEPT.has(target.name)) {
    throw new Problem('validation_error', `A ${target.name} cannot be erased; delete it instead.`, {
      type: target.name,
      id,
    })
  }
  const current = target.name === 'Event' ? null : currentOf(tenant.sql, target.name, id)
  if (current === undefined || (current === null && !tenant.hasEvent(id))) throw notFound(target.name, id)
  if (current && !current.deleted) applyVerb(tenant, { type: target.name, verb: 'delete', id, actor })
  const events = eraseValues(tenant.sql, target.name, id, current?.ordinal ?? null)
  tenant.cache.forget(target.name)
  const data = { type: target.name, entity: id, events, ...(reason !== null && { reason }) }
  return applyVerb(tenant, { type: 'Erasure', verb: 'create', data, actor })
}
