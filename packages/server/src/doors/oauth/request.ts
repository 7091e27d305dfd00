import type { JsonObject } from '@tildebase/nouns'
import type { Grant, Scope } from '@tildebase/tenant'
import { type Client, common, scopesText } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import { clientOf, redirectOf } from './clients.ts'
import { OAuthError } from './error.ts'
import { needed } from './form.ts'

/** A request for authorization that may be shown to a person. */
export interface AuthorizationRequest {
  readonly client: Client
  readonly redirect: string
  readonly state: string | null
  readonly challenge: string
  readonly scopes: readonly Scope[]
  /** The one path that the token is for, or null for all of the tenant. */
  readonly only: string | null
}

/** An error that the client learns by its redirect URI. What makes that URI doubtful is shown to the person instead. */
export class RedirectError extends OAuthError {
  readonly redirect: string
  readonly state: string | null

  constructor(code: string, message: string, redirect: string, state: string | null) {
    super(code, message)
    this.redirect = redirect
    this.state = state
  }
}

const CHALLENGE = /^[\w-]{43}$/

/** Reads an authorization request. */
export async function authorizationOf(
  call: Call,
  fields: ReadonlyMap<string, string>,
  person: Grant,
): Promise<AuthorizationRequest> {
  const client = await clientOf(call, needed(fields, 'client_id'))
  const redirect = redirectOf(client, fields.get('redirect_uri') ?? null)
  const state = fields.get('state') ?? null
  const refuse = (code: string, message: string) => new RedirectError(code, message, redirect, state)
  if (fields.get('response_type') !== 'code') throw refuse('unsupported_response_type', 'response_type must be code.')
  if (fields.get('code_challenge_method') !== 'S256')
    throw refuse('invalid_request', 'code_challenge_method must be S256. The method plain is not accepted.')
  const challenge = fields.get('code_challenge') ?? ''
  if (!CHALLENGE.test(challenge)) throw refuse('invalid_request', 'code_challenge must be the SHA-256 of a verifier.')
  const only = onlyOf(call, fields.get('resource'))
  if (only === undefined) throw refuse('invalid_target', 'resource must be the URL of this tenant, or its /mcp.')
  const scopes = scopesFor(call, fields.get('scope') ?? '', person)
  if (scopes.length === 0) throw refuse('invalid_scope', 'You have none of the rights that the client requests.')
  return { client, redirect, state, challenge, scopes, only }
}

/** The path that a resource indicator names: null is the whole tenant, undefined is none of ours. */
export function onlyOf({ context, address }: Call, resource: string | undefined): string | null | undefined {
  if (resource === undefined) return null
  const asked = resource.replace(/\/$/, '')
  for (const own of [context, address]) {
    if (asked === own) return null
    if (asked === `${own}/mcp`) return 'mcp'
  }
  return undefined
}

/** What a client asks for, as far as the person holds it; without a word, what they hold except administration. */
export function scopesFor({ tenant, read }: Call, text: string, person: Grant): readonly Scope[] {
  const words = wordsOf(text)
  const asked = tenant.identity.scopes(words.length > 0 ? words.join(',') : 'write:all')
  return common(asked, person.scopes, (area) => domainOf(read, area))
}

/** The scopes in a parameter, as a client writes them. */
export function wordsOf(text = ''): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '' && word !== 'offline_access')
}

/** The domain of a type that a scope names. */
export function domainOf({ nouns }: Call['read'], area: string): string | null {
  return nouns.get(area)?.domain ?? null
}

/** The request as it is kept while the person decides. */
export function keptRequest(request: AuthorizationRequest): JsonObject {
  const { client, redirect, state, challenge, scopes, only } = request
  return { client: client.id, redirect, state, challenge, scopes: scopesText(scopes), only }
}
