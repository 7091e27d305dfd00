import {
  checkRelations,
  type JsonObject,
  type Noun,
  type Nouns,
  noun,
  nounsOf,
  Problem,
  parseNoun,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { currentOf } from '../store/entities.ts'
import { dropFields, liveCount, ownTypes, rebuildFieldIndex } from '../store/schema.ts'
import type { VerbResult } from '../write/verb.ts'

/** The type that a tenant's own types are entities of, so that they have events, versions and a past. */
export const Schema = noun('Schema', { name: 'string!##', notation: 'json!' }, { domain: 'platform' })

/** Code that a tenant runs around its verbs, as entities too. */
export const Hook = noun('Hook', { type: 'string!#', name: 'string!', code: 'string!' }, { domain: 'platform' })

/** The record of an erasure: what, when and by whom, without a value of it. */
export const Erasure = noun(
  'Erasure',
  { type: 'string!', entity: 'string!#', events: 'number!', reason: 'string' },
  { domain: 'platform' },
)

/** Types that no path can name. */
export const INTERNAL = nounsOf([Schema, Hook, Erasure])

/** Types whose meaning is the service's own, and names that mean something else already. */
const FIXED = new Set(['ApiKey', 'Webhook', 'Event'])
const RESERVED = new Set(['Schema', 'Hook', 'Erasure', 'Status', 'Batch', 'Operator'])

/** The types of a tenant: the operator's, with the tenant's own beside and over them. */
export function nounsFor(tenant: Engine): Nouns {
  return ownTypes(tenant.sql).reduce(
    (nouns, [name, notation]) => nouns.with(declare(nouns, name, notation)),
    tenant.options.nouns,
  )
}

/** Declares a type of the tenant's own, or adds fields and verbs to a built-in one. */
export function putType(tenant: Engine, name: string, notation: JsonObject, actor: string): VerbResult {
  refuseFixed(name)
  const declared = declare(tenant.options.nouns, name, notation)
  refuseSecrets(declared)
  const issues = checkRelations(tenant.nouns.with(declared)).filter(({ field }) =>
    field.startsWith(`${declared.name}.`),
  )
  if (issues.length > 0) {
    throw new Problem(
      'invalid_schema',
      `The type ${name} does not fit the others. ${issues.map((i) => `${i.field}: ${i.message}`).join('; ')}`,
      {
        type: name,
        details: issues.map(({ field, message }) => ({ field, message })),
      },
    )
  }
  const before = tenant.nouns.get(declared.name)
  const id = schemaId(declared.name)
  const current = currentOf(tenant.sql, 'Schema', id)
  const data = { name: declared.name, notation }
  const done = current
    ? tenant.act({ type: 'Schema', verb: current.deleted ? 'restore' : 'update', id, data, actor })
    : tenant.act({ type: 'Schema', verb: 'create', data: { $id: id, ...data }, keepId: true, actor })
  if (current?.deleted) tenant.act({ type: 'Schema', verb: 'update', id, data, actor })
  if (done.event) rebuildFieldIndex(tenant.sql, declared, before ?? null)
  tenant.cache.forget('Schema')
  return done
}

/** Takes back a type of the tenant's own, once it has no entities; a built-in one loses what was added to it. */
export function dropType(tenant: Engine, name: string, actor: string): void {
  const builtIn = tenant.options.nouns.get(name)
  const count = liveCount(tenant.sql, name)
  if (!builtIn && count > 0) {
    throw new Problem('conflict', `There are ${count} entities of type ${name}. Delete them first.`, { type: name })
  }
  tenant.act({ type: 'Schema', verb: 'delete', id: schemaId(name), actor })
  if (builtIn) rebuildFieldIndex(tenant.sql, builtIn, tenant.nouns.get(name) ?? null)
  else dropFields(tenant.sql, name)
  tenant.cache.forget('Schema')
}

function declare(nouns: Nouns, name: string, notation: JsonObject): Noun {
  const builtIn = nouns.get(name)
  if (!builtIn || builtIn.name !== name) return parseNoun(name, notation, { domain: 'custom' })
  return parseNoun(name, { ...builtIn.notation, ...notation }, { domain: builtIn.domain, path: builtIn.path })
}

function refuseFixed(name: string): void {
  if (FIXED.has(name))
    throw new Problem('invalid_schema', `${name} is fixed: the service itself depends on it.`, { type: name })
  if (RESERVED.has(name))
    throw new Problem('invalid_schema', `The name ${name} is taken by the service.`, { type: name })
}

/** Secrets are kept aside by services that know what they open; an entity would show them. */
function refuseSecrets({ name, fields }: Noun): void {
  const secret = Object.values(fields).find((field) => field.kind === 'secret')
  if (!secret) return
  const message = 'is a secret, which only types of the service can keep; store it hashed, or elsewhere'
  throw new Problem('invalid_schema', `The type ${name} is not valid. ${secret.name}: ${message}`, {
    type: name,
    details: [{ field: secret.name, message }],
  })
}

function schemaId(name: string): string {
  return `schema_${name}`
}
