import { type Filter, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import { authoredParts } from '../../authorship/parts.ts'
import type { Authorship } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { filterOf } from '../../query/parameters/filter.ts'
import { authorRecords } from '../../store/automation/authors.ts'
import { allOf } from '../../store/entities.ts'
import { consentsOf } from '../../store/people/consents.ts'
import { ANYBODY, rightsOf, rolesOf } from '../identity/roles.ts'

/**
 * Refuses to rename or to retype a field that a row filter reads. The filter would compare it with nothing, or with values
 * of another kind, and a filter such as `{"level": {"$ne": "secret"}}` would show the rows that it hides.
 */
export function demandNoRowFilter(engine: Engine, type: Noun, field: string): void {
  const readers = [
    [keyRows(engine), 'an active API key', 'Revoke the key, and create another one afterwards.'],
    [roleRows(engine), 'a role', 'Change the role first.'],
    [consentRows(engine), 'what a person allowed an agent', 'Revoke the tokens of the agent first.'],
    [
      authorRows(engine),
      'the author of a webhook, a workflow, a hook, a timer or a computed field',
      'Delete it, or store it again with other rights.',
    ],
  ] as const
  const found = readers.find(([all]) => all.some((rows) => reads(engine, rows, type, field)))
  if (found === undefined) return
  const message = `is read by the row filter of ${found[1]}. ${found[2]}`
  throw new Problem('invalid_schema', `The type ${type.name} is not valid. ${field}: ${message}`, {
    type: type.name,
    field,
    details: [{ field, message }],
  })
}

type Rows = Grant['rows']

function keyRows({ sql }: Engine): Rows[] {
  return allOf(sql, 'ApiKey').flatMap(({ data }) => {
    const { status, filter } = JSON.parse(data) as JsonObject
    return status === 'Active' && filter ? [filter as Rows] : []
  })
}

function roleRows(engine: Engine): Rows[] {
  return rolesOf(engine).map(({ name }) => rightsOf(engine, name, ANYBODY).rows)
}

function consentRows({ sql }: Engine): Rows[] {
  return consentsOf(sql, null).map(({ data }) => (data.rows ?? {}) as Rows)
}

/** Things continue with the rights of a key that was revoked. */
function authorRows(engine: Engine): Rows[] {
  const { timers, computed } = authoredParts(engine)
  const ofParts = [...timers.values(), ...computed.values()].map(({ author }) => author)
  const ofEntities = authorRecords(engine.sql).map((record) => JSON.parse(record) as Authorship)
  return [...ofEntities, ...ofParts].map(({ grant }) => grant.rows)
}

function reads(engine: Engine, rows: Rows, type: Noun, field: string): boolean {
  return Object.entries(rows).some(([name, json]) => {
    const noun = engine.nouns.get(name)
    return noun !== undefined && readsField(filterOf(engine, noun, json), noun.name, type.name, field)
  })
}

function readsField(filter: Filter, of: string, type: string, field: string): boolean {
  if (filter.op === 'text') return false
  if (filter.op === 'not') return readsField(filter.of, of, type, field)
  if (!('path' in filter)) return filter.of.some((part) => readsField(part, of, type, field))
  const { hops, field: last } = filter.path
  const read = [
    [hops.at(-1)?.target ?? of, last],
    ...hops.map((hop) => (hop.kind === 'forward' ? [hop.from, hop.field] : [hop.target, hop.via])),
  ]
  return read.some(([at, name]) => at === type && name === field)
}
