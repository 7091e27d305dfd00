import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { MailServer } from '@tildebase/tenant/ports'
import { isPublic } from './addresses.ts'

/** A mail server, and whether a tenant chose it: then it must not lead into the operator's network. */
export interface GuardedServer extends MailServer {
  readonly isTenants: boolean
}

/** Where to connect to. */
export interface MailTarget {
  /** The address that was looked at, where it matters; else the name. */
  readonly host: string
  /** The name in the certificate. */
  readonly name: string
  readonly port: number | null
  readonly secure: boolean
}

const PRIVATE = 'The address of the mail server is not public.'

/**
 * Finds the address of a server. One that a tenant chose is looked up here, and the connection goes to the address that
 * was found public: a second look-up could give another.
 */
export async function targetOf({ url, isTenants }: GuardedServer, insecure: boolean): Promise<MailTarget> {
  const { protocol, hostname, port } = new URL(url)
  const name = hostname.replace(/^\[|\]$/g, '')
  const target = { name, port: port === '' ? null : Number(port), secure: protocol.endsWith('s:') }
  if (!isTenants || insecure) return { ...target, host: name }
  if (/(?:^|\.)localhost\.?$/.test(name)) throw new Error(PRIVATE)
  const found = isIP(name) === 0 ? await lookup(name, { all: true }) : [{ address: name }]
  if (found.length === 0 || !found.every(({ address }) => isPublic(address))) throw new Error(PRIVATE)
  return { ...target, host: found[0]!.address }
}

/** The server of the operator, with the name and the password of its address. */
export function operatorsServer(text: string): GuardedServer {
  const { protocol, host, username, password } = new URL(text)
  return {
    url: `${protocol}//${host}`,
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    isTenants: false,
  }
}
