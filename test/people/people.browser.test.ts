import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { BROWSER } from '../console/browser.ts'
import { useStage } from '../console/stage.ts'
import { verifies } from '../verifies.ts'
import { pkce, register } from './agents.ts'
import { invite, PASSWORD, person } from './people.ts'

// Passkeys are bound to a name: an address of numbers has none.
const named = (url: string) => url.replace('127.0.0.1', 'localhost')

describe.skipIf(BROWSER === null)('a person in a real browser', () => {
  const stage = useStage()
  let number = 0
  const email = () => `browser${++number}@example.org`
  beforeAll(async () => {
    await stage.host.request('PUT', '/~acme/schema/roles/Seller', {
      scopes: 'write:crm',
      filter: { Contact: { title: '$user.email' } },
    })
  })

  /** A tab with a device that makes passkeys, and whose person is there. */
  async function tabWithPasskeys(): Promise<Page> {
    const { page } = await stage.browser.open()
    const device = await page.context().newCDPSession(page)
    await device.send('WebAuthn.enable')
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return page
  }

  verifies(
    'people.passkey',
    'is invited, sets up a passkey, signs in with it, works with a narrowed role and is suspended meanwhile',
    async () => {
      const address = email()
      await stage.host.request('POST', '/~acme/Contact', { name: 'Visible Vera', title: address })
      await stage.host.request('POST', '/~acme/Contact', { name: 'Hidden Hugo', title: 'theirs' })
      const token = await invite(stage.host, 'acme', { name: 'Pat', email: address, role: 'Seller' })
      const page = await tabWithPasskeys()

      await page.goto(named(`${stage.host.url}/~acme/invitation#${token}`))
      await page.getByText('Welcome, Pat').waitFor()
      expect(page.url()).not.toContain(token)
      await page.getByRole('button', { name: 'Set up a passkey' }).click()
      await page.locator('nav.side').waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.locator('nav.side').waitFor()
      await page.goto(named(`${stage.host.url}/console#/~acme/Contact`))
      await page.getByText('Visible Vera').first().waitFor()

      expect(await page.getByText('Hidden Hugo').count()).toBe(0)
      const user = (await stage.host.request('GET', `/~acme/User?email=${encodeURIComponent(address)}`)).body.results[0]
      expect(user.status).toBe('Active')

      await stage.host.request('POST', `/~acme/User/${user.$id}/suspend`)
      await page.getByText('You are signed out').waitFor()
      expect(await page.getByText('Visible Vera').count()).toBe(0)
    },
  )

  verifies('console.people', 'who administers invites another one, and sees sessions, agents and roles', async () => {
    const address = email()
    await person(stage.host, 'acme', { name: 'Boss', email: address, role: 'Admin' })
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/~acme/sign-in?return=${encodeURIComponent('https://evil.example/')}`)
    await page.getByLabel('E-mail address').fill(address)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.locator('nav.side').waitFor()
    expect(page.url()).toBe(`${stage.host.url}/console#/~acme`)

    await page.goto(`${stage.host.url}/console#/~acme/people`)
    await page.getByRole('button', { name: 'Invite a person' }).click()
    await page.getByLabel('Name').fill('Newcomer')
    await page.getByRole('dialog').getByLabel('E-mail address').fill(email())
    await page.getByRole('dialog').getByLabel('Role').selectOption('Seller')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByText(/\/~acme\/invitation#tbi_/).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Newcomer' }).waitFor()

    await page.goto(`${stage.host.url}/console#/~acme/roles`)
    await page.getByRole('cell', { name: 'Seller', exact: true }).waitFor()
    await page.goto(`${stage.host.url}/console#/~acme/account`)
    await page.getByText('(this one)').waitFor()
  })

  verifies(
    'oauth.browser',
    'allows an application on the consent page, and the code comes to the application',
    async () => {
      const address = email()
      await person(stage.host, 'acme', { email: address, role: 'Member' })
      let came: URL | null = null
      const application = createServer((request, response) => {
        came ??= new URL(request.url!, 'http://127.0.0.1')
        response.end('back in the application')
      })
      await new Promise<void>((done) => application.listen(0, '127.0.0.1', done))
      const redirect = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`
      const client = await register(stage.host, 'acme', { redirect_uris: [redirect] })
      const { page } = await stage.browser.open()
      await page.context().clearCookies()
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: client,
        redirect_uri: redirect,
        code_challenge: pkce().challenge,
        code_challenge_method: 'S256',
        state: 'kept',
      })
      await page.goto(`${stage.host.url}/~acme/oauth/authorize?${query}`)
      await page.getByLabel('E-mail address').fill(address)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { name: 'Allow Test agent?' }).waitFor()
      await page.getByLabel('everything').selectOption('read:all')
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByText('back in the application').waitFor()

      expect(came!.searchParams.get('code')).toMatch(/^tbc_/)
      expect(came!.searchParams.get('state')).toBe('kept')
      const [consent] = (await stage.host.request('GET', '/~acme/account/tokens?user=all')).body.results
      expect(consent).toMatchObject({ scopes: 'read:all', client: { id: client } })
      application.close()
    },
  )

  verifies(
    'oauth.example',
    'uses the example application, which has no key, and ends what they allowed it',
    async () => {
      const address = email()
      const { user } = await person(stage.host, 'acme', { email: address, role: 'Member' })
      const folder = new URL('../../examples/browser-app/', import.meta.url)
      const KINDS: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
      const files = createServer((request, response) => {
        const name = /^\/(\w+\.\w+)/.exec(request.url!)?.[1] ?? 'index.html'
        response.setHeader('content-type', KINDS[name.split('.')[1]!] ?? 'text/plain')
        response.end(name === 'favicon.ico' ? '' : readFileSync(new URL(name, folder)))
      })
      await new Promise<void>((done) => files.listen(0, '127.0.0.1', done))
      const { page } = await stage.browser.open()
      await page.context().clearCookies()
      await page.goto(`http://127.0.0.1:${(files.address() as AddressInfo).port}/`)
      await page.getByLabel('Service').fill(stage.host.url)
      await page.getByRole('button', { name: 'Connect', exact: true }).click()
      await page.getByLabel('E-mail address').fill(address)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByText(`You are ${address}`).waitFor()
      await page.getByLabel('Name').fill('Aaron Added')
      await page.getByRole('button', { name: 'Add' }).click()
      await page.getByText('Aaron Added').waitFor()
      const events = (await stage.host.request('GET', '/~acme/Event?name=Contact.created&limit=1')).body.results
      await page.getByRole('button', { name: 'Disconnect' }).click()
      await page.getByRole('button', { name: 'Connect', exact: true }).waitFor()

      expect(JSON.stringify(events)).toContain('agent_')
      // The application shows its button before the service has answered.
      const allowed = () => stage.host.request('GET', `/~acme/account/tokens?user=${user.$id}`)
      await expect.poll(async () => (await allowed()).body.total).toBe(0)
      files.close()
    },
  )

  test('cannot be shown the consent page inside of another page', async () => {
    const frame = createServer((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<iframe src="${stage.host.url}/~acme/sign-in"></iframe>`)
    })
    await new Promise<void>((done) => frame.listen(0, '127.0.0.1', done))
    const { page, faults } = await stage.browser.open()
    await page.goto(`http://127.0.0.1:${(frame.address() as AddressInfo).port}/`)
    await page.waitForLoadState('networkidle')

    expect(faults.splice(0).join('\n')).toMatch(/frame-ancestors|X-Frame-Options/)
    frame.close()
  })
})
