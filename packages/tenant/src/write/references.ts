import { type ForwardField, type Issue, invalid, type JsonObject, type Noun, Problem, sameJson } from '@tildebase/nouns'
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
  { sql }: Write,
  noun: Noun,
  data: JsonObject,
  { pendingIds }: VerbRequest,
  before: JsonObject = {},
): Issue[] {
  const issues: Issue[] = []
  for (const { name, target } of relationsOf(noun)) {
    const value = Object.hasOwn(data, name) ? data[name]! : null
    if (value === null || sameJson(value, before[name] ?? null)) continue
    for (const id of Array.isArray(value) ? value : [value]) {
      if (pendingIds?.has(String(id)) || exists(sql, target, String(id))) continue
      issues.push({ field: name, message: `there is no ${target} ${id}` })
    }
  }
  return issues
}

const relations = new WeakMap<Noun, readonly ForwardField[]>()

function relationsOf(noun: Noun): readonly ForwardField[] {
  const known = relations.get(noun)
  if (known) return known
  const found = Object.values(noun.fields).filter((field) => field.kind === 'forward')
  relations.set(noun, found)
  return found
}
