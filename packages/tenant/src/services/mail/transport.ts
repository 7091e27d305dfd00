import { isPlainObject } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Mail, MailServer } from '../../ports.ts'
import { connectedIds, connectedOf } from '../../store/automation/integrations.ts'
import { authoredIntegration, type MailDeclaration } from '../integrations/author.ts'
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
  const own = ownServer(engine)
  if (own) return { mail, ...own }
  return mail.from === null ? null : { mail, server: null, from: mail.from }
}

/** The server that an administrator connected, as it was connected: a change by another caller ends it. */
function ownServer(engine: Engine): { server: MailServer; from: string } | null {
  const { sql, ports, cache } = engine
  const { found } = cache.get(['Integration'], 'mail server', () => ({ found: connectedServer(engine) }))
  const connected = found && connectedOf(sql, found.id)
  const credentials = connected && ports.vault.decrypt(connected.credentials)
  if (!found || !connected || credentials === null || connected.address !== found.declaration.address) return null
  const server = serverOf(connected.address, credentials)
  return { server, from: senderOf(found.declaration, server) }
}

function connectedServer(engine: Engine): { readonly id: string; readonly declaration: MailDeclaration } | null {
  for (const id of connectedIds(engine.sql)) {
    const stored = authoredIntegration(engine, id)
    const declaration = stored && act(stored).declaration
    if (declaration && 'mail' in declaration && declaration.mail === 'smtp') return { id, declaration }
  }
  return null
}

/** The address that a server of the tenant's own sends from: that of the Integration, or the name we sign in with. */
function senderOf({ from }: MailDeclaration, { username, url }: Pick<MailServer, 'username' | 'url'>): string {
  if (from !== null && addressOf(from) !== null) return from
  return addressOf(username) ?? `mail@${new URL(url).hostname}`
}

/** A server with credentials as they are kept: `{"username": …, "password": …}`. */
export function serverOf(url: string, credentials: string): MailServer {
  const { username = '', password = '' } = JSON.parse(credentials) as Partial<MailServer>
  return { url, username, password }
}

/**
 * The name and the password of a mail server, from `{user, password}` or from `{url}`, and the address in that. Null where
 * there is none.
 */
export function mailCredentials(given: unknown): { readonly token: string | null; readonly url: string | null } {
  if (!isPlainObject(given)) return { token: null, url: null }
  const url = typeof given.url === 'string' && URL.canParse(given.url) ? new URL(given.url) : null
  const username = given.user ?? given.username ?? (url && decoded(url.username))
  const password = given.password ?? (url && decoded(url.password))
  const isGiven = typeof username === 'string' && typeof password === 'string' && username !== '' && password !== ''
  return {
    token: isGiven ? JSON.stringify({ username, password }) : null,
    url: url && `${url.protocol}//${url.host}`,
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
