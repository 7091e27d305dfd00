import { invalid, isPlainObject, type JsonObject, Problem, type Verb } from '@tildebase/nouns'
import { type Authored, act, isWithin } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import {
  connectedOf,
  dropConnected,
  requestRun,
  saveConnected,
  scheduleRun,
} from '../../store/automation/integrations.ts'
import { currentOf } from '../../store/entities.ts'
import { applyVerb, notFound } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { mailCredentials, serverOf } from '../mail/transport.ts'
import { nextTime, parseSchedule, refuseShortcut } from '../workflows/schedule.ts'
import {
  authoredIntegration,
  checkMapping,
  declarationOf,
  demandCoversIntegration,
  demandMail,
  type IntegrationDeclaration,
  type MailDeclaration,
  mailAddressFault,
  storeIntegration,
} from './author.ts'

/** The verbs of Integration. Credentials never become a part of the entity or of an event. */
export const integrationVerbs: { readonly [name: string]: SpecialVerb } = {
  'Integration.create': stored,
  'Integration.update': stored,
  'Integration.connect': refuseUnchecked,
  'Integration.sync': sync,
  'Integration.disconnect': disconnect,
  'Integration.delete': disconnect,
}

const CHECK_MS = 10_000
const MAILBOX_MS = 60_000
/** Bytes of an answer that shows whether credentials are valid. */
const CHECK_LIMIT = 1_048_576

/** Credentials that the provider accepted at an address. */
export interface CheckedCredentials {
  readonly token: string
  readonly address: string
}

/** Connecting again replaces the credentials. */
const CONNECT: Verb = { name: 'connect', before: 'connecting', event: 'connected', set: { status: 'Connected' } }

/** Asks the provider whether credentials are valid. Null for a provider without a connector, which has none to check. */
export async function checkCredentials(
  engine: Engine,
  grant: Grant,
  id: string,
  body: unknown,
): Promise<CheckedCredentials | null> {
  demand(grant, 'write', engine.noun('Integration'))
  const current = currentOf(engine.sql, 'Integration', id)
  if (!current || current.deleted) throw notFound('Integration', id)
  const declaration = declarationOf(JSON.parse(current.data) as JsonObject)
  if (!declaration) return null
  const given = isPlainObject(body) && isPlainObject(body.credentials) ? body.credentials : {}
  if ('mail' in declaration) return checkMailServer(engine, grant, declaration, given)
  const { connector, address, scope } = declaration
  const { token } = given
  if (typeof token !== 'string' || token === '') throw refused('credentials must have a token')
  if (!URL.canParse(address)) throw invalid('Integration', [{ field: 'apiBaseUrl', message: 'is not a URL' }])
  const { outbound } = engine.ports
  if (!outbound) throw new Problem('not_supported', 'This service sends no requests.')
  const answer = await outbound.send({
    method: 'GET',
    url: `${address}${connector.checkPath(scope)}`,
    headers: connector.headers(token),
    body: '',
    timeoutMs: CHECK_MS,
    answerLimit: CHECK_LIMIT,
  })
  if ('error' in answer) throw refused(`could not be checked at ${address}: ${answer.error}`)
  if (answer.status !== 200) throw refused(`were refused by ${address} with the status ${answer.status}`)
  return { token, address }
}

/** Asks a mail server whether it lets us in. */
async function checkMailServer(
  { ports }: Engine,
  grant: Grant,
  declaration: MailDeclaration,
  given: { readonly [name: string]: unknown },
): Promise<CheckedCredentials> {
  demandMail(grant, declaration)
  const { token, url } = mailCredentials(given)
  const address = declaration.address || url
  const fault = mailAddressFault({ ...declaration, address: address ?? '' })
  if (address === null || fault !== null) throw invalid('Integration', [{ field: 'apiBaseUrl', message: fault! }])
  if (url !== null && url !== address) throw refused(`have another address than apiBaseUrl: ${address}`)
  if (token === null) throw refused('must have a user and a password')
  if (!ports.mail) throw new Problem('not_supported', 'This service has no e-mail.')
  const reason = await ports.mail.check(serverOf(address, token))
  if (reason !== null) throw refused(`were not accepted by ${address}: ${reason}`)
  return { token, address }
}

/** Connects an integration with credentials that were checked; without any, only its status changes. */
export function connect(write: Write, id: string, body: unknown, checked: CheckedCredentials | null): RunResult {
  const { engine, sql } = write
  demand(write.grant, 'write', engine.noun('Integration'))
  const { credentials: _, ...args } = isPlainObject(body) ? body : {}
  if (checked === null) return applyVerb(write, { type: 'Integration', verb: 'connect', id, data: args })
  return write.attempt(() => {
    const before = declarationOf(JSON.parse(currentOf(sql, 'Integration', id)?.data ?? '{}') as JsonObject)
    // The address of a mail server may have come with the credentials.
    const serviceFields: JsonObject = before?.address === '' ? { apiBaseUrl: checked.address } : {}
    const request = { type: 'Integration', verb: 'connect', internalVerb: CONNECT, id, data: args, serviceFields }
    const result = applyVerb(write, request)
    const data = JSON.parse(result.entity.data) as JsonObject
    // The address may have changed while the provider was asked.
    if (declarationOf(data)?.address !== checked.address) throw refused('are of another address. Connect again')
    storeIntegration(write, id, data)
    saveConnected(sql, id, engine.ports.vault.encrypt(checked.token), checked.address)
    schedule(write, id, data)
    // A mailbox is read at once.
    if (isMailbox(data)) {
      requestRun(sql, id, write.context.clock.now())
      write.wakeAt(write.context.clock.now())
    }
    return result
  })
}

/** Books the next run of the schedule. A mailbox without one is looked at in the interval of the service. */
export function schedule(write: Write, id: string, data: JsonObject): void {
  const { schedule: text } = data
  const parsed = typeof text === 'string' && text !== '' ? parseSchedule(text) : null
  if (parsed && 'fault' in parsed) throw invalid('Integration', [{ field: 'schedule', message: parsed.fault }])
  const now = write.context.clock.now()
  const interval = write.engine.options.mailboxMs ?? MAILBOX_MS
  const at = parsed ? nextTime(parsed, now) : isMailbox(data) ? now + interval : null
  scheduleRun(write.sql, id, at)
  if (at !== null && connectedOf(write.sql, id)) write.wakeAt(at)
}

function isMailbox(data: JsonObject): boolean {
  const declaration = declarationOf(data)
  return declaration !== null && 'mail' in declaration && declaration.mail === 'imap'
}

function stored(write: Write, request: VerbRequest): RunResult {
  if (isPlainObject(request.data) && Object.hasOwn(request.data, 'credentials'))
    throw refused('are given to connect, not stored in the entity')
  refuseShortcut('Integration', request.data)
  const before = request.id === undefined ? null : authoredIntegration(write.engine, request.id)
  return write.attempt(() => {
    const result = applyVerb(write, request)
    const { id, data: text } = result.entity
    const data = JSON.parse(text) as JsonObject
    if (data.mapping !== undefined && data.mapping !== null && isConnector(data))
      checkMapping(write.engine, data.mapping)
    if (before) keepConnected(write, id, before, data)
    schedule(write, id, data)
    return result
  })
}

function isConnector(data: JsonObject): boolean {
  const declaration = declarationOf(data)
  return declaration !== null && !('mail' in declaration)
}

/**
 * Another mapping or scope keeps an integration connected if the caller may do what it did and what it does now: the caller
 * is its author from then on. Credentials are for one provider at one address.
 */
function keepConnected(write: Write, id: string, before: Authored<IntegrationDeclaration>, data: JsonObject): void {
  const { engine, grant, sql } = write
  const was = act(before).declaration
  const declaration = declarationOf(data)
  if (!declaration || 'mail' in declaration || 'mail' in was || declaration.connector !== was.connector) return
  if (connectedOf(sql, id)?.address !== declaration.address || authoredIntegration(engine, id)) return
  if (isWithin(engine, grant, before)) storeIntegration(write, id, data)
}

/** Inside of a transaction nothing outside can be asked. */
function refuseUnchecked(write: Write, request: VerbRequest): RunResult {
  const current = currentOf(write.sql, 'Integration', request.id ?? '')
  if (current && declarationOf(JSON.parse(current.data) as JsonObject)) {
    const message = `Credentials are checked with the provider first. POST to /Integration/${current.id}/connect.`
    throw new Problem('not_supported', message, { type: 'Integration', id: current.id })
  }
  return connect(write, request.id ?? '', request.data, null)
}

/** Asks for a run. Its event comes at its end. A provider without a connector changes its status only. */
function sync(write: Write, request: VerbRequest): RunResult {
  const { sql, engine, grant } = write
  const id = request.id ?? ''
  const current = currentOf(sql, 'Integration', id)
  if (!current || current.deleted) throw notFound('Integration', id)
  const declaration = declarationOf(JSON.parse(current.data) as JsonObject)
  if (!declaration) return applyVerb(write, request)
  demandCoversIntegration(engine, grant, id)
  const connected = connectedOf(sql, id)
  if (connected === null || connected.address !== declaration.address || !authoredIntegration(engine, id)) {
    const message = connected
      ? 'This Integration has changed since it was connected. Connect it again.'
      : 'This Integration is not connected. Connect it first, with credentials.'
    throw new Problem('invalid_transition', message, { type: 'Integration', id })
  }
  const now = write.context.clock.now()
  requestRun(sql, id, now)
  write.wakeAt(now)
  return { entity: current, event: null }
}

function disconnect(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const result = applyVerb(write, request)
    dropConnected(write.sql, request.id ?? '')
    return result
  })
}

function refused(message: string): Problem {
  return invalid('Integration', [{ field: 'credentials', message }])
}
