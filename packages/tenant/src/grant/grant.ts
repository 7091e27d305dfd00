import { type Filter, type Noun, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { filterOf } from '../query/filter.ts'
import { type Action, ALL, allows, reaches, type Scope } from './scopes.ts'

/** Who asks, and what they may do. Every door hands one to the tenant. */
export interface Grant {
  /** What the log shows as the actor: the key's id, `operator`, a hook's name. */
  readonly actor: string
  readonly scopes: readonly Scope[]
  /** The rows of each type that the key is narrowed to, as filters in the query language. */
  readonly rows: { readonly [type: string]: unknown }
}

/** The operator's grant: everything. */
export const OPERATOR: Grant = { actor: 'operator', scopes: ALL, rows: {} }

/** A grant for the tenant's own code, under a name of its own. */
export function grantFor(actor: string): Grant {
  return { actor, scopes: ALL, rows: {} }
}

/** Whether the grant allows an action on a type. */
export function may(grant: Grant, action: Action, noun: Pick<Noun, 'name' | 'domain'>): boolean {
  return allows(grant.scopes, action, noun)
}

/** Refuses an action that the grant does not allow on a type. */
export function demand(grant: Grant, action: Action, noun: Noun): void {
  if (may(grant, action, noun)) return
  throw new Problem(
    'forbidden',
    `This key may not ${action} ${noun.name}. It needs ${action}:${noun.domain} or more.`,
    {
      type: noun.name,
    },
  )
}

/** Refuses an action that the grant does not allow in an area: `identity`, `platform`, `all`. */
export function demandArea(grant: Grant, action: Action, area: string): void {
  if (reaches(grant.scopes, action, [area])) return
  throw new Problem('forbidden', `This key may not do this. It needs ${action}:${area} or more.`)
}

/** The filter that narrows a type for this grant, or null when all its rows may be seen. */
export function rowsOf(tenant: Engine, grant: Grant, type: string): Filter | null {
  const rows = Object.hasOwn(grant.rows, type) ? grant.rows[type] : undefined
  if (rows === undefined) return null
  return tenant.cache.get(['Schema'], `rows ${type} ${JSON.stringify(rows)}`, () =>
    filterOf(tenant, tenant.noun(type), rows),
  )
}

/** Whether the grant is narrowed to some rows of some types. */
export function isNarrowed(grant: Grant): boolean {
  for (const _ in grant.rows) return true
  return false
}
