import {
  ANY_TYPE,
  type ForwardField,
  type Issue,
  invalid,
  type JsonObject,
  type Noun,
  type Nouns,
  Problem,
  sameJson,
  targetText,
} from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
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

/** References to entities that do not exist. One that is stored already may dangle: its target was deleted since. */
export function missingReferences(
  { sql, engine: { nouns } }: Write,
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
    for (const id of Array.isArray(value) ? value : [value]) {
      if (pendingIds?.has(String(id)) || isThere(sql, field, String(id), nouns)) continue
      issues.push({ field: name, message: `there is no ${targetText(field)} ${id}` })
    }
  }
  return issues
}

/** Whether an entity exists that a relation may point to. The id of one of any type names its type. */
export function isThere(sql: Sql, field: ForwardField, id: string, nouns: Nouns): boolean {
  if (field.targets) return field.targets.some((target) => exists(sql, target, id))
  if (field.target !== ANY_TYPE) return exists(sql, field.target, id)
  const noun = nouns.all.find(({ prefix, storage }) => storage === 'entity' && id.startsWith(`${prefix}_`))
  return noun !== undefined && exists(sql, noun.name, id)
}

const relations = new WeakMap<Noun, readonly ForwardField[]>()

function relationsOf(noun: Noun): readonly ForwardField[] {
  const known = relations.get(noun)
  if (known) return known
  const found = Object.values(noun.fields).filter((field) => field.kind === 'forward')
  relations.set(noun, found)
  return found
}
