import { invalid, isPlainObject, type JsonObject, Problem } from '@tildebase/nouns'
import { type Act, act, type Done, notFound } from '../act/act.ts'
import { filterOf } from '../filter.ts'
import { demand, type Grant } from '../keys/grant.ts'
import { count } from '../query/find.ts'
import { reachable, readerOf } from '../read.ts'
import { currentOf } from '../store/entities.ts'
import type { Tenant } from '../tenant.ts'

/** Counts the members of a Segment anew. No criteria mean every Contact. */
export function refreshSegment(tenant: Tenant, grant: Grant, ask: Act): Done {
  const known = currentOf(tenant.sql, 'Segment', ask.id ?? '')
  if (!known || known.gone) throw notFound('Segment', ask.id ?? '')
  const state = { ...JSON.parse(known.data), ...(isPlainObject(ask.data) ? ask.data : {}) } as JsonObject
  return act(tenant, { ...ask, service: { memberCount: members(tenant, grant, state.criteria) } })
}

function members(tenant: Tenant, grant: Grant, criteria: unknown): number {
  const { type, filter } = criteriaOf(criteria)
  try {
    const noun = tenant.noun(type)
    demand(grant, 'read', noun)
    const asked = reachable(tenant, grant, filterOf(tenant, noun, filter))
    return count(readerOf(tenant, grant), { type: noun.name, filter: asked })
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
