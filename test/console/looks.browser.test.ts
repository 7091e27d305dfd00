import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Receiver } from '../receiver.ts'
import { BROWSER, type Tab } from './browser.ts'
import { openStage, type Stage } from './stage.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PICTURES = join(import.meta.dirname, '../../docs/pictures')
const MONTH = 30 * 86_400_000

let receiver: Receiver

/** A page to look at: where it is, and what makes it worth looking at. */
interface Scene {
  readonly name: string
  readonly path: (stage: Stage) => Promise<string> | string
  readonly arrange?: (page: Tab['page']) => Promise<unknown>
  /** Whether the docs have no picture of it. */
  readonly isPlain?: boolean
}

const SCENES: readonly Scene[] = [
  { name: 'home', path: () => '' },
  { name: 'list', path: () => `Deal?filter=${encodeURIComponent('{"value":{"$gte":20000}}')}&sort=-value` },
  { name: 'past', path: () => `Deal?asOf=${new Date(Date.now() - 4 * MONTH).toISOString()}` },
  { name: 'entity', path: async (stage) => `Contact/${await someone(stage)}` },
  {
    name: 'create',
    path: () => 'Contact',
    arrange: (page) => page.getByRole('button', { name: 'New contact' }).click(),
  },
  { name: 'empty', path: () => 'Deal?text=nothingofthesort', isPlain: true },
  {
    name: 'gone',
    path: () => 'Contact/contact_0000000000000000',
    arrange: (page) => page.getByText('There never was').waitFor(),
    isPlain: true,
  },
  { name: 'help', path: () => 'Deal', arrange: (page) => page.keyboard.press('?'), isPlain: true },
  { name: 'events', path: () => 'events' },
  {
    name: 'metrics',
    path: () => 'metrics',
    arrange: async (page) => {
      await page.getByRole('img', { name: /^Churn/ }).waitFor()
      await page.getByRole('button', { name: 'Count' }).click()
      await page.getByRole('img', { name: /^From visit/ }).waitFor()
    },
  },
  { name: 'query', path: () => 'query', arrange: (page) => page.getByRole('button', { name: 'Run' }).click() },
  { name: 'agent', path: () => 'agent', arrange: (page) => page.getByRole('button', { name: 'Run' }).click() },
  { name: 'import', path: () => 'import' },
  {
    name: 'webhooks',
    path: async (stage) => `webhooks/${await somebodyTold(stage)}`,
    arrange: (page) => page.locator('.tail summary').first().waitFor(),
  },
  { name: 'keys', path: () => 'keys' },
]

const WIDE = { width: 1280, height: 860 }
const NARROW = { width: 360, height: 740 }
const LOOKS = [
  { look: 'light and wide', dark: false, size: WIDE },
  { look: 'light and narrow', dark: false, size: NARROW },
  { look: 'dark and wide', dark: true, size: WIDE },
  { look: 'dark and narrow', dark: true, size: NARROW },
]

describe.skipIf(BROWSER === null).each(LOOKS)('the console, $look', ({ dark, size }) => {
  let stage: Stage
  let tab: Tab

  beforeAll(async () => {
    stage = await openStage(dark)
    receiver = await Receiver.start()
    tab = await stage.enter()
    await tab.page.setViewportSize(size)
  })
  afterAll(async () => {
    await stage?.stop()
    await receiver?.stop()
  })

  test.each(SCENES)('$name has no serious barrier, no fault, and fits the window', async (scene) => {
    const { name, path, arrange, isPlain } = scene
    const { page, faults } = tab
    await page.goto(`${stage.host.url}/console#/~acme/${await path(stage)}`)
    await page.locator('main#main h1').waitFor()
    await arrange?.(page)
    await page.waitForTimeout(name === 'agent' ? 1_000 : 500)

    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width)
    if (process.env.TILDE_PICTURES === '1' && !isPlain) await takePicture(page, name, dark)
    await page.keyboard.press('Escape')
  })

  test('the key box has no serious barrier either', async () => {
    const { page, faults } = await stage.browser.open(size)
    await page.goto(`${stage.host.url}/console`)
    await page.getByRole('button', { name: 'Open' }).waitFor()

    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
    if (process.env.TILDE_PICTURES === '1') await takePicture(page, 'key', dark)
  })
})

/** What a judge of accessibility calls serious or critical, with the places it means. The rest is told. */
async function barriers(page: Tab['page']): Promise<string[]> {
  // The page itself may run no script from elsewhere; the debugger may.
  await page.evaluate(AXE)
  const found: { impact: string; text: string }[] = await page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => ({ impact, text: `${id}: ${html.slice(0, 160)}` })),
    )
  })
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  for (const one of found) if (!serious.includes(one)) process.stdout.write(`${one.impact} ${one.text}\n`)
  return serious.map(({ text }) => text)
}

/** The pictures of the docs: wide and light, and a few as a telephone shows them at night. */
async function takePicture(page: Tab['page'], name: string, dark: boolean): Promise<void> {
  const { width, height } = page.viewportSize()!
  const isSmall = dark && width === NARROW.width && (name === 'list' || name === 'entity')
  if (!isSmall && (dark || width === NARROW.width)) return
  // The upper part says it all, and keeps the repository small.
  await page.evaluate(() => window.scrollTo(0, 0))
  const clip = { x: 0, y: 0, width, height: Math.min(height, 680) }
  await page.screenshot({ path: join(PICTURES, `${name}${isSmall ? '-small' : ''}.png`), scale: 'css', clip })
}

/** A webhook that has got a few events. */
async function somebodyTold({ host }: Stage): Promise<string> {
  const { body } = await host.request('POST', '/~acme/webhooks', { url: receiver.url, events: ['Deal.*'] })
  for (const name of ['Field Notes pilot', 'Juniper Labs pilot']) await host.request('POST', '/~acme/Deal', { name })
  await host.request('POST', `/~acme/webhooks/${body.$id}/test`)
  return body.$id
}

async function someone({ host }: Stage): Promise<string> {
  const { body } = await host.request('GET', '/~acme/Contact?stage=Qualified&limit=1')
  return body.results[0].$id
}
