import { invalid, isComputed, type Json, type JsonObject, type Noun, Problem, pointsTo } from '@tildebase/nouns'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { type Current, currentOf } from '../../store/entities.ts'
import { referrers } from '../../store/related.ts'
import { runVerb } from '../../write/run-verb.ts'
import { applyVerb, notFound } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'

/** References that one merge moves at most: it is one transaction. */
const MOST = 10_000

/**
 * Merges an entity into another of its type: what refers to it refers to the other, whose empty fields it fills, and it
 * is deleted. All of it or nothing, under one correlation. Returns the other.
 */
export function mergeContact(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const correlated = write.within({ correlation: write.context.correlation ?? write.newId('merge') })
    const source = liveOf(write, request.type, request.id ?? '')
    const noun = write.engine.noun(request.type)
    const target = targetOf(write, noun, source, request)
    const { event } = applyVerb(correlated, request)
    moveReferences(correlated, noun.name, source.id, target.id)
    runVerb(correlated, { type: noun.name, verb: 'delete', id: source.id })
    const data = missingIn(noun, JSON.parse(source.data), liveOf(write, noun.name, target.id))
    const { entity } = runVerb(correlated, { type: noun.name, verb: 'update', id: target.id, data })
    return { entity, event }
  })
}

function targetOf(write: Write, noun: Noun, source: Current, { data }: VerbRequest): Current {
  const into = (data as JsonObject | undefined)?.into
  const target = typeof into === 'string' ? currentOf(write.sql, noun.name, into) : undefined
  const isThere =
    target && !target.deleted && isVisible(write.engine, write.grant, noun, target.id, write.context.budget)
  if (isThere && target.id !== source.id) return target
  const message = target?.id === source.id ? `is this ${noun.name} itself` : `must be the id of another ${noun.name}`
  throw invalid(noun.name, [{ field: 'into', message }])
}

/** Lets everything that names one entity name the other, with the rights of the write. */
function moveReferences(write: Write, type: string, from: string, to: string): void {
  const { engine, context } = write
  for (const noun of engine.nouns.all) {
    for (const field of Object.values(noun.fields)) {
      const number =
        field.kind === 'forward' && pointsTo(field, type) ? engine.fieldNumber(noun.name, field.name) : null
      if (number === null) continue
      const ids = referrers(write.sql, number, [from], MOST + 1)
      if (ids.length > MOST) throw tooMany(noun.name)
      context.budget.spendRows(ids.length)
      for (const id of ids) if (id !== from) moveIn(write, noun.name, id, field.name, from, to)
    }
  }
}

function moveIn(write: Write, type: string, id: string, field: string, from: string, to: string): void {
  write.context.budget.checkTime()
  const value = JSON.parse(liveOf(write, type, id).data)[field] as Json
  // What would name itself names nothing.
  const moved = (one: Json) => (one === from ? (id === to ? null : to) : one)
  const list = Array.isArray(value) ? value.map((one) => moved(one as Json)).filter((one) => one !== null) : null
  const data = { [field]: list ? [...new Set(list)] : moved(value) }
  try {
    runVerb(write, { type, verb: 'update', id, data })
  } catch (reason) {
    if (!(reason instanceof Problem) || reason.code !== 'not_found') throw reason
    throw new Problem('forbidden', `Nothing was merged: this key may not change all entities that refer to it.`)
  }
}

/** The fields that one entity has and the other lacks. */
function missingIn(noun: Noun, source: JsonObject, { data, id }: Current): JsonObject {
  const target = JSON.parse(data) as JsonObject
  const isFilling = (field: string, value: Json) => {
    const declared = Object.hasOwn(noun.fields, field) ? noun.fields[field] : undefined
    const isService = declared !== undefined && 'service' in declared && declared.service
    return (target[field] ?? null) === null && value !== id && !isService && !isComputed(declared)
  }
  return Object.fromEntries(Object.entries(source).filter(([field, value]) => isFilling(field, value)))
}

function liveOf({ sql }: Write, type: string, id: string): Current {
  const current = currentOf(sql, type, id)
  if (!current || current.deleted) throw notFound(type, id)
  return current
}

function tooMany(type: string): Problem {
  return new Problem('over_budget', `More than ${MOST} entities of ${type} refer to it. Move them in parts first.`, {
    type,
    limit: 'rows',
  })
}
