import { invalid, isPlainObject, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant } from '../grant/grant.ts'
import { filterOf } from '../query/filter.ts'
import { count } from '../query/find.ts'
import { demandReachable, readContextOf } from '../query/parameters.ts'
import { currentOf } from '../store/entities.ts'
import { applyVerb, notFound, type VerbRequest, type VerbResult } from '../write/verb.ts'

/** Counts the members of a Segment anew. No criteria mean every Contact. */
export function refreshSegment(tenant: Engine, grant: Grant, ask: VerbRequest): VerbResult {
  const known = currentOf(tenant.sql, 'Segment', ask.id ?? '')
  if (!known || known.deleted) throw notFound('Segment', ask.id ?? '')
  const state = { ...JSON.parse(known.data), ...(isPlainObject(ask.data) ? ask.data : {}) } as JsonObject
  return applyVerb(tenant, { ...ask, serviceFields: { memberCount: members(tenant, grant, state.criteria) } })
}

function members(tenant: Engine, grant: Grant, criteria: unknown): number {
  const { type, filter } = criteriaOf(criteria)
  try {
    const noun = tenant.noun(type)
    demand(grant, 'read', noun)
    const asked = demandReachable(tenant, grant, filterOf(tenant, noun, filter))
    return count(readContextOf(tenant, grant), { type: noun.name, filter: asked })
  } catch (reason) {
    if (!(reason instanceof Problem) || reason.code === 'forbidden') throw reason
    throw invalid('Segment', [{ field: 'criteria', message: reason.message }])
  }
}

/** `{"type": "Lead", "filter": {…}}`, or a filter on Contact, as JSON text. */
function criteriaOf(criteria: unknown): { type: string; filter: unknown } {
  if (criteria === undefined || criteria === null || criteria === '') return { type: 'Contact', filter: {} }
  const given = typeof criteria === 'string' ? parsed(criteria) : criteria
  if (!isPlainObject(given)) {
    throw invalid('Segment', [
      { field: 'criteria', message: 'must be JSON: a filter on Contact, or {"type": "Lead", "filter": {…}}' },
    ])
  }
  const { type, filter } = given
  return typeof type === 'string' && isPlainObject(filter) ? { type, filter } : { type: 'Contact', filter: given }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
