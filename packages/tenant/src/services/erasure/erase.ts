import { type Noun, Problem } from '@tildebase/nouns'
import { demand, demandArea } from '../../grant/grant.ts'
import { isSeen } from '../../query/rights/visible-entity.ts'
import { currentOf } from '../../store/entities.ts'
import { eraseValues } from '../../store/log/erase.ts'
import { applyVerb, notFound } from '../../write/verb.ts'
import type { VerbResult } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'
import { eraseFromChangesets } from '../changesets/erase.ts'

/** Types that configure the service: they hold no personal data, and cannot be erased. */
const KEPT = new Set(['ApiKey', 'Webhook', 'Changeset'])

/** Erases an entity permanently: state, versions, log, texts. It is deleted first, so that every follower receives that. */
export function erase(given: Write, target: Noun, id: string, reason: string | null): VerbResult {
  const write = given.within({ ignoresQuota: true })
  const { engine, grant } = write
  demand(grant, 'admin', target)
  demandArea(grant, 'admin', 'platform')
  if (KEPT.has(target.name)) {
    throw new Problem('validation_error', `A ${target.name} cannot be erased; delete it instead.`, {
      type: target.name,
      id,
    })
  }
  if (!isSeen(engine, grant, target, id, write.context.budget)) throw notFound(target.name, id)
  const current = target.storage === 'log' ? null : currentOf(engine.sql, target.name, id)!
  if (current && !current.deleted) applyVerb(write, { type: target.name, verb: 'delete', id })
  eraseFromChangesets(write, id)
  const events = eraseValues(engine.sql, engine.ports.seal, target.name, id, current?.ordinal ?? null)
  engine.cache.forget(target.name)
  // The bytes of its files are removed after the commit.
  write.wakeAt(write.context.clock.now())
  const data = { type: target.name, entity: id, events, ...(reason !== null && { reason }) }
  return applyVerb(write, { type: 'Erasure', verb: 'create', data })
}
