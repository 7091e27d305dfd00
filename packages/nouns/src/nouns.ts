import { checkComputed, withComputedKinds } from './expression/computed.ts'
import { nearest } from './nearest.ts'
import { ANY_TYPE, type Noun, pointsTo } from './noun.ts'
import { type Issue, Problem } from './problem.ts'

/** The types of a tenant. */
export interface Nouns {
  readonly all: readonly Noun[]
  /** A type by its name or its plural path; paths are not case-sensitive. */
  get(nameOrPath: string): Noun | undefined
  /** A type by its name in any case, as patterns of events name it. */
  named(name: string): Noun | undefined
  /** The names of the types most similar to `word`. */
  nearest(word: string): string[]
  /** These types and one more, which replaces one of the same name. */
  with(noun: Noun): Nouns
}

/** A set of types. Two types with the same name, path or id prefix are refused. */
export function nounsOf(list: Iterable<Noun>): Nouns {
  const all = withComputedKinds([...list])
  refuseClashes(all)
  const known = new Map<string, Noun>()
  for (const noun of all) known.set(noun.path, noun)
  for (const noun of all) known.set(noun.name, noun)
  const named = new Map(all.toReversed().map((noun) => [noun.name.toLowerCase(), noun]))
  return {
    all,
    get: (nameOrPath) => known.get(nameOrPath) ?? known.get(nameOrPath.toLowerCase()),
    named: (name) => named.get(name.toLowerCase()),
    nearest: (word) => [...new Set(nearest(word, known.keys(), 6).map((found) => known.get(found)!.name))].slice(0, 3),
    with: (noun) => nounsOf([...all.filter(({ name }) => name !== noun.name), noun]),
  }
}

/** The errors of relations and computed fields: unknown names, and fields that depend on themselves. */
export function checkRelations(nouns: Nouns): Issue[] {
  const issues: Issue[] = []
  for (const noun of nouns.all) {
    for (const field of Object.values(noun.fields)) {
      if (field.kind !== 'forward' && field.kind !== 'back') continue
      const at = `${noun.name}.${field.name}`
      const names = field.kind === 'forward' && field.targets ? field.targets : [field.target]
      const unknown = names.find((name) => name !== ANY_TYPE && byName(nouns, name) === undefined)
      const target = byName(nouns, field.target)
      if (unknown !== undefined) {
        const near = nouns.nearest(unknown)
        const hint = near.length > 0 ? `; did you mean ${near[0]}?` : ''
        issues.push({ field: at, message: `points to ${unknown}, which is not a known type${hint}` })
      } else if (field.kind === 'back' && target) {
        const via = Object.hasOwn(target.fields, field.via) ? target.fields[field.via] : undefined
        if (via?.kind !== 'forward' || !pointsTo(via, noun.name)) {
          issues.push({
            field: at,
            message: `is the inverse of ${field.target}.${field.via}, which does not point to ${noun.name}`,
          })
        }
      }
    }
  }
  return [...issues, ...checkComputed(nouns.all, nouns)]
}

function byName(nouns: Nouns, name: string): Noun | undefined {
  const found = nouns.get(name)
  return found?.name === name ? found : undefined
}

function refuseClashes(all: readonly Noun[]): void {
  const taken = new Map<string, Noun>()
  const details: Issue[] = []
  for (const noun of all) {
    for (const key of [`name ${noun.name}`, `path ${noun.path}`, `id prefix ${noun.prefix}_`]) {
      const other = taken.get(key)
      if (other) details.push({ field: noun.name, message: `has the ${key}, which ${other.name} already uses` })
      else taken.set(key, noun)
    }
  }
  if (details.length === 0) return
  const list = details.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new Problem('invalid_schema', `These types conflict. ${list}.`, { details })
}
