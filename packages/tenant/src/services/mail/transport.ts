import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Mail, MailServer } from '../../ports.ts'
import { connectedIds, connectedOf } from '../../store/automation/integrations.ts'
import { presentOf } from '../../store/entities.ts'
import { addressOf } from './address.ts'

/** The way that e-mail takes out of a tenant. */
export interface Transport {
  readonly mail: Mail
  /** The tenant's own server; null for that of the service. */
  readonly server: MailServer | null
  /** The sender of a message that names none. */
  readonly from: string
}

/** The tenant's own mail server, or that of the service; null where there is none. */
export function transportOf(engine: Engine): Transport | null {
  const { mail } = engine.ports
  if (!mail) return null
  const own = ownServer(engine, 'smtp')
  if (own) return { mail, ...own }
  return mail.from === null ? null : { mail, server: null, from: mail.from }
}

function ownServer(engine: Engine, provider: string): { server: MailServer; from: string } | null {
  const { sql, ports, cache } = engine
  const id = cache.get(['Integration'], `mail server ${provider}`, () => {
    const isOne = (one: string) => providerOf(presentOf(sql, 'Integration', one)?.data) === provider
    return { id: connectedIds(sql).find(isOne) }
  }).id
  const connected = id === undefined ? null : connectedOf(sql, id)
  const entity = id === undefined ? undefined : presentOf(sql, 'Integration', id)
  const credentials = connected && ports.vault.decrypt(connected.credentials)
  if (!connected || !entity || credentials === null) return null
  const server = serverOf(connected.address, credentials)
  return { server, from: senderOf(JSON.parse(entity.data) as JsonObject, server) }
}

/** The address that a server of the tenant's own sends from: that of the Integration, or the name we sign in with. */
function senderOf({ from }: JsonObject, { username, url }: Pick<MailServer, 'username' | 'url'>): string {
  if (typeof from === 'string' && addressOf(from) !== null) return from
  return addressOf(username) ?? `mail@${new URL(url).hostname}`
}

/** A server with credentials as they are kept: `{"username": …, "password": …}`. */
export function serverOf(url: string, credentials: string): MailServer {
  const { username = '', password = '' } = JSON.parse(credentials) as Partial<MailServer>
  return { url, username, password }
}

/** The credentials of a mail server as a caller gives them, to be kept; null if they are not such. */
export function mailCredentials(given: unknown): string | null {
  if (!isPlainObject(given)) return null
  const { username, password } = given
  if (typeof username !== 'string' || typeof password !== 'string' || username === '' || password === '') return null
  return JSON.stringify({ username, password })
}

function providerOf(data: string | undefined): string | null {
  const provider = data === undefined ? null : (JSON.parse(data) as JsonObject).provider
  return typeof provider === 'string' ? provider.toLowerCase() : null
}
