import { tildebase } from '@tildebase/client'
import {
  acceptInvitation,
  currentSession,
  endOAuth,
  finishOAuth,
  oauthAuth,
  signIn,
  signInWithPasskey,
  startOAuth,
  type Tokens,
} from '@tildebase/client/sign-in'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { decide, REDIRECT } from '../people/agents.ts'
import { Authenticator } from '../people/authenticator.ts'
import { type Browser, invite, PASSWORD, signIn as signInBrowser } from '../people/people.ts'

let host: TestHost
let number = 0
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())
afterEach(() => vi.unstubAllGlobals())

const place = () => ({ tenant: 'acme', baseUrl: host.url })
const client = (auth: Parameters<typeof tildebase>[0]['auth']) => tildebase({ ...place(), auth: auth! })

/** A member with a password. */
async function member(): Promise<string> {
  const email = `client${++number}@example.org`
  const token = await invite(host, 'acme', { email, role: 'Member' })
  await acceptInvitation(place(), { token, password: PASSWORD })
  return email
}

describe('a password', () => {
  test('signs in, reads and writes as the person, and signs out', async () => {
    const email = await member()

    const session = await signIn(place(), { email, password: PASSWORD })
    const $ = client(session.auth)
    const ada = await $.Contact.create({ name: 'Ada' })

    expect(session.user).toMatchObject({ email, role: 'Member' })
    expect((await $.Contact.history(ada.$id))[0]!.actor).toBe(session.user.$id)
    await session.end()
    await expect($.Contact.count()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('that is wrong is refused in a sentence', async () => {
    const email = await member()

    await expect(signIn(place(), { email, password: 'not the password' })).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'The e-mail address or the password is wrong.',
    })
  })
})

test('a browser without a sign-in has no session', async () => {
  expect(await currentSession(place())).toBeNull()
})

test('a browser finds its session again after a reload', async () => {
  const browser = await signInBrowser(host, 'acme', await member())
  // A browser sends the cookie itself.
  const fetch = (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    headers.set('cookie', browser.cookie)
    return globalThis.fetch(url, { ...init, headers })
  }

  const session = await currentSession({ ...place(), fetch })
  const $ = tildebase({ ...place(), fetch, auth: session!.auth })

  expect(session!.user.$id).toBe(browser.user.$id)
  expect((await $.Contact.create({ name: 'Ada' })).$createdBy).toBe(browser.user.$id)
})

test('a passkey signs in', async () => {
  const device = new Authenticator()
  const token = await invite(host, 'acme', { email: `client${++number}@example.org`, role: 'Member' })
  const send = (path: string, body: object) => host.as('')('POST', `/~acme${path}`, body)
  const { body } = await send('/invitation/passkey/options', { token })
  await send('/invitation/passkey', {
    token,
    challenge: body.challenge,
    response: device.create(body.options, host.url),
  })
  // What a browser offers a page.
  vi.stubGlobal('PublicKeyCredential', { parseRequestOptionsFromJSON: (options: object) => options })
  vi.stubGlobal('navigator', {
    credentials: {
      get: async ({ publicKey }: { publicKey: object }) => ({ toJSON: () => device.get(publicKey, host.url) }),
    },
  })

  const session = await signInWithPasskey(place())

  expect((await client(session.auth).Contact.create({ name: 'Ada' })).$createdBy).toBe(session.user.$id)
})

describe('OAuth', () => {
  let who: Browser
  beforeAll(async () => {
    who = await signInBrowser(host, 'acme', await member())
  })

  /** Starts, lets the person decide, and returns the address that they come back to. */
  async function consent(more: Record<string, string> = {}) {
    const { url, pending } = await startOAuth({ ...place(), redirectUri: REDIRECT, scopes: ['write:crm'] })
    const reply = await decide(who, url.slice(host.url.length), more)
    return { pending, address: reply.headers.get('location')! }
  }

  test('gives tokens for the rights that a person allowed, and ends', async () => {
    const { pending, address } = await consent()

    const tokens = await finishOAuth(JSON.parse(JSON.stringify(pending)), address)
    const $ = client(oauthAuth(tokens))

    expect(tokens.scopes).toEqual(['write:crm'])
    expect((await $.Contact.create({ name: 'Ada' })).name).toBe('Ada')
    await expect($.Ticket.create({ subject: 'x' })).rejects.toMatchObject({ code: 'forbidden' })
    await endOAuth(tokens)
    await expect($.Contact.count()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('renews tokens before they end and after a 401, once for all requests', async () => {
    const { pending, address } = await consent()
    const tokens = await finishOAuth(pending, address)
    const seen: Tokens[] = []

    const late = client(oauthAuth({ ...tokens, expiresAt: 0 }, { onTokens: (fresh) => seen.push(fresh) }))
    const counts = await Promise.all([late.Contact.count(), late.Contact.count(), late.Contact.count()])
    expect([counts.length, seen.length]).toEqual([3, 1])

    const ended = client(
      oauthAuth({ ...seen[0]!, accessToken: 'tba_ended' }, { onTokens: (fresh) => seen.push(fresh) }),
    )
    await Promise.all([ended.Contact.count(), ended.Contact.create({ name: 'Bob' })])
    expect(seen.length).toBe(2)
  })

  test('tells that the person refused', async () => {
    const { pending, address } = await consent({ decision: 'deny' })

    await expect(finishOAuth(pending, address)).rejects.toMatchObject({
      code: 'forbidden',
      about: { oauth: 'access_denied' },
    })
  })

  test('takes no answer to another question', async () => {
    const { pending, address } = await consent()

    await expect(finishOAuth({ ...pending, state: 'other' }, address)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(finishOAuth({ ...pending, verifier: 'x'.repeat(43) }, address)).rejects.toMatchObject({
      code: 'unauthorized',
      about: { oauth: 'invalid_grant' },
    })
  })
})
