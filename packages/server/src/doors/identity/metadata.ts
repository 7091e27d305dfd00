import type { HttpRequest, HttpResponse } from '../http.ts'
import { json, render } from '../reply.ts'
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
  const document = kind === 'resource' ? resourceOf(issuer, place.segments) : serverOf(issuer)
  return document && render(json(200, document, { 'cache-control': 'public, max-age=300' }))
}

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

function serverOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    device_authorization_endpoint: `${issuer}/oauth/device`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  }
}
