import { isoOf, isPlainObject, Problem } from '@tildebase/nouns'
import type { Credential, User } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, type Body, DELETED, jsonBody, USER } from '../describe/description.ts'
import { ANY_OBJECT, record, resultsOf, type Schema, TEXT, whole } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, streamRoute } from '../route.ts'
import { INVITATION, ownerOf, SIGNED_IN, signedIn, subjectOf, textsOf } from './answers.ts'
import { accept, invited } from './invitation.ts'
import { demandSameOrigin } from './same-origin.ts'
import { authenticated, authenticationOptions, registered, registrationOptions } from './webauthn.ts'

const CHALLENGE_MS = 300_000
const MOST_PASSKEYS = 20

const OPTIONS = { 200: answer(whole({ options: ANY_OBJECT, challenge: TEXT })) }

/** Passkeys: to sign in with, to accept an invitation with, and a person's own. */
export const passkeyRoutes: readonly Route[] = [
  streamRoute('POST /session/passkey/options', {
    summary: 'Get the options to sign in with a passkey',
    needs: 'no key',
    repeats: true,
    body: null,
    answers: OPTIONS,
    handle: startSignIn,
  }),
  streamRoute('POST /session/passkey', {
    summary: 'Sign in with a passkey',
    needs: 'no key',
    repeats: true,
    body: passkeyBody(),
    answers: SIGNED_IN,
    handle: signIn,
  }),
  streamRoute('POST /invitation/passkey/options', {
    summary: 'Get the options to accept an invitation with a passkey',
    needs: 'no key',
    repeats: true,
    body: INVITATION,
    answers: OPTIONS,
    handle: startAccept,
  }),
  streamRoute('POST /invitation/passkey', {
    summary: 'Accept an invitation with a passkey',
    needs: 'no key',
    repeats: true,
    body: passkeyBody({ token: TEXT }),
    answers: SIGNED_IN,
    handle: acceptWithPasskey,
  }),
  readRoute('GET /account/passkeys', {
    summary: 'List the passkeys of a person',
    needs: 'a session or admin:identity',
    params: [USER],
    answers: { 200: answer(resultsOf()) },
    handle: list,
  }),
  streamRoute('POST /account/passkeys/options', {
    summary: 'Get the options to add a passkey',
    needs: 'a session',
    repeats: true,
    body: null,
    answers: OPTIONS,
    handle: startAdd,
  }),
  streamRoute('POST /account/passkeys', {
    summary: 'Add a passkey',
    needs: 'a session',
    repeats: true,
    body: passkeyBody(),
    answers: { 201: answer(ANY_OBJECT) },
    handle: add,
  }),
  streamRoute('DELETE /account/passkeys/:id', {
    summary: 'Remove a passkey',
    needs: 'a session or admin:identity',
    answers: DELETED,
    handle: remove,
  }),
]

/** What the browser got from the authenticator, with more. */
function passkeyBody(more: Schema = {}): Body {
  const response = { id: 'AQIDBA', type: 'public-key' }
  return jsonBody(
    record('', { ...more, challenge: TEXT, response: ANY_OBJECT }, ['challenge', 'response']),
    { challenge: 'kC3x…', response },
    'The challenge, and the answer of the authenticator.',
  )
}

/** The options name no account: the browser knows its passkeys, and the answer does not reveal accounts. */
async function startSignIn(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const options = await authenticationOptions(call)
  return started(call, 'sign-in', null, options)
}

async function signIn(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const { identity } = call.tenant
  const { challenge } = taken(call, 'sign-in', null)
  const response = responseOf(call)
  const known = typeof response.id === 'string' ? identity.credential(response.id) : null
  const counter = known?.kind === 'passkey' ? await authenticated(call, response, challenge, known) : null
  const user = known ? identity.user(known.user) : null
  if (counter === null || !known || !user || identity.grantOf(user.id) === null)
    throw new Problem('unauthorized', 'This passkey is unknown here.')
  identity.useCredential(known.id, { ...known.data, counter })
  return signedIn(call, user, 'passkey')
}

async function startAccept(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const user = invited(call)
  return started(call, 'accept', user.id, await registrationOptions(call, user, []))
}

async function acceptWithPasskey(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const user = invited(call)
  return accept(call, { ...(await newPasskey(call, 'accept', user)), kind: 'passkey' })
}

function list(call: Call): Reply {
  const results = passkeysOf(call, subjectOf(call)).map(({ id, data, createdAt, usedAt }) => ({
    id,
    name: data.name ?? 'Passkey',
    createdAt: isoOf(createdAt),
    lastUsedAt: usedAt === null ? null : isoOf(usedAt),
  }))
  return json(200, { results, total: results.length })
}

async function startAdd(call: Call): Promise<Reply> {
  const user = call.tenant.identity.user(ownerOf(call))!
  const known = passkeysOf(call, user.id)
  if (known.length >= MOST_PASSKEYS)
    throw new Problem('conflict', `A person may have at most ${MOST_PASSKEYS} passkeys.`)
  const options = await registrationOptions(
    call,
    user,
    known.map(({ id }) => id),
  )
  return started(call, 'add', user.id, options)
}

async function add(call: Call): Promise<Reply> {
  const { identity } = call.tenant
  const user = identity.user(ownerOf(call))!
  const passkey = await newPasskey(call, 'add', user)
  if (identity.credential(passkey.id)) throw new Problem('conflict', 'This passkey is already registered.')
  identity.saveCredential({ ...passkey, user: user.id, kind: 'passkey' })
  return json(201, { id: passkey.id, name: passkey.data.name })
}

function remove(call: Call): Reply {
  const { identity } = call.tenant
  const credential = identity.credential(call.params.id!)
  const own = call.sender.kind === 'session' ? call.grant.actor : null
  if (credential?.user !== own) call.read.demand('admin', call.read.noun('User'))
  if (credential?.kind !== 'passkey') throw new Problem('not_found', `There is no passkey ${call.params.id}.`)
  if (credential.user === own && identity.credentials(own).length === 1 && !call.identity.oidc)
    throw new Problem(
      'conflict',
      'Without this passkey you could not sign in. Add a password or another passkey first.',
    )
  identity.dropCredential(credential.id)
  return empty(204)
}

function passkeysOf({ tenant }: Call, user: string): Credential[] {
  return tenant.identity.credentials(user).filter(({ kind }) => kind === 'passkey')
}

/** The passkey in the body, if it answers the challenge that this person was given. */
async function newPasskey(call: Call, purpose: string, user: User) {
  const { challenge } = taken(call, purpose, user.id)
  const passkey = await registered(call, responseOf(call), challenge)
  if (passkey === null) throw new Problem('unauthorized', 'The passkey could not be verified. Try again.')
  const { name } = (call.body ?? {}) as { name?: unknown }
  const shown = typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 60) : 'Passkey'
  return { id: passkey.id, data: { ...passkey.data, name: shown } }
}

function started({ tenant }: Call, purpose: string, user: string | null, options: { challenge: string }): Reply {
  const challenge = tenant.identity.seal({ purpose, user, challenge: options.challenge }, CHALLENGE_MS)
  return json(200, { options, challenge }, { 'cache-control': 'no-store' })
}

/** The challenge that the body answers. It can be answered once, for what it was given for. */
function taken(call: Call, purpose: string, user: string | null): { readonly challenge: string } {
  const data = call.tenant.identity.spend(textsOf(call, ['challenge']).challenge)
  if (data?.purpose === purpose && data.user === user) return data as { challenge: string }
  throw new Problem('unauthorized', 'This challenge has expired or was already used. Start again.')
}

function responseOf({ body }: Call): { readonly id?: unknown; readonly [field: string]: unknown } {
  const response = isPlainObject(body) ? body.response : undefined
  if (isPlainObject(response)) return response
  throw new Problem('invalid_body', 'response must be the result of the browser for the passkey.', {
    field: 'response',
  })
}
