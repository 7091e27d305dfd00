import { isoOf, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { demandArea, type Grant } from '../grant/grant.ts'
import { dropSecret, type SecretRow, saveSecret, sealedSecretOf, secretRows } from '../store/automation/secrets.ts'
import { storedWorkflows } from '../store/automation/workflows.ts'
import { allOf, currentOf } from '../store/entities.ts'
import { applyVerb } from '../write/verb.ts'
import type { Write } from '../write/write.ts'
import { secretsIn } from './workflows/values.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const LONGEST = 8_192
/** Shorter values would be found by chance in answers, where secrets are taken out. */
const SHORTEST = 4
const MOST = 200

/** Keeps a secret of the tenant, encrypted with a key that only the host has. True when there was none of that name. */
export function putSecret(write: Write, name: string, value: unknown): boolean {
  const { engine, sql, grant, context } = write
  demandArea(grant, 'admin', 'platform')
  if (!NAME.test(name)) {
    throw new Problem(
      'invalid_parameter',
      'The name of a secret has letters, digits and _, and begins with a letter.',
      {
        field: 'name',
      },
    )
  }
  if (typeof value !== 'string' || value.length < SHORTEST || value.length > LONGEST) {
    const message = `value must be a text of ${SHORTEST} to ${LONGEST} characters.`
    throw new Problem('validation_error', message, { field: 'value' })
  }
  const now = context.clock.now()
  const isNew = saveSecret(sql, name, engine.ports.vault.encrypt(value), now, grant.actor)
  if (isNew && secretRows(sql).length > MOST) {
    throw new Problem('too_many', `A tenant can have ${MOST} secrets. Delete one.`, { limit: MOST })
  }
  note(write, name, now)
  return isNew
}

export function deleteSecret(write: Write, name: string): void {
  const { sql, grant } = write
  demandArea(grant, 'admin', 'platform')
  if (sealedSecretOf(sql, name) === null) {
    throw new Problem('not_found', `There is no secret ${name.slice(0, 64)}.`, { id: name })
  }
  dropSecret(sql, name)
  applyVerb(write, { type: 'TenantSecret', verb: 'delete', id: idOf(name) })
}

/** The log shows who set a secret and when, never its value. */
function note(write: Write, name: string, at: number): void {
  const id = idOf(name)
  const data = { name, setAt: isoOf(at) }
  const current = currentOf(write.sql, 'TenantSecret', id)
  if (current?.deleted) applyVerb(write, { type: 'TenantSecret', verb: 'restore', id })
  if (current) applyVerb(write, { type: 'TenantSecret', verb: 'update', id, data })
  else applyVerb(write, { type: 'TenantSecret', verb: 'create', data: { $id: id, ...data }, keepId: true })
}

function idOf(name: string): string {
  return `tenantSecret_${name}`
}

/** Which page of the secrets to list. The cursor is the last name of the page before. */
export interface SecretQuestion {
  readonly cursor: string | null
  readonly limit: number
}

/** The names of the secrets with the workflows and agents that use them. Never their values. */
export function secretsOf(engine: Engine, grant: Grant, { cursor, limit }: SecretQuestion): JsonObject {
  demandArea(grant, 'admin', 'platform')
  const rows = secretRows(engine.sql)
  const left = cursor === null ? rows : rows.filter(({ name }) => name > cursor)
  const page = left.slice(0, limit)
  const hasMore = page.length < left.length
  return { results: shown(engine, page), total: rows.length, hasMore, cursor: hasMore ? page.at(-1)!.name : null }
}

/** One of them. */
export function shownSecret(engine: Engine, grant: Grant, name: string): JsonObject | null {
  demandArea(grant, 'admin', 'platform')
  const row = secretRows(engine.sql).filter((one) => one.name === name)
  return shown(engine, row)[0] ?? null
}

function shown(engine: Engine, rows: readonly SecretRow[]): JsonObject[] {
  const users = [...storedWorkflows(engine.sql), ...allOf(engine.sql, 'Agent')].map(({ id, data }) => {
    const { steps, endpoint, headers } = JSON.parse(data) as JsonObject
    return { id, names: secretsIn([steps, endpoint, headers]) }
  })
  return rows.map(({ name, createdAt, updatedAt, updatedBy }) => ({
    name,
    createdAt: isoOf(createdAt),
    updatedAt: isoOf(updatedAt),
    updatedBy,
    usedBy: users.flatMap(({ id, names }) => (names.includes(name) ? [id] : [])),
  }))
}

/** The value of a secret, for the request that uses it; null when there is none that can be read. */
export function secretOf({ sql, ports }: Engine, name: string): string | null {
  const sealed = sealedSecretOf(sql, name)
  return sealed === null ? null : ports.vault.decrypt(sealed)
}
