import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tildebase } from '@tildebase/client'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, type Browser, startBrowser } from '../console/browser.ts'
import { type Served, serve } from '../docs.ts'
import { startRegistry } from '../packages/registry.ts'
import { type Followed, follow } from './follow.ts'

const MINUTES = 60_000
const SECRET = `whsec_${Buffer.from('a secret of the tests').toString('base64')}`

let server: Served
let registry: Awaited<ReturnType<typeof startRegistry>>
let reader: Followed
beforeAll(async () => {
  ;[server, registry] = await Promise.all([serve(), startRegistry()])
  const env = { ...registry.env, NEXT_TELEMETRY_DISABLED: '1', TILDE_WEBHOOK_SECRET: SECRET }
  reader = await follow('docs/guides/nextjs.md', server, env)
}, 20 * MINUTES)
afterAll(async () => {
  await reader?.stop()
  registry?.stop()
  await server?.stop()
})

// Slow: the page installs half a gigabyte.
describe('the tutorial for Next.js, from its first block to its last', () => {
  let browser: Browser
  beforeAll(async () => {
    if (BROWSER !== null) browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  test.skipIf(BROWSER === null)('its page adds a deal and wins it', { timeout: 5 * MINUTES }, async () => {
    const { page } = await browser.open()
    await page.goto(reader.url)
    await page.getByRole('heading', { name: '0 open deals, 0 won' }).waitFor()
    for (const [name, value] of Object.entries({ Mill: '3000', Engine: '12000' })) {
      await page.getByPlaceholder('Name').fill(name)
      await page.getByPlaceholder('Value').fill(value)
      await page.getByRole('button', { name: 'Add' }).click()
      await page.getByRole('listitem').filter({ hasText: name }).waitFor()
    }
    const before = await page.getByRole('listitem').allInnerTexts()
    await page.getByRole('button', { name: 'Won' }).first().click()
    await page.getByRole('heading', { name: '1 open deals, 12000 won' }).waitFor()

    expect(before).toEqual(['Engine: 12000, Prospecting Won', 'Mill: 3000, Prospecting Won'])
    expect(await page.getByRole('listitem').allInnerTexts()).toEqual(['Mill: 3000, Prospecting Won'])
    expect(await browser.closeTabs()).toEqual([])
    const $ = tildebase({ tenant: 'next', apiKey: server.rootKey, baseUrl: server.url })
    expect((await $.Deal.find({}, { sort: { value: 1 } })).map(({ name, stage }) => [name, stage])).toEqual([
      ['Mill', 'Prospecting'],
      ['Engine', 'Won'],
    ])
  })

  test('its webhook accepts a signed event, and no other', { timeout: 5 * MINUTES }, async () => {
    const body = JSON.stringify({ type: 'Deal.won', data: { name: 'Engine', value: 12_000 } })
    const at = new Date()
    const send = async (secret: string) => {
      const headers = {
        'webhook-id': 'event_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign('event_1', at, body),
      }
      return (await fetch(`${reader.url}/hooks`, { method: 'POST', headers, body })).status
    }

    expect(await send(SECRET)).toBe(204)
    expect(await send(`whsec_${Buffer.from('another').toString('base64')}`)).toBe(500)
  })

  // The template takes two fonts from Google when it is built, and fails where Google is not reached. Next.js has this setting for tests.
  test('it is built, and its types are checked', { timeout: 10 * MINUTES }, async () => {
    const fonts = join(reader.folder, '..', 'fonts.json')
    const urls = ['Geist', 'Geist+Mono'].map(
      (name) => `https://fonts.googleapis.com/css2?family=${name}:wght@100..900&display=swap`,
    )
    writeFileSync(fonts, JSON.stringify(Object.fromEntries(urls.map((url) => [url, FONT]))))

    const said = await reader.run('npm run build', { NEXT_FONT_GOOGLE_MOCKED_RESPONSES: fonts })

    expect(said).toContain('/hooks')
  })
})

const FONT = '@font-face { font-family: Geist; font-weight: 100 900; src: local(sans-serif) }'
