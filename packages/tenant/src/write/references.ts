import {
  ANY_TYPE,
  type ForwardField,
  type Issue,
  invalid,
  type Json,
  type JsonObject,
  type Noun,
  type Nouns,
  Problem,
  sameJson,
  targetText,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { type Grant, isNarrowed, may } from '../grant/grant.ts'
import type { Sql } from '../ports.ts'
import { isVisible } from '../query/rights/visible-entity.ts'
import { exists } from '../store/entities.ts'
import type { VerbRequest } from './verb-request.ts'
import type { Write } from './write.ts'

/** The problem of an entity that is valid but for references to entities that do not exist. */
export class MissingReferences extends Problem {
  /** The fields that hold them. */
  readonly fields: readonly string[]

  constructor(noun: Noun, issues: readonly Issue[]) {
    const { code, message, about } = invalid(noun.name, issues)
    super(code, message, about)
    this.fields = issues.map(({ field }) => field)
  }
}

/**
 * References to entities that do not exist, or that a narrowed grant does not see: both have the same answer. One that is
 * stored already may dangle: its target was deleted since.
 */
export function missingReferences(
  { sql, engine, grant }: Write,
  noun: Noun,
  data: JsonObject,
  { pendingIds }: VerbRequest,
  before: JsonObject = {},
): Issue[] {
  const issues: Issue[] = []
  for (const field of relationsOf(noun)) {
    const { name } = field
    const value = Object.hasOwn(data, name) ? data[name]! : null
    if (value === null || sameJson(value, before[name] ?? null)) continue
    const known = new Set(idsIn(before[name] ?? null))
    for (const id of idsIn(value)) {
      if (pendingIds?.has(id)) continue
      const target = targetOf(sql, field, id, engine.nouns)
      if (target !== null && (known.has(id) || sees(engine, grant, field, target, id))) continue
      issues.push({ field: name, message: `there is no ${targetText(field)} ${id}` })
    }
  }
  return issues
}

/** Whether an entity exists that a relation may point to. */
export function isThere(sql: Sql, field: ForwardField, id: string, nouns: Nouns): boolean {
  return targetOf(sql, field, id, nouns) !== null
}

/** The type of the entity that a relation points to, or null when there is none. The id of one of any type names its type. */
function targetOf(sql: Sql, { target, targets }: ForwardField, id: string, nouns: Nouns): string | null {
  if (targets) return targets.find((one) => exists(sql, one, id)) ?? null
  if (target !== ANY_TYPE) return exists(sql, target, id) ? target : null
  const noun = nouns.all.find(({ prefix, storage }) => storage === 'entity' && id.startsWith(`${prefix}_`))
  return noun !== undefined && exists(sql, noun.name, id) ? noun.name : null
}

/** The fields that refer to entities which a grant does not see. */
export function unseenReferences(engine: Engine, grant: Grant, noun: Noun, data: JsonObject): string[] {
  const isUnseen = (field: ForwardField) =>
    Object.hasOwn(data, field.name) &&
    idsIn(data[field.name]!).some((id) => {
      const target = targetOf(engine.sql, field, id, engine.nouns)
      return target !== null && !sees(engine, grant, field, target, id)
    })
  return isNarrowed(grant)
    ? relationsOf(noun)
        .filter(isUnseen)
        .map(({ name }) => name)
    : []
}

/** Whether a grant sees an entity that there is: most grants see all of a type. */
function sees(engine: Engine, grant: Grant, { target: declared }: ForwardField, target: string, id: string): boolean {
  const noun = engine.noun(target)
  // A grant that is narrowed to the comments about what it may read does not learn which other ids there are.
  if (declared === ANY_TYPE && isNarrowed(grant) && !may(grant, 'read', noun)) return false
  return !Object.hasOwn(grant.rows, target) || isVisible(engine, grant, noun, id)
}

function idsIn(value: Json): readonly string[] {
  if (value === null) return []
  return Array.isArray(value) ? value.map(String) : [String(value)]
}

const relations = new WeakMap<Noun, readonly ForwardField[]>()

function relationsOf(noun: Noun): readonly ForwardField[] {
  const known = relations.get(noun)
  if (known) return known
  const found = Object.values(noun.fields).filter((field) => field.kind === 'forward')
  relations.set(noun, found)
  return found
}
