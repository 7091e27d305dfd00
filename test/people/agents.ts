import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Reply, TestApp } from '../host.ts'
import type { Browser } from './people.ts'

export const REDIRECT = 'http://127.0.0.1:4711/callback'

/** A pair of PKCE: what the client keeps, and what it sends first. */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export async function register(app: TestApp, tenant: string, metadata: Record<string, unknown> = {}): Promise<string> {
  const body = { client_name: 'Test agent', redirect_uris: [REDIRECT], ...metadata }
  const reply = await app.as('')('POST', `/~${tenant}/oauth/register`, body)
  expect(reply.status, reply.text).toBe(201)
  return reply.body.client_id
}

/** The fields that the form of a page has, hidden and chosen, as a browser would send them. */
export function fieldsOf(page: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [, name, value] of page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g))
    fields[name!] = value!
  for (const [, name, rest] of page.matchAll(/<select name="(\w+)">\s*<option value="([^"]*)"/g)) fields[name!] = rest!
  return fields
}

/** Opens the consent page as a person and sends its form. */
export async function decide(who: Browser, path: string, more: Record<string, string> = {}): Promise<Reply> {
  const shown = await who.send('GET', path)
  expect(shown.status, shown.text).toBe(200)
  return sendForm(who, path.split('/oauth')[0]!, { ...fieldsOf(shown.text), decision: 'allow', ...more })
}

export function sendForm(
  who: Browser,
  tenantPath: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return who.send('POST', `${tenantPath}/oauth/authorize`, new URLSearchParams(fields).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
    ...headers,
  })
}

export function authorizePath(tenant: string, fields: Record<string, string>): string {
  const all = { response_type: 'code', redirect_uri: REDIRECT, code_challenge_method: 'S256', state: 's1', ...fields }
  return `/~${tenant}/oauth/authorize?${new URLSearchParams(all)}`
}

export function askToken(app: TestApp, tenant: string, fields: Record<string, string>): Promise<Reply> {
  return app.as('')('POST', `/~${tenant}/oauth/token`, new URLSearchParams(fields).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  })
}

export interface Connected {
  readonly client: string
  readonly access: string
  readonly refresh: string
  readonly tokens: any
}

/** The code that a client gets when a person allows it. */
export async function codeFor(
  who: Browser,
  tenant: string,
  client: string,
  challenge: string,
  { asked = {}, chosen = {} }: { asked?: Record<string, string>; chosen?: Record<string, string> } = {},
): Promise<string> {
  const path = authorizePath(tenant, { client_id: client, code_challenge: challenge, ...asked })
  const { headers, status, text } = await decide(who, path, chosen)
  expect(status, text).toBe(303)
  const code = new URL(headers.get('location')!).searchParams.get('code')
  expect(code, headers.get('location')!).toMatch(/^tbc_/)
  return code!
}

/** A client that a person has connected, with its tokens. */
export async function connect(
  app: TestApp,
  who: Browser,
  tenant: string,
  options: { asked?: Record<string, string>; chosen?: Record<string, string>; client?: string } = {},
): Promise<Connected> {
  const client = options.client ?? (await register(app, tenant))
  const { verifier, challenge } = pkce()
  const code = await codeFor(who, tenant, client, challenge, options)
  const { status, body, text } = await askToken(app, tenant, {
    grant_type: 'authorization_code',
    code,
    client_id: client,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
  })
  expect(status, text).toBe(200)
  return { client, access: body.access_token, refresh: body.refresh_token, tokens: body }
}
