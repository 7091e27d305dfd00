import type { Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ANY_OBJECT } from '../describe/schema.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import { json, render } from '../reply.ts'
import { readRoute } from '../route.ts'
import type { RequestTarget } from '../target.ts'

/** What a client may ask for: an action and an area, as API keys have them. */
const SCOPES = ['read:all', 'write:all', 'admin:all']

/** The challenge of a tenant: where a client finds out how to get a token. */
export function challenge(answer: HttpResponse, place: RequestTarget, sender: string | undefined): HttpResponse {
  if (place.dimensions[0] === '.well-known') return answer
  const isMcp = place.segments[0] === 'mcp'
  const metadata = `${place.baseUrl}/.well-known/oauth-protected-resource/~${place.tenant}${isMcp ? '/mcp' : ''}`
  const error = sender === 'secret' ? 'error="invalid_token", ' : ''
  return {
    ...answer,
    headers: { ...answer.headers, 'www-authenticate': `Bearer ${error}resource_metadata="${metadata}"` },
  }
}

/**
 * The documents about a tenant as a protected resource (RFC 9728) and as an authorization server (RFC 8414). They follow
 * from the URL only, so no tenant is opened, and the answer does not reveal which tenants exist.
 */
export function metadataPage(
  { method }: HttpRequest,
  place: RequestTarget,
  baseUrl: string | null,
): HttpResponse | null {
  const kind = metadataKind(place)
  if (kind === null || place.tenant === null) return null
  if (method !== 'GET' && method !== 'HEAD') return null
  const issuer = `${baseUrl ?? place.baseUrl}/~${place.tenant}`
  if (kind === 'server') return render(json(200, serverOf(issuer), { 'cache-control': 'no-store' }))
  const document = resourceOf(issuer, place.segments)
  return document && render(json(200, document, LASTING))
}

const LASTING = { 'cache-control': 'public, max-age=300' }
const SERVER_PATH = ['.well-known', 'oauth-authorization-server']

/** A target within a tenant. */
export interface OwnTarget extends RequestTarget {
  readonly tenant: string
}

/** Where the tenant itself is asked for its metadata as an authorization server; null for every other target. */
export function serverMetadataTarget(place: RequestTarget): OwnTarget | null {
  const { tenant } = place
  if (tenant === null || metadataKind(place) !== 'server') return null
  return { ...place, tenant, dimensions: [], segments: SERVER_PATH }
}

/** The metadata of a tenant with people: only there can a client register, and a person consent. */
export const metadataRoutes: readonly Route[] = [
  readRoute('GET /.well-known/oauth-authorization-server', {
    summary: 'Get the OAuth metadata of the tenant',
    needs: 'no key',
    answers: { 200: answer(ANY_OBJECT) },
    handle: ({ context }) => json(200, { ...serverOf(context), ...clientsOf(context) }, LASTING),
  }),
]

/** Clients look below the host, as the RFCs say, and some below the issuer. */
function metadataKind({ dimensions, segments }: RequestTarget): 'resource' | 'server' | null {
  const [first, name, ...rest] = dimensions[0] === '.well-known' ? dimensions : segments
  if (first !== '.well-known' || rest.length > 0) return null
  if (name === 'oauth-protected-resource') return 'resource'
  return name === 'oauth-authorization-server' || name === 'openid-configuration' ? 'server' : null
}

function resourceOf(issuer: string, segments: readonly string[]): object | null {
  const isRest = segments.length === 0 || segments[0] === '.well-known'
  const isMcp = segments.length === 1 && segments[0] === 'mcp'
  if (!isRest && !isMcp) return null
  return {
    resource: isMcp ? `${issuer}/mcp` : issuer,
    authorization_servers: [issuer],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Tildebase',
  }
}

/** What holds for every tenant, also for one without people. */
function serverOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

/** What a client can use once there is a person. */
function clientsOf(issuer: string) {
  return {
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    device_authorization_endpoint: `${issuer}/oauth/device`,
    grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    revocation_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: true,
  }
}
