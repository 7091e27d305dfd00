import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { invite, PASSWORD, person, signIn } from './people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

let number = 0
const email = () => `person${++number}@example.org`

test.each([
  ['/~acme/sign-in', '/~acme/session'],
  ['/~acme/invitation', '/~acme/invitation/accept'],
])('%s sends its form in a body: without JavaScript no password is in an address', async (path, action) => {
  const { text } = await app.as('')('GET', path)

  expect(text.match(/<form[^>]*>/g)).toEqual([expect.stringContaining(`method="post" action="${action}"`)])
  expect(text).toContain('<meta name="description"')
})

describe('an invitation', () => {
  verifies('people.invite', 'is a URL that is valid once, and its person is active after it', async () => {
    const address = email()
    const token = await invite(app, 'acme', { email: address, role: 'Member' })
    const read = await app.as('')('POST', '/~acme/invitation', { token })
    const accepted = await app.as('')('POST', '/~acme/invitation/accept', { token, password: PASSWORD })
    const again = await app.as('')('POST', '/~acme/invitation/accept', { token, password: PASSWORD })
    const user = (await app.request('GET', `/~acme/User/${accepted.body.user.$id}`)).body

    expect(read.body).toEqual({ tenant: 'acme', name: 'Ada', email: address })
    expect([accepted.status, again.status]).toEqual([201, 401])
    expect(user.status).toBe('Active')
    const { body } = await app.request('GET', '/~acme/events?type=User.activated&limit=1000')
    expect(body.results.at(-1)).toMatchObject({ entityId: user.$id, actor: user.$id })
  })

  test('ends an earlier one, and the sessions of its person', async () => {
    const ada = await person(app, 'acme', { email: email(), role: 'Member' })
    const one = (await app.request('POST', `/~acme/User/${ada.user.$id}/invite`)).body.invitation.split('#')[1]
    const two = (await app.request('POST', `/~acme/User/${ada.user.$id}/invite`)).body.invitation.split('#')[1]
    const accept = (token: string) => app.as('')('POST', '/~acme/invitation/accept', { token, password: PASSWORD })

    expect((await ada.send('GET', '/~acme/Contact')).status).toBe(401)
    expect((await accept(one)).status).toBe(401)
    expect((await accept(two)).status).toBe(201)
  })

  test.each([
    ['short', 'elevenchars'],
    ['of one letter', 'aaaaaaaaaaaaaaaa'],
  ])('takes no password that is %s', async (_, password) => {
    const token = await invite(app, 'acme', { email: email(), role: 'Member' })
    const reply = await app.as('')('POST', '/~acme/invitation/accept', { token, password })

    expect([reply.status, reply.body.details?.[0]?.field]).toEqual([422, 'password'])
  })

  test('is not kept for an Idempotency-Key, and stored code cannot issue one', async () => {
    const { body: user } = await app.request('POST', '/~acme/User', { name: 'Ida', email: email(), role: 'Viewer' })
    const ask = () => app.request('POST', `/~acme/User/${user.$id}/invite`, {}, { 'idempotency-key': `k${user.$id}` })
    const first = await ask()
    const second = await ask()

    expect(first.body.invitation).toMatch(/tbi_/)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.text).not.toContain(first.body.invitation.split('#')[1])
  })
})

describe('a session', () => {
  verifies('people.session', 'is an HttpOnly cookie for the path of its tenant', async () => {
    const address = email()
    await person(app, 'acme', { email: address, role: 'Member' })
    const reply = await app.as('')('POST', '/~acme/session', { email: address, password: PASSWORD })
    const cookie = reply.headers.get('set-cookie')!

    expect(reply.status).toBe(201)
    expect(cookie).toMatch(/^tilde_session=tbs_\w{40}~acme; Path=\/~acme; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const public_ = await app.fetch('/~acme/session', {
      method: 'POST',
      headers: { host: 'tilde.example', 'x-forwarded-proto': 'https' },
      body: JSON.stringify({ email: address, password: PASSWORD }),
    })
    expect(public_.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  verifies('people.actor', 'names the person in every event', async () => {
    const ada = await person(app, 'acme', { email: email(), role: 'Member' })
    const { body } = await ada.send('POST', '/~acme/Contact', { name: 'Grace' })
    const events = (await app.request('GET', '/~acme/events?type=Contact.created&limit=1000')).body.results

    expect(body.$createdBy).toBe(ada.user.$id)
    expect(events.at(-1)).toMatchObject({ actor: ada.user.$id, entityId: body.$id })
  })

  verifies('people.session.end', 'ends when it is signed out of, and never works again', async () => {
    const ada = await person(app, 'acme', { email: email(), role: 'Member' })
    const before = await ada.send('GET', '/~acme/session')
    const out = await ada.send('DELETE', '/~acme/session')

    expect(before.body).toMatchObject({ actor: ada.user.$id, csrf: ada.csrf, scopes: ['write:all'] })
    expect(out.status).toBe(204)
    expect(out.headers.get('set-cookie')).toMatch(/^tilde_session=;.*Max-Age=0/)
    expect((await ada.send('GET', '/~acme/Contact')).status).toBe(401)
  })

  verifies(
    'people.sessions',
    'is listed and ended by its person, and those of others by administrators only',
    async () => {
      const address = email()
      const one = await person(app, 'acme', { email: address, role: 'Member' })
      const two = await signIn(app, 'acme', address)
      const other = await person(app, 'acme', { email: email(), role: 'Member' })
      const list = (await two.send('GET', '/~acme/account/sessions')).body.results
      const older = list.find(({ current }: any) => !current)

      expect(list).toHaveLength(2)
      expect((await other.send('DELETE', `/~acme/account/sessions/${older.id}`)).status).toBe(403)
      expect((await other.send('GET', `/~acme/account/sessions?user=${one.user.$id}`)).status).toBe(403)
      expect((await two.send('DELETE', `/~acme/account/sessions/${older.id}`)).status).toBe(204)
      expect((await one.send('GET', '/~acme/Contact')).status).toBe(401)
      expect((await two.send('GET', '/~acme/Contact')).status).toBe(200)
      const seen = await app.request('GET', `/~acme/account/sessions?user=${one.user.$id}`)
      expect(seen.body.results).toHaveLength(1)
      expect(JSON.stringify(seen.body)).not.toContain('tbs_')
      expect((await app.request('DELETE', `/~acme/account/sessions/${seen.body.results[0].id}`)).status).toBe(204)
      expect((await two.send('GET', '/~acme/Contact')).status).toBe(401)
    },
  )

  verifies(
    'people.suspend',
    'ends at once when its person is suspended, and stays ended when they are active again',
    async () => {
      const address = email()
      const ada = await person(app, 'acme', { email: address, role: 'Member' })
      await app.request('POST', `/~acme/User/${ada.user.$id}/suspend`)
      const during = await ada.send('GET', '/~acme/Contact')
      const attempt = await app.as('')('POST', '/~acme/session', { email: address, password: PASSWORD })
      await app.request('POST', `/~acme/User/${ada.user.$id}/activate`)

      expect([during.status, attempt.status]).toEqual([401, 401])
      expect((await ada.send('GET', '/~acme/Contact')).status).toBe(401)
      expect((await signIn(app, 'acme', address)).user.$id).toBe(ada.user.$id)
    },
  )

  test('is not a key: it opens nothing in an Authorization header, nor at another tenant', async () => {
    await app.request('POST', '/~other/Contact', { name: 'x' })
    const ada = await person(app, 'acme', { email: email(), role: 'Admin' })
    const secret = ada.cookie.split('=')[1]!

    expect((await app.as(secret)('GET', '/~acme/Contact')).status).toBe(401)
    expect((await ada.send('GET', '/~other/Contact')).status).toBe(403)
  })

  verifies('people.csrf', 'writes only with its own token', async () => {
    const ada = await person(app, 'acme', { email: email(), role: 'Member' })
    const other = await person(app, 'acme', { email: email(), role: 'Member' })
    const write = (csrf: Record<string, string>) =>
      app.as('')('POST', '/~acme/Contact', { name: 'x' }, { cookie: ada.cookie, ...csrf })

    expect((await write({})).status).toBe(403)
    expect((await write({ 'x-tilde-csrf': other.csrf })).status).toBe(403)
    expect((await write({ 'x-tilde-csrf': ada.csrf })).status).toBe(201)
  })

  test('gets answers that no shared cache keeps', async () => {
    const ada = await person(app, 'acme', { email: email(), role: 'Member' })

    const paths = ['/~acme/Contact', '/~acme/Contact/none', '/~acme/events', '/~acme/schema/Contact', '/~acme/status']
    for (const path of paths) {
      const kept = (await ada.send('GET', path)).headers.get('cache-control')
      expect([path, kept]).toEqual([path, expect.stringMatching(/private|no-store/)])
    }
  })

  test('changes its password with the old one, which ends the others', async () => {
    const address = email()
    const one = await person(app, 'acme', { email: address, role: 'Member' })
    const two = await signIn(app, 'acme', address)
    const next = 'a brand new passphrase'
    const change = (current: string) => two.send('PUT', '/~acme/account/password', { current, password: next })

    expect((await change('not the password')).status).toBe(403)
    expect((await change(PASSWORD)).status).toBe(204)
    expect((await one.send('GET', '/~acme/session')).status).toBe(401)
    expect((await two.send('GET', '/~acme/session')).status).toBe(200)
    expect((await signIn(app, 'acme', address, next)).user.$id).toBe(one.user.$id)
  })
})

test('the address of a person is known in capital and in small letters', async () => {
  const address = 'Grace.Hopper@Example.org'
  const status = async (given: string, password = PASSWORD) =>
    (await app.as('')('POST', '/~letters/session', { email: given, password })).status
  await person(app, 'letters', { email: address, role: 'Viewer' })
  const all = [address, address.toLowerCase(), address.toUpperCase()]
  expect(await Promise.all(all.map((one) => status(one)))).toEqual([201, 201, 201])

  await person(app, 'letters', { email: 'GRACE.hopper@example.org', role: 'Viewer' })

  const { user } = await signIn(app, 'letters', address)
  const { user: second } = await signIn(app, 'letters', 'GRACE.hopper@example.org')
  expect([user.email, second.email]).toEqual([address, 'GRACE.hopper@example.org'])
  expect(await status(address.toLowerCase())).toBe(401)
})

test('a tenant without users answers a sign-in like a wrong password, and is not opened', async () => {
  await app.request('POST', '/~empty/Contact', { name: 'x' })
  const ask = (tenant: string) => app.as('')('POST', `/~${tenant}/session`, { email: 'a@b.org', password: PASSWORD })

  expect([(await ask('empty')).status, (await ask('nowhere')).status]).toEqual([401, 401])
})

test('the link of an invitation has the address by which the service was asked', async () => {
  const { body } = await app.request('POST', '/~acme/User', { name: 'Link', email: 'link@example.org', role: 'Member' })
  const headers = { host: 'tilde.example:8080' }
  const invited = await app.request('POST', `/~acme/User/${body.$id}/invite`, {}, headers)

  expect(invited.body.$context).toBe('http://tilde.example:8080/~acme')
  expect(invited.body.invitation).toMatch(/^http:\/\/tilde\.example:8080\/~acme\/invitation#/)
})

test('code shows the address by which the service was asked, as every answer does', async () => {
  const { body } = await app.request('POST', '/~acme/User', { name: 'Code', email: 'code@example.org', role: 'Member' })
  const id = JSON.stringify(body.$id)
  const code = `const invited = await $.User.invite(${id})
    const [found] = await $.User.find({ $id: ${id} })
    const page = await $.User.findPage({ $id: ${id} })
    const one = await $.User.get(${id})
    const [event] = await $.events({ type: 'User.invited' })
    return [invited.invitation, ...[invited, found, page.results[0], one, event.data].map(({ $context }) => $context)]`
  const headers = { host: 'tilde.example:8080' }
  const done = await app.request('POST', '/~acme/do', { code }, headers)
  const dry = await app.request(
    'POST',
    '/~acme/do?dryRun=true',
    { code: `(await $.User.get(${id})).$context` },
    headers,
  )

  const context = 'http://tilde.example:8080/~acme'
  const [invitation, ...contexts] = done.body.result
  expect(invitation).toMatch(/^http:\/\/tilde\.example:8080\/~acme\/invitation#/)
  expect(contexts).toEqual([context, context, context, context, context])
  expect(dry.body.result).toBe(context)
})
