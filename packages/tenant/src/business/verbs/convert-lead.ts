import { invalid, isPlainObject, type Json, type JsonObject } from '@tildebase/nouns'
import { currentOf } from '../../store/entities.ts'
import { runVerb } from '../../write/run-verb.ts'
import { applyVerb, notFound } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'

/**
 * Converts a Lead: its Organization, Contact and Deal are each named by an id, created from an object, or those that it
 * has. All of it or nothing, under one correlation.
 */
export function convertLead(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const correlated = write.within({ correlation: write.context.correlation ?? write.newId('convert') })
    const current = currentOf(write.sql, 'Lead', request.id ?? '')
    if (!current || current.deleted) throw notFound('Lead', request.id ?? '')
    const lead = JSON.parse(current.data) as JsonObject
    const given = isPlainObject(request.data) ? (request.data as JsonObject) : {}
    const about = { name: lead.name ?? null }
    const link = (field: string, type: string, more: JsonObject) =>
      linked(correlated, field, type, given[field] ?? null, { ...about, ...more }) ?? lead[field] ?? null
    const organization = link('organization', 'Organization', {})
    const contact = link('contact', 'Contact', filled({ organization, source: lead.source ?? null }))
    const deal = link('deal', 'Deal', filled({ organization, contact, source: lead.source ?? null }))
    return applyVerb(correlated, { ...request, serviceFields: { organization, contact, deal } })
  })
}

/** The id of what a part of the request names or describes; null when it is absent. */
function linked(write: Write, field: string, type: string, given: Json, about: JsonObject): string | null {
  if (given === null || typeof given === 'string') return given
  if (isPlainObject(given)) {
    return runVerb(write, { type, verb: 'create', data: { ...about, ...(given as JsonObject) } }).entity.id
  }
  throw invalid('Lead', [{ field, message: `must be the id of a ${type}, or an object to create one from` }])
}

function filled(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
