import {
  type ComputedField,
  computedFields,
  type Hop,
  type Noun,
  type Nouns,
  type Path,
  pathsOf,
  resolvePath,
} from '@tildebase/nouns'
import { authoredParts } from '../authorship/parts.ts'
import { act } from '../authorship/stored.ts'
import type { Engine } from '../engine/engine.ts'

/** A computed field with the paths that it reads, resolved. */
interface Computation {
  readonly field: ComputedField
  readonly paths: ReadonlyMap<string, Path>
  /** The entity's own fields that decide its value, those that relations start from included. */
  readonly reads: ReadonlySet<string>
}

/** Entities of another type that depend on entities of this one. */
export interface Dependant {
  /** The type with the computed field. */
  readonly type: string
  /** The way from it to here. */
  readonly hops: readonly Hop[]
  /** The fields here that matter: the value that is read, and those that the way leads through. */
  readonly reads: ReadonlySet<string>
}

/** What is computed in a tenant, and from what. */
export interface ComputePlan {
  /** Per type, its computed fields, each after those that it reads. */
  readonly computations: ReadonlyMap<string, readonly Computation[]>
  /** Per type, what depends on its entities. */
  readonly dependants: ReadonlyMap<string, readonly Dependant[]>
}

/** The plan for the types of a tenant, made once for each set of types. A field without an author is not computed. */
export function computePlan(engine: Engine): ComputePlan {
  const { nouns } = engine
  const known = plans.get(nouns)
  if (known) return known
  const computations = new Map<string, readonly Computation[]>()
  const dependants = new Map<string, Dependant[]>()
  for (const noun of nouns.all) {
    const found = computedFields(noun).flatMap(({ name }) => {
      const stored = authoredParts(engine).computed.get(`${noun.name}.${name}`)
      // Its author may read every row of every type that it reads: it needs no narrowing.
      return stored ? [computationOf(act(stored).declaration, noun, nouns)] : []
    })
    if (found.length > 0) computations.set(noun.name, found)
    for (const { paths } of found) for (const path of paths.values()) note(noun, path, dependants)
  }
  const plan = { computations, dependants }
  plans.set(nouns, plan)
  return plan
}

const plans = new WeakMap<Nouns, ComputePlan>()

function computationOf(field: ComputedField, noun: Noun, nouns: Nouns): Computation {
  const { single, many } = pathsOf(field.computed)
  const paths = new Map<string, Path>()
  for (const text of [...single, ...many]) {
    const path = resolvePath(text, noun, nouns)
    if (!('fault' in path)) paths.set(text, path)
  }
  const reads = [...paths.values()].flatMap(({ hops: [hop], field: own }) => {
    if (!hop) return [own]
    return hop.kind === 'forward' ? [hop.field] : []
  })
  return { field, paths, reads: new Set(reads) }
}

/** Notes for every type along a path that entities of `noun` depend on it. */
function note(noun: Noun, path: Path, dependants: Map<string, Dependant[]>): void {
  for (const [index, hop] of path.hops.entries()) {
    const next = path.hops[index + 1]
    const reads = [
      ...(hop.kind === 'back' ? [hop.via!] : []),
      ...(next?.kind === 'forward' ? [next.field] : []),
      ...(next === undefined ? [path.field] : []),
    ]
    const known = dependants.get(hop.target) ?? []
    known.push({ type: noun.name, hops: path.hops.slice(0, index + 1), reads: new Set(reads) })
    dependants.set(hop.target, known)
  }
}
