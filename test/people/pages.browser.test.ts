import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { BROWSER } from '../console/browser.ts'
import { faintTexts } from '../console/contrast.ts'
import { barriers, htmlFaults } from '../console/judges.ts'
import { type Stage, useStage } from '../console/stage.ts'
import { authorizePath, pkce, register } from './agents.ts'
import { invite, person } from './people.ts'

interface Shown {
  readonly name: string
  readonly path: (stage: Stage) => Promise<string> | string
  /** What is there in German once the page is. */
  readonly german: string
  readonly isSignedIn?: boolean
}

const PAGES: readonly Shown[] = [
  { name: 'sign-in', path: () => '/~pages/sign-in', german: 'Mit einem Passkey anmelden' },
  { name: 'invitation', path: invitation, german: 'Willkommen, 1.' },
  { name: 'consent', path: consent, german: 'Weiter einschränken', isSignedIn: true },
  { name: 'device', path: () => '/~pages/oauth/device?user_code=BCDF', german: 'Der Code ist', isSignedIn: true },
  { name: 'message', path: () => '/~pages/decide/1?signature=2', german: 'Diese Adresse ist', isSignedIn: true },
  { name: 'decision', path: decision, german: 'Nach der Genehmigung', isSignedIn: true },
  { name: 'proof', path: proof, german: 'Dieser Nachweis ist gültig.' },
]
const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
]
/** Names and examples that are the same in every language. */
const SAME =
  /^(tildebase|javascript|passkeys?|pages|crm|ticket|contact|create|deal|win|lead|stage|read|title|update|localhost)$/i

const folder = mkdtempSync(join(tmpdir(), 'tildebase-pages-'))
afterAll(() => rmSync(folder, { recursive: true }))
let number = 0

describe.skipIf(BROWSER === null).each([{ theme: 'light' }, { theme: 'dark' }])(
  'a page of the server, $theme',
  (look) => {
    const stage = useStage({ dark: look.theme === 'dark' })

    test.each(PAGES)(
      '$name is in German and Hebrew, fits, and has no barrier',
      async ({ path, german, isSignedIn }) => {
        const { page, faults } = await stage.browser.open()
        const cookies = [{ name: 'tilde_language', value: 'de', url: stage.host.url }]
        if (isSignedIn) {
          const who = await person(stage.host, 'pages', { name: '1', email: `${++number}@4.5`, role: 'Admin' })
          const [name = '', value = ''] = who.cookie.split('=', 2)
          cookies.push({ name, value, url: stage.host.url })
        }
        await page.context().addCookies(cookies)
        const at = await path(stage)

        await page.goto(await addressOf(stage, at, 'de'))
        await page.getByText(german).first().waitFor()
        await page.context().addCookies([{ name: 'tilde_language', value: 'he', url: stage.host.url }])
        // The colours are the same at each width.
        for (const size of look.theme === 'light' ? SIZES : SIZES.slice(0, 1)) {
          await page.setViewportSize(size)
          // An invitation forgets its token: a new page reads it again.
          await page.goto('about:blank')
          await page.goto(await addressOf(stage, at, 'he'))
          await page.locator('h1').waitFor()
          await page.waitForTimeout(300)

          expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
          expect(await latinWords(page)).toEqual([])
          expect(await barriers(page)).toEqual([])
          expect(await faintTexts(page)).toEqual([])
          expect(await htmlFaults(await page.content(), ['no-inline-style', 'long-title'])).toEqual([])
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width)
        }
        await page.context().clearCookies()
        // A saved page is read from the disk, which the browser of the tests reports.
        expect(faults.splice(0).filter((fault) => !/^asked (file:|about:)/.test(fault))).toEqual([])
      },
    )
  },
)

async function invitation({ host }: Stage): Promise<string> {
  return `/~pages/invitation#${await invite(host, 'pages', { name: '1', email: `${++number}@4.5`, role: 'Member' })}`
}

async function consent({ host }: Stage): Promise<string> {
  const client = await register(host, 'pages', { client_name: '7' })
  return authorizePath('pages', { client_id: client, code_challenge: pkce().challenge, scope: 'read:crm' })
}

async function decision({ host }: Stage): Promise<string> {
  const { body: contact } = await host.request('POST', '/~pages/Contact', { name: '5' })
  const agent = host.as(await host.key('pages', 'propose:crm', { name: '8' }))
  const code = `await $.Contact.update('${contact.$id}', { title: '6' })`
  const params = { name: 'do', arguments: { code } }
  const { text } = await agent('POST', '/~pages/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const url = /https?:[^"\\]*\/decide\/[^"\\]*/.exec(text)?.[0]
  expect(url, text).toBeDefined()
  return new URL(url!).pathname + new URL(url!).search
}

async function proof({ host }: Stage): Promise<string> {
  await host.request('POST', '/~pages/Contact', { name: '9' })
  const { body, text } = await host.request('GET', '/~pages/Event?limit=1')
  expect(body.results, text).toHaveLength(1)
  return `/~pages/proof/${body.results[0].$id}?format=html`
}

/** The address of a page. The page of a proof is a file that its reader has saved. */
async function addressOf({ host }: Stage, path: string, language: string): Promise<string> {
  if (!path.includes('/proof/')) return host.url + path
  const { text, status } = await host.request('GET', path, undefined, { 'accept-language': language })
  expect(status, text).toBe(200)
  const saved = join(folder, `${language}.html`)
  writeFileSync(saved, text)
  return pathToFileURL(saved).href
}

async function latinWords(page: { evaluate<T>(read: () => T): Promise<T> }): Promise<string[]> {
  const text = await page.evaluate(() => {
    const copy = document.body.cloneNode(true) as HTMLElement
    for (const code of copy.querySelectorAll('script, pre, code, dd, bdi, .note, noscript')) code.remove()
    return copy.textContent ?? ''
  })
  return (text.match(/[a-z]{3,}/gi) ?? []).filter((word) => !SAME.test(word))
}
