import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { Authenticator } from './authenticator.ts'
import { invite, person } from './people.ts'

let host: TestHost
let number = 0
const email = () => `passkey${++number}@example.org`
const send = (path: string, body: unknown = {}) => host.as('')('POST', `/~acme${path}`, body)
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** A person who accepted an invitation with a passkey. */
async function withPasskey(): Promise<{ device: Authenticator; user: any }> {
  const token = await invite(host, 'acme', { email: email(), role: 'Member' })
  const device = new Authenticator()
  const { body } = await send('/invitation/passkey/options', { token })
  const response = device.create(body.options, host.url)
  const reply = await send('/invitation/passkey', { token, challenge: body.challenge, response })
  expect(reply.status, reply.text).toBe(201)
  return { device, user: reply.body.user }
}

const started = async () => (await send('/session/passkey/options')).body

describe('a passkey', () => {
  verifies('people.passkey.api', 'signs its person in, again and again', async () => {
    const { device, user } = await withPasskey()
    for (let i = 0; i < 2; i++) {
      const { options, challenge } = await started()
      const reply = await send('/session/passkey', { challenge, response: device.get(options, host.url) })
      expect([reply.status, reply.body.user.$id]).toEqual([201, user.$id])
    }
  })

  test('is asked for without a word about accounts', async () => {
    const { options } = await started()

    expect(options.allowCredentials ?? []).toEqual([])
    expect(options.userVerification).toBe('required')
  })

  const WRONG: [string, (device: Authenticator, options: any) => object][] = [
    ['for another origin', (device, options) => device.get(options, 'https://evil.example')],
    ['for another name', (device, options) => device.get({ ...options, rpId: 'evil.example' }, host.url)],
    ['to another challenge', (device, options) => device.get({ ...options, challenge: 'b3RoZXI' }, host.url)],
    ['without its person being verified', (device, options) => device.get(options, host.url, 0x01)],
    ['of a device that is not known', (_, options) => new Authenticator().get(options, host.url)],
    [
      'with the name of another device',
      (device, options) => ({
        ...(new Authenticator().get(options, host.url) as object),
        id: device.id.toString('base64url'),
      }),
    ],
  ]
  for (const [title, answer] of WRONG) {
    verifies('attack.passkey', `does not sign in with an answer ${title}`, async () => {
      const { device } = await withPasskey()
      const { options, challenge } = await started()
      const reply = await send('/session/passkey', { challenge, response: answer(device, options) })

      expect([reply.status, reply.headers.get('set-cookie')]).toEqual([401, null])
    })
  }

  verifies('attack.passkey.replay', 'answers a challenge once, and a copy of the device is noticed', async () => {
    const { device } = await withPasskey()
    const { options, challenge } = await started()
    const response = device.get(options, host.url)
    const first = await send('/session/passkey', { challenge, response })
    const second = await send('/session/passkey', { challenge, response })
    device.counter = 0
    const next = await started()
    const copied = await send('/session/passkey', {
      challenge: next.challenge,
      response: device.get(next.options, host.url),
    })

    expect([first.status, second.status, copied.status]).toEqual([201, 401, 401])
  })

  test('answers a challenge once, also if it is written in another way', async () => {
    const { device } = await withPasskey()
    const { options, challenge } = await started()
    // Passkeys that people have on several devices do not count: the counter is always 0.
    device.counter = -1
    const response = device.get(options, host.url)
    const first = await send('/session/passkey', { challenge, response })
    const [sealed, slug] = challenge.split('~')
    const others = [`${sealed}=`, `${sealed}==`, `${sealed.slice(0, 20)}.${sealed.slice(20)}`]
    const again = []
    for (const one of others)
      again.push((await send('/session/passkey', { challenge: `${one}~${slug}`, response })).status)

    expect([first.status, ...again]).toEqual([201, 401, 401, 401])
  })

  test('of one invitation cannot be used for another person', async () => {
    const [mine, theirs] = [
      await invite(host, 'acme', { email: email(), role: 'Member' }),
      await invite(host, 'acme', { email: email(), role: 'Member' }),
    ]
    const { body } = await send('/invitation/passkey/options', { token: mine })
    const response = new Authenticator().create(body.options, host.url)

    expect((await send('/invitation/passkey', { token: theirs, challenge: body.challenge, response })).status).toBe(401)
  })

  test('is added, listed and removed by its person, but not the last way to sign in', async () => {
    const ada = await person(host, 'acme', { email: email(), role: 'Member' })
    const other = await person(host, 'acme', { email: email(), role: 'Member' })
    const { body } = await ada.send('POST', '/~acme/account/passkeys/options', {})
    const device = new Authenticator()
    const response = device.create(body.options, host.url)
    const added = await ada.send('POST', '/~acme/account/passkeys', {
      challenge: body.challenge,
      response,
      name: 'Phone',
    })
    const list = await ada.send('GET', '/~acme/account/passkeys')
    const { options, challenge } = await started()
    const signedIn = await send('/session/passkey', { challenge, response: device.get(options, host.url) })

    expect([added.status, signedIn.body.user?.$id]).toEqual([201, ada.user.$id])
    expect(list.body.results).toMatchObject([{ id: added.body.id, name: 'Phone' }])
    expect((await other.send('DELETE', `/~acme/account/passkeys/${added.body.id}`)).status).toBe(403)
    expect((await ada.send('DELETE', `/~acme/account/passkeys/${added.body.id}`)).status).toBe(204)
    const { device: only, user } = await withPasskey()
    const next = await started()
    const again = await send('/session/passkey', {
      challenge: next.challenge,
      response: only.get(next.options, host.url),
    })
    const cookie = again.headers.get('set-cookie')!.split(';')[0]!
    const last = await host.as('')('DELETE', `/~acme/account/passkeys/${only.id.toString('base64url')}`, undefined, {
      cookie,
      'x-tilde-csrf': again.body.csrf,
    })
    expect([again.body.user.$id, last.status]).toEqual([user.$id, 409])
  })
})
