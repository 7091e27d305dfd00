import { extended, type JsonObject, type Noun, type Nouns, noun, nounsOf, Problem, parseNoun } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Sql } from '../ports.ts'
import { ownRoles, ownTypes } from '../store/schema.ts'

/** The type that a tenant's own types are entities of, so that they have events, versions and a past. */
const Schema = noun('Schema', { name: 'string!##', notation: 'json!', migrations: 'json' }, { domain: 'platform' })

/** Code that a tenant runs around its verbs, as entities too. `grant` is of earlier versions: see `authorship/`. */
const Hook = noun(
  'Hook',
  { type: 'string!#', name: 'string!', code: 'string!', grant: 'json', suspended: 'boolean' },
  { domain: 'platform' },
)

/** The record of an erasure: what, when and by whom, without a value of it. */
const Erasure = noun(
  'Erasure',
  { type: 'string!', entity: 'string!#', events: 'number!', reason: 'string' },
  { domain: 'platform' },
)

/** A role of the tenant's own: what its people may do. */
const AccessRole = noun('AccessRole', { name: 'string!##', scopes: 'string!', filter: 'json' }, { domain: 'platform' })

/** A part of the operations of a changeset: apart from it, so that a comment does not write all of them again. */
const ChangesetPart = noun(
  'ChangesetPart',
  { changeset: 'string!', base: 'number!', operations: 'json!' },
  { domain: 'platform' },
)

/** That there is a secret of this name, and when it was set. Its value is kept elsewhere, encrypted. */
const TenantSecret = noun('TenantSecret', { name: 'string!##', setAt: 'datetime!' }, { domain: 'platform' })

/** The addresses that the tenant receives e-mail at. */
const MailInbox = noun('MailInbox', { addresses: 'string[]', ticket: 'boolean' }, { domain: 'platform' })

/** Which notices a person gets by e-mail, and when. */
const NoticeChoices = noun(
  'NoticeChoices',
  { assigned: 'string', mentioned: 'string', ask: 'string', changeset: 'string' },
  { domain: 'platform' },
)

/** Types that no path can name. */
export const INTERNAL_TYPES = nounsOf([
  Schema,
  Hook,
  Erasure,
  AccessRole,
  ChangesetPart,
  TenantSecret,
  MailInbox,
  NoticeChoices,
])

/** A type of the tenant that contradicts one of the program, and how. */
export interface Contradiction {
  readonly type: string
  readonly message: string
}

/** The types of a tenant: those of the program, with the tenant's own next to and over them. */
export function typesOf(sql: Sql, program: Nouns, tell?: (contradiction: Contradiction) => void): Nouns {
  const own = ownTypes(sql)
  const roles = ownRoles(sql)
  if (own.length + roles.length === 0) return program
  const { nouns, contradictions } = shared(program, JSON.stringify([own, roles]), () => {
    const types = combined(program, own)
    return { ...types, nouns: withRoles(types.nouns, roles) }
  })
  if (tell) contradictions.forEach(tell)
  return nouns
}

/** The types of a tenant, and how its own contradict those of the program. */
interface Combined {
  readonly nouns: Nouns
  readonly contradictions: readonly Contradiction[]
}

/** So many characters of declarations are remembered with their types, and each set counts for some more. */
const MOST_REMEMBERED = 1_000_000
const EACH = 5_000

/** Types of tenants by the text of their declarations: tenants that declare the same share them. Types never change. */
const remembered = new WeakMap<Nouns, BoundedMap<string, Remembered>>()

interface Remembered extends Combined {
  /** How long its declarations are. */
  readonly length: number
}

function shared(program: Nouns, declared: string, combine: () => Combined): Combined {
  const all =
    remembered.get(program) ?? new BoundedMap<string, Remembered>(MOST_REMEMBERED, ({ length }) => length + EACH)
  remembered.set(program, all)
  const known = all.get(declared)
  if (known) return known
  const made = { ...combine(), length: declared.length }
  all.set(declared, made)
  return made
}

/** The types of a tenant that contradict those of the program. */
export function contradictionsIn(sql: Sql, program: Nouns): readonly Contradiction[] {
  return combined(program, ownTypes(sql)).contradictions
}

/**
 * The program's types with a tenant's own. Both may have changed since they were made for each other: where they contradict,
 * the tenant keeps the type as it declared it, or if that is not possible the program's, so that it can be read and repaired.
 */
function combined(program: Nouns, own: readonly (readonly [string, JsonObject])[]): Combined {
  const contradictions: Contradiction[] = []
  let nouns = program
  for (const [name, notation] of own) {
    try {
      nouns = nouns.with(declareType(nouns, name, notation))
    } catch (reason) {
      if (!(reason instanceof Problem)) throw reason
      contradictions.push({ type: name, message: reason.message })
      nouns = withItsOwn(nouns, name, notation)
    }
  }
  return { nouns, contradictions }
}

function withItsOwn(nouns: Nouns, name: string, notation: JsonObject): Nouns {
  try {
    return nouns.with(parseNoun(name, notation, { domain: nouns.get(name)?.domain ?? 'custom' }))
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return nouns
  }
}

/** The types with the tenant's own roles among those that a User can have. */
function withRoles(nouns: Nouns, roles: readonly string[]): Nouns {
  const role = nouns.get('User')?.notation.role
  if (roles.length === 0 || typeof role !== 'string' || !role.includes('|')) return nouns
  return nouns.with(declareType(nouns, 'User', { role: `${roles.join(' | ')} | ${role}` }))
}

/** A type of the tenant's own, or what is added to a built-in one. A built-in type keeps its domain and its path. */
export function declareType(nouns: Nouns, name: string, notation: JsonObject): Noun {
  const builtIn = nouns.get(name)
  if (!builtIn || builtIn.name !== name) return parseNoun(name, notation, { domain: 'custom' })
  return extended(builtIn, notation)
}
