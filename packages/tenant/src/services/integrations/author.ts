import { type Issue, invalid, isPlainObject, type Json, type JsonObject } from '@tildebase/nouns'
import { changes } from '../../authorship/reach.ts'
import { type Authored, authored, demandCovers, store, type Thing } from '../../authorship/stored.ts'
import type { Connector, Mapping } from '../../connect/connector.ts'
import { CONNECTORS } from '../../connect/index.ts'
import type { Engine } from '../../engine/engine.ts'
import { demandAll, demandArea, demandNoAgent, type Grant } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import { isOwnType } from '../../store/log/log.ts'
import type { TransactionListener, Write } from '../../write/write.ts'

/** What an integration reads, and where it writes it. */
export type IntegrationDeclaration = ConnectorDeclaration | MailDeclaration

/** A mail server of the tenant's own: one to send by, or a mailbox. */
export interface MailDeclaration {
  readonly mail: 'smtp' | 'imap'
  readonly address: string
  /** The sender of messages that name none, if it is given. */
  readonly from: string | null
}

export interface ConnectorDeclaration {
  readonly connector: Connector
  readonly address: string
  readonly mapping: Mapping
  readonly scope: string | null
}

function thingOf(id: string): Thing {
  return { kind: 'integration', id, actor: `integration:${id}` }
}

/** The fields of an integration that decide what it does. */
function formOf(data: JsonObject): JsonObject {
  const { provider = null, apiBaseUrl = null, mapping = null, scope = null, from = null } = data
  return { provider, apiBaseUrl, mapping, scope, ...(mailKind(data) !== null && { from }) }
}

const PROTOCOLS = { smtp: ['smtps:', 'smtp:'], imap: ['imaps:', 'imap:'] } as const

function mailKind({ provider }: JsonObject): 'smtp' | 'imap' | null {
  const name = String(provider ?? '').toLowerCase()
  return name === 'smtp' || name === 'imap' ? name : null
}

/** What is wrong with the address of a mail server. */
export function mailAddressFault({ mail, address }: MailDeclaration): string | null {
  const { protocol, hostname, username, password } = URL.canParse(address) ? new URL(address) : new URL('none:')
  const isOne =
    (PROTOCOLS[mail] as readonly string[]).includes(protocol) && hostname !== '' && username + password === ''
  return isOne ? null : `must be an address such as ${mail}s://mail.example.org, without a name and a password`
}

/** What an integration does; null for a provider without a connector. */
export function declarationOf(data: JsonObject): IntegrationDeclaration | null {
  const mail = mailKind(data)
  if (mail !== null) {
    const address = withoutSlashes(String(data.apiBaseUrl ?? ''))
    return { mail, address, from: typeof data.from === 'string' ? data.from : null }
  }
  const name = String(data.provider ?? '').toLowerCase()
  const connector = Object.hasOwn(CONNECTORS, name) ? CONNECTORS[name] : undefined
  if (!connector) return null
  const address = typeof data.apiBaseUrl === 'string' && data.apiBaseUrl !== '' ? data.apiBaseUrl : connector.apiUrl
  return {
    connector,
    address: withoutSlashes(address),
    mapping: (data.mapping ?? connector.mapping) as Mapping,
    scope: typeof data.scope === 'string' ? data.scope : null,
  }
}

/** An address without the slashes at its end. */
function withoutSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}

const OBJECT = /^[\w-]{1,64}$/
const OBJECTS = 50
const MAPPED_FIELDS = 500

/** A mapping as a client gives it: `{"contacts": {"type": "Contact", "fields": {"email": "email"}}}`. */
export function checkMapping(engine: Engine, value: unknown): Mapping {
  const issues: Issue[] = []
  const wrong = (path: string, message: string) => void issues.push({ field: `mapping${path}`, message })
  const objects = isPlainObject(value) ? Object.entries(value) : []
  if (objects.length === 0 || objects.length > OBJECTS)
    wrong(
      '',
      `must have 1 to ${OBJECTS} objects, such as {"contacts": {"type": "Contact", "fields": {"email": "email"}}}`,
    )
  for (const [object, one] of objects.slice(0, OBJECTS)) {
    const path = `.${object.slice(0, 80)}`
    const { type, fields, time } = isPlainObject(one) ? one : {}
    if (!OBJECT.test(object)) wrong(path, 'must have a name of letters, digits, - and _')
    const noun = typeof type === 'string' ? engine.nouns.get(type) : undefined
    if (!noun) wrong(`${path}.type`, 'must be the name of a type, such as Contact')
    else if (isOwnType(noun.name)) wrong(`${path}.type`, `must not be ${noun.name}, one of the service's own types`)
    if (time !== undefined && typeof time !== 'string') wrong(`${path}.time`, 'must be the name of a field')
    const names = isPlainObject(fields) ? Object.entries(fields) : []
    if (names.length === 0 || names.length > MAPPED_FIELDS)
      wrong(`${path}.fields`, `must have 1 to ${MAPPED_FIELDS} fields, such as {"email": "email"}`)
    for (const [theirs, ours] of names.slice(0, MAPPED_FIELDS)) {
      if (theirs.length > 200) wrong(`${path}.fields.${theirs.slice(0, 80)}`, 'must be shorter')
      if (typeof ours !== 'string' || ours === '' || ours.startsWith('$'))
        wrong(`${path}.fields.${theirs.slice(0, 80)}`, 'must be the name of a field')
    }
  }
  if (issues.length > 0) throw invalid('Integration', issues)
  return value as Mapping
}

/**
 * Refuses a caller that may not connect a mail server. A server that messages are sent by gets the links that open accounts,
 * of people with all rights too; agents decide nothing for people.
 */
export function demandMail(grant: Grant, { mail }: MailDeclaration): void {
  demandArea(grant, 'admin', 'platform')
  if (mail !== 'smtp') return
  demandNoAgent(grant, 'connect a mail server')
  demandAll(grant, 'Connecting a mail server')
}

/** Makes the caller the author of an integration, if it may write all types that it fills. */
export function storeIntegration(write: Write, id: string, data: JsonObject): void {
  const declaration = declarationOf(data)!
  if ('mail' in declaration) demandMail(write.grant, declaration)
  const filled = 'mail' in declaration ? ['Message'] : Object.values(declaration.mapping).map(({ type }) => type)
  const types = new Set(filled.map((type) => write.engine.noun(type)))
  const reach = [...types].map((noun) => changes(noun, true))
  const isMail = 'mail' in declaration
  store(write, thingOf(id), formOf(data), isMail ? [...reach, changes(write.engine.noun('Integration'))] : reach)
}

/** An integration with the author who connected it; null when no caller connected it as it is now. */
export function authoredIntegration(engine: Engine, id: string): Authored<IntegrationDeclaration> | null {
  const current = currentOf(engine.sql, 'Integration', id)
  if (!current || current.deleted) return null
  return authoredAs(engine, id, JSON.parse(current.data) as JsonObject)
}

function authoredAs(engine: Engine, id: string, data: JsonObject): Authored<IntegrationDeclaration> | null {
  const declaration = declarationOf(data)
  return declaration && authored(engine, thingOf(id), declaration, formOf(data))
}

const DECISIVE = ['provider', 'apiBaseUrl', 'mapping', 'scope', 'from', 'schedule']
const CREDENTIALS = ['token', 'password']

/**
 * Watches over integrations in the transaction of every event, whichever verb it came by: a caller neither schedules one
 * whose author may do more, nor brings its earlier declaration back. Credentials are not a part of it.
 */
export const guardIntegrations: TransactionListener = ({ engine, grant }, { verb, previous }, { id, data: text }) => {
  const data = JSON.parse(text) as JsonObject
  const changed = Object.keys(verb === 'create' ? data : (JSON.parse(previous ?? '{}') as JsonObject))
  const issues = changed.flatMap((field) => credentialIssue(field, data[field] ?? null) ?? [])
  if (issues.length > 0) throw invalid('Integration', issues)
  if (verb === 'create' || !changed.some((field) => DECISIVE.includes(field))) return
  const stored = authoredAs(engine, id, data)
  if (stored !== null) demandCovers(engine, grant, stored, 'Integration')
}

/** Every reader of integrations and of the log could read them. */
function credentialIssue(field: string, value: Json): Issue | null {
  if (CREDENTIALS.includes(field) && value !== null)
    return { field, message: 'is given to connect, in credentials, and not stored in the entity' }
  if (field !== 'apiBaseUrl' || typeof value !== 'string' || !URL.canParse(value)) return null
  const { username, password } = new URL(value)
  return username + password === '' ? null : { field, message: 'must not contain a name or a password' }
}

/** Refuses to start an integration that can do more than the caller. */
export function demandCoversIntegration(engine: Engine, grant: Grant, id: string): void {
  demandCovers(engine, grant, authoredIntegration(engine, id), 'Integration')
}
