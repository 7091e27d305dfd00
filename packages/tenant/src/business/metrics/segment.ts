import { invalid, isPlainObject, type JsonObject, Problem } from '@tildebase/nouns'
import { demand } from '../../grant/grant.ts'
import { count } from '../../query/answer/find.ts'

import { askedFilter } from '../../query/parameters/parameters.ts'
import { readContextOf } from '../../query/read-context.ts'
import { currentOf } from '../../store/entities.ts'
import { applyVerb, notFound } from '../../write/verb.ts'
import type { VerbRequest, VerbResult } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'

/** Counts the members of a Segment again. No criteria mean every Contact. */
export function refreshSegment(write: Write, request: VerbRequest): VerbResult {
  const known = currentOf(write.sql, 'Segment', request.id ?? '')
  if (!known || known.deleted) throw notFound('Segment', request.id ?? '')
  const state = { ...JSON.parse(known.data), ...(isPlainObject(request.data) ? request.data : {}) } as JsonObject
  return applyVerb(write, { ...request, serviceFields: { memberCount: members(write, state.criteria) } })
}

function members({ engine, grant, context }: Write, criteria: unknown): number {
  const { type, filter } = criteriaOf(criteria)
  try {
    const noun = engine.noun(type)
    demand(grant, 'read', noun)
    const asked = askedFilter(engine, grant, noun, filter)
    return count(readContextOf(engine, grant, context.budget), { type: noun.name, filter: asked })
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
