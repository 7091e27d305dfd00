import { invalid, isPlainObject, type Json, type JsonObject, type Noun, Problem, targetText } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { covers, demandArea, demandNoAgent, type Grant } from '../../grant/grant.ts'
import { parseScopes, scopesText } from '../../grant/scopes.ts'
import { currentOf } from '../../store/entities.ts'
import { ownRoles } from '../../store/schema.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { areaOf, rowsFilter, scopesOf } from '../keys.ts'

/** What people may do who have this role. */
export interface Role {
  readonly name: string
  readonly scopes: string
  /** Filters by type; `$user.$id` and `$user.email` represent the person. */
  readonly filter: JsonObject | null
  readonly builtIn: boolean
}

/** The person that a role is filled in for. */
export interface Person {
  readonly id: string
  readonly email: string
}

/** Keys, webhooks, types and hooks need `admin`, so `write:all` leaves them out. */
const BUILT_IN: { readonly [name: string]: string } = { Admin: 'admin:all', Member: 'write:all', Viewer: 'read:all' }
/** The fields of a role; the first and the last are in its answer and ignored. */
const FIELDS = new Set(['name', 'scopes', 'filter', 'builtIn'])
const NAME = /^[A-Z][A-Za-z0-9]{0,39}$/
/** A value that means something else than itself: `$user.$id`, and its misspellings. */
const PLACEHOLDER = /^\$[A-Za-z]+\./
/** The person with whom the filter of a role is filled in to look at its fields. */
export const ANYBODY: Person = { id: 'user_0', email: 'person@example.org' }

export function roleOf(engine: Engine, name: string): Role | null {
  const scopes = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined
  if (scopes !== undefined) return { name, scopes, filter: null, builtIn: true }
  const current = currentOf(engine.sql, 'AccessRole', idOf(name))
  if (!current || current.deleted) return null
  const data = JSON.parse(current.data) as { scopes: string; filter?: JsonObject }
  return { name, scopes: data.scopes, filter: data.filter ?? null, builtIn: false }
}

export function rolesOf(engine: Engine): Role[] {
  return [...Object.keys(BUILT_IN), ...ownRoles(engine.sql)].map((name) => roleOf(engine, name)!)
}

/** What a role allows a person, with the person filled in. Nothing without a role that exists. */
export function rightsOf(engine: Engine, name: unknown, person: Person): Pick<Grant, 'scopes' | 'rows'> {
  const role = typeof name === 'string' ? roleOf(engine, name) : null
  if (role === null) return { scopes: [], rows: {} }
  const { scopes } = parseScopes(role.scopes, (area) => areaOf(engine, area))
  const rows = Object.entries(role.filter ?? {}).map(([type, filter]) => [type, filledIn(filter, person)])
  return { scopes, rows: Object.fromEntries(rows) }
}

/** Refuses a caller that does not hold all that a role allows. */
export function demandCoversRole({ engine, grant }: Write, name: unknown): void {
  const role = typeof name === 'string' ? roleOf(engine, name) : null
  if (role === null) return
  const { scopes } = parseScopes(role.scopes, (area) => areaOf(engine, area))
  const whole: Grant = { actor: '', scopes, rows: role.filter ?? {} }
  if (covers(grant, whole, (area) => engine.nouns.get(area)?.domain ?? null)) return
  throw new Problem('forbidden', `This needs all the rights of the role ${role.name}: ${role.scopes}.`, {
    type: 'User',
    field: 'role',
  })
}

/** Defines a role, or changes it. People who have it get the new rights with their next request. */
export function putRole(write: Write, name: string, body: unknown): { readonly role: Role; readonly isNew: boolean } {
  const { engine, grant } = write
  demandArea(grant, 'admin', 'identity')
  demandNoAgent(grant, 'change roles')
  if (!NAME.test(name) || Object.hasOwn(BUILT_IN, name)) {
    const message = Object.hasOwn(BUILT_IN, name)
      ? 'is built in and cannot be changed'
      : 'must be a letter A to Z, then up to 39 letters and digits'
    throw invalid('AccessRole', [{ field: 'name', message }])
  }
  if (!isPlainObject(body)) throw new Problem('invalid_body', 'Send {"scopes": "read:crm", "filter": {…}}.')
  const draft = body as JsonObject
  // A wrong name for `filter` would make a role that may read every row.
  const unknown = Object.keys(draft).filter((field) => !FIELDS.has(field))
  if (unknown.length > 0) {
    const message = 'is not a field of a role; its fields are scopes and filter'
    throw invalid(
      'AccessRole',
      unknown.map((field) => ({ field, message })),
    )
  }
  if (typeof draft.scopes !== 'string')
    throw invalid('AccessRole', [{ field: 'scopes', message: 'is required, such as "read:crm,write:Deal"' }])
  demandCoversRole(write, name)
  const scopes = scopesText(scopesOf(engine, grant, draft, 'AccessRole'))
  const filter = rowsFilter(engine, grant, draft, 'AccessRole', (one, noun) => {
    refuseOtherTypes(noun, one)
    return filledIn(one, ANYBODY)
  })
  const current = currentOf(engine.sql, 'AccessRole', idOf(name))
  const data = { name, scopes, filter }
  if (!current)
    applyVerb(write, { type: 'AccessRole', verb: 'create', data: { $id: idOf(name), ...data }, keepId: true })
  else {
    if (current.deleted) applyVerb(write, { type: 'AccessRole', verb: 'restore', id: current.id })
    applyVerb(write, { type: 'AccessRole', verb: 'update', id: current.id, data })
  }
  engine.cache.forget('Schema')
  return { role: roleOf(engine, name)!, isNew: !current || current.deleted }
}

/** Takes back a role that no person has any more. */
export function dropRole(write: Write, name: string): void {
  const { engine, grant } = write
  demandArea(grant, 'admin', 'identity')
  const role = roleOf(engine, name)
  if (role === null) throw new Problem('not_found', `There is no role ${name}.`, { field: 'name' })
  if (role.builtIn) throw invalid('AccessRole', [{ field: 'name', message: 'is built in and cannot be deleted' }])
  demandCoversRole(write, name)
  applyVerb(write, { type: 'AccessRole', verb: 'delete', id: idOf(name) })
  engine.cache.forget('Schema')
}

/** Refuses to compare a person with a relation that never leads to one. */
function refuseOtherTypes(noun: Noun, filter: Json): void {
  if (!isPlainObject(filter)) return
  for (const [name, value] of Object.entries(filter as JsonObject)) {
    const field = Object.hasOwn(noun.fields, name) ? noun.fields[name]! : null
    const leadsToUser =
      field?.kind !== 'forward' || (field.targets ?? [field.target]).some((one) => one === 'User' || one === '*')
    if (!leadsToUser && JSON.stringify(value).includes('"$user.$id"'))
      throw new Problem(
        'invalid_filter',
        `${name} is a relation to ${targetText(field)}, so it is never the id of a User.`,
      )
    if (name === '$and' || name === '$or')
      for (const one of Array.isArray(value) ? value : []) refuseOtherTypes(noun, one)
  }
}

/** A filter with the person in place of `$user.$id` and `$user.email`. */
function filledIn(filter: Json, person: Person, operator = ''): Json {
  if (typeof filter === 'string') return PLACEHOLDER.test(filter) ? operandOf(filter, person, operator) : filter
  if (Array.isArray(filter)) return filter.map((one) => filledIn(one, person, operator))
  if (!isPlainObject(filter)) return filter
  return Object.fromEntries(
    Object.entries(filter as JsonObject).map(([name, value]) => [name, filledIn(value, person, name)]),
  )
}

function operandOf(text: string, { id, email }: Person, operator: string): string {
  // An address with a dot or a star would mean more than itself there.
  const isPattern = operator === '$regex' || operator === '$text' || operator === '$search'
  if (!isPattern && text === '$user.$id') return id
  if (!isPattern && text === '$user.email') return email
  throw new Problem('invalid_filter', `The filter of a role may use $user.$id and $user.email as values, not ${text}.`)
}

function idOf(name: string): string {
  return `accessRole_${name}`
}
