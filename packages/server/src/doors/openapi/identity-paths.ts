import { ANY_OBJECT, answers, body } from './common.ts'
import type { Description } from './entity-paths.ts'
import { query } from './parameters.ts'
import type { Schema } from './schemas.ts'

/** What is known of a path beyond its route. */
interface Known extends Partial<Description> {
  readonly success?: Schema
  readonly others?: { readonly [contentType: string]: Schema }
  /** The status of success, where it is not 200. */
  readonly status?: number
}

const TEXT = { type: 'string' }
const INVITATION = 'inv_0VxGq3mZ8kLrT2wYbN4cDe'
const PAGE = { 'text/html': { schema: TEXT } }
const TOKEN = { type: 'object', properties: { token: TEXT }, required: ['token'] }
const PASSKEY = {
  type: 'object',
  properties: { challenge: TEXT, response: ANY_OBJECT },
  required: ['challenge', 'response'],
}
const OPTIONS = {
  type: 'object',
  properties: { options: ANY_OBJECT, challenge: TEXT },
  required: ['options', 'challenge'],
}
const SIGNED_IN = {
  type: 'object',
  properties: { user: ANY_OBJECT, csrf: TEXT, expiresAt: { type: 'string', format: 'date-time' } },
  required: ['user', 'csrf', 'expiresAt'],
}
const ROLE = {
  type: 'object',
  properties: {
    name: TEXT,
    scopes: TEXT,
    filter: { type: ['object', 'null'], additionalProperties: true },
    builtIn: { type: 'boolean' },
  },
  required: ['name', 'scopes', 'builtIn'],
}
const TOKENS = {
  type: 'object',
  properties: {
    access_token: TEXT,
    token_type: { const: 'Bearer' },
    expires_in: { type: 'integer' },
    refresh_token: TEXT,
    scope: TEXT,
  },
  required: ['access_token', 'token_type', 'expires_in'],
}

/** Signing in, accounts, roles and OAuth. */
export const IDENTITY_PATHS: { readonly [route: string]: Known } = {
  'POST /session': {
    requestBody: body(
      { type: 'object', properties: { email: TEXT, password: TEXT }, required: ['email', 'password'] },
      true,
      { email: 'ada@example.com', password: 'correct horse battery' },
      'The address and the password of a person.',
    ),
    success: SIGNED_IN,
    status: 201,
  },
  'GET /session': {
    success: {
      type: 'object',
      properties: {
        actor: TEXT,
        onBehalfOf: TEXT,
        user: ANY_OBJECT,
        scopes: { type: 'array', items: TEXT },
        filter: ANY_OBJECT,
        limits: ANY_OBJECT,
        csrf: TEXT,
      },
      required: ['actor', 'scopes', 'filter'],
    },
  },
  'GET /account/sessions': { parameters: [userParam()], success: listed() },
  'GET /account/passkeys': { parameters: [userParam()], success: listed() },
  'GET /account/tokens': { parameters: [userParam()], success: listed() },
  'PUT /account/password': {
    requestBody: body(
      { type: 'object', properties: { current: TEXT, password: TEXT }, required: ['password'] },
      true,
      { current: 'correct horse battery', password: 'a longer password than before' },
      'The present password, if there is one, and the new one.',
    ),
    status: 204,
  },
  'POST /account/passkeys/options': { success: OPTIONS },
  'POST /account/passkeys': { requestBody: passkeyBody(PASSKEY), status: 201 },
  'POST /session/passkey/options': { success: OPTIONS },
  'POST /session/passkey': { requestBody: passkeyBody(PASSKEY), success: SIGNED_IN, status: 201 },
  'POST /invitation': { requestBody: tokenBody() },
  'POST /invitation/accept': {
    requestBody: body(
      { type: 'object', properties: { token: TEXT, password: TEXT }, required: ['token', 'password'] },
      true,
      { token: INVITATION, password: 'correct horse battery' },
      'The token of the invitation, and a password of 12 characters or more.',
    ),
    success: SIGNED_IN,
    status: 201,
  },
  'POST /invitation/passkey/options': { requestBody: tokenBody(), success: OPTIONS },
  'POST /invitation/passkey': {
    requestBody: passkeyBody({ ...PASSKEY, properties: { token: TEXT, ...PASSKEY.properties } }),
    success: SIGNED_IN,
    status: 201,
  },
  'GET /session/oidc': { status: 302 },
  'GET /session/oidc/callback': { status: 303 },
  'GET /schema/roles': { success: listed(ROLE) },
  'GET /schema/roles/:name': { success: ROLE },
  'PUT /schema/roles/:name': {
    requestBody: body(
      { type: 'object', properties: { scopes: TEXT, filter: ANY_OBJECT }, required: ['scopes'] },
      true,
      { scopes: 'write:crm', filter: { Deal: { description: '$user.email' } } },
      'The scopes of the role, and its row filters by type.',
    ),
    success: ROLE,
  },
  'GET /oauth/authorize': { others: PAGE },
  'POST /oauth/authorize': { requestBody: form({ request: 'kC3x…', decision: 'allow' }), status: 303 },
  'POST /oauth/token': {
    requestBody: form({ grant_type: 'authorization_code', client_id: 'client_0VxGq3mZ8kLrT2wY' }),
    success: TOKENS,
  },
  'POST /oauth/revoke': { requestBody: form({ token: 'tbr_…' }) },
  'POST /oauth/register': {
    requestBody: body(
      {
        type: 'object',
        properties: { client_name: TEXT, redirect_uris: { type: 'array', items: TEXT } },
        required: ['redirect_uris'],
      },
      true,
      { client_name: 'My application', redirect_uris: ['https://app.example/callback'] },
      'The metadata of the client, RFC 7591.',
    ),
    status: 201,
  },
  'POST /oauth/device': { requestBody: form({ client_id: 'client_0VxGq3mZ8kLrT2wY' }) },
  'GET /oauth/device': { others: PAGE },
}

/** The answer of success, where it is another one than of most paths. */
export function identitySuccess(route: string, summary: string): Description['responses'] | null {
  const { status, success = ANY_OBJECT } = IDENTITY_PATHS[route] ?? {}
  if (status === undefined) return null
  const isBare = status === 204 || status >= 300
  return { [status]: isBare ? { description: summary } : answers(summary, success, []) }
}

/** A form with these fields. */
function form(example: { readonly [name: string]: string }): Schema {
  const required = Object.keys(example)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(required.map((name) => [name, TEXT])),
    required,
    additionalProperties: TEXT,
  }
  const description = `A form with ${required.join(', ')}.`
  return { description, required: true, content: { 'application/x-www-form-urlencoded': { schema, example } } }
}

function tokenBody(): Schema {
  return body(TOKEN, true, { token: INVITATION }, 'The token of the invitation.')
}

function passkeyBody(schema: Schema): Schema {
  const response = { id: 'AQIDBA', type: 'public-key' }
  return body(schema, true, { challenge: 'kC3x…', response }, 'The challenge, and the answer of the authenticator.')
}

function listed(items: Schema = ANY_OBJECT): Schema {
  return {
    type: 'object',
    properties: { results: { type: 'array', items }, total: { type: 'integer' } },
    required: ['results', 'total'],
  }
}

function userParam(): Schema {
  return query('user', 'The person, for administrators.', 'user_0VxGq3mZ8kLrT2wYbN4cDe')
}
