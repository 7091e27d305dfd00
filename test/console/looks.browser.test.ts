import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { Receiver } from '../receiver.ts'
import { BROWSER, type Tab } from './browser.ts'
import { faintTexts } from './contrast.ts'
import { barriers, htmlFaults } from './judges.ts'
import { SCENES, type Scene } from './scenes.ts'
import { type Stage, useStage } from './stage.ts'
import { smallTargets } from './targets.ts'

const PICTURES = join(import.meta.dirname, '../../docs/pictures')
/** The scenes that the docs also show as a telephone does. */
const SMALL = new Set(['list', 'board', 'entity'])

const WIDE = { width: 1280, height: 720 }
/** A telephone: narrow, and used with fingers. */
const NARROW = { width: 360, height: 740 }
/** The main scenes light and wide, some dark and narrow; `npm run test:long` and the pictures take all in all four. */
const IS_WHOLE = process.env.TILDE_LOOKS === 'all' || process.env.TILDE_PICTURES === '1'
const MAIN = new Set([
  'home',
  'list',
  'board',
  'entity',
  'edit',
  'palette',
  'query',
  'dashboards',
  'types',
  'review',
  'workflow',
  'account',
])
const SOME = new Set(['list', 'board', 'entity', 'query'])
const LOOKS = [
  {
    look: 'light and wide',
    dark: false,
    size: WIDE,
    scenes: SCENES.filter(({ name }) => IS_WHOLE || MAIN.has(name)),
  },
  {
    look: 'dark and narrow',
    dark: true,
    size: NARROW,
    scenes: SCENES.filter(({ name }) => IS_WHOLE || SOME.has(name)),
  },
  { look: 'light and narrow', dark: false, size: NARROW, scenes: IS_WHOLE ? SCENES : [] },
  { look: 'dark and wide', dark: true, size: WIDE, scenes: IS_WHOLE ? SCENES : [] },
].filter(({ scenes }) => scenes.length > 0)

describe.skipIf(BROWSER === null).each(LOOKS)('the console, $look', ({ dark, size, scenes }) => {
  const touch = size === NARROW
  const stage = useStage({ dark, touch })
  let receiver: Receiver
  let key: string

  beforeAll(async () => {
    key = await stage.host.key('acme', 'admin:all', { name: 'Console' })
    receiver = await Receiver.start()
  })
  afterAll(() => receiver?.stop())

  test.each(scenes)('$name has no serious barrier, no fault, and fits the window', async (scene) => {
    const { name, arrange, isPlain } = scene
    const { page } = await open(stage, receiver, scene, { key, size })
    await page.locator('main#main h1').waitFor()
    await arrange?.(page)
    await page.waitForTimeout(400)

    expect(await barriers(page)).toEqual([])
    expect(await htmlFaults(await page.content())).toEqual([])
    expect(await faintTexts(page)).toEqual([])
    if (touch) expect(await smallTargets(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width)
    expect(await page.locator('main').evaluate((main) => main.scrollWidth - main.clientWidth)).toBe(0)
    if (process.env.TILDE_PICTURES === '1' && !isPlain) await takePicture(page, name, dark)
    if (process.env.TILDE_LOOKS === 'all') {
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
      expect(await barriers(page)).toEqual([])
      expect(await faintTexts(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width)
    }
    await page.context().clearCookies()
  })

  test.each([
    { name: 'key', path: '/console', button: 'Open' },
    { name: 'sign-in', path: '/~acme/sign-in', button: 'Sign in with a passkey' },
  ])('$name has no serious barrier either', async ({ name, path, button }) => {
    const { page } = await stage.browser.open(size)
    await page.goto(`${stage.host.url}${path}`)
    await page.getByRole('button', { name: button }).waitFor()

    expect(await barriers(page)).toEqual([])
    expect(await faintTexts(page)).toEqual([])
    if (touch) expect(await smallTargets(page)).toEqual([])
    if (process.env.TILDE_PICTURES === '1') await takePicture(page, name, dark)
  })
})

/** A tab at a scene, with a key or with a person who is signed in. */
async function open(
  stage: Stage,
  receiver: Receiver,
  scene: Scene,
  { key, size }: { readonly key: string; readonly size: typeof WIDE },
): Promise<Tab> {
  const path = await scene.path(stage, receiver)
  if (!scene.isSignedIn) return stage.enter(path, { key, size })
  const email = `member${Date.now()}@example.com`
  const { cookie, user } = await person(stage.host, 'acme', { name: 'Edith Clarke', email, role: 'Admin' })
  await scene.assign?.(stage, user.$id)
  const tab = await stage.browser.open(size)
  const [name = '', value = ''] = cookie.split('=', 2)
  await tab.page.context().addCookies([{ name, value, url: stage.host.url }])
  await tab.page.goto(`${stage.host.url}/console#/~acme/${path}`)
  return tab
}

/** The pictures of the docs: every page wide, in both themes, and a few as a telephone shows them. */
async function takePicture(page: Tab['page'], name: string, dark: boolean): Promise<void> {
  const { width, height } = page.viewportSize()!
  const isSmall = width === NARROW.width
  if (isSmall && !SMALL.has(name)) return
  // The upper part of a telephone says it all, and keeps the repository small.
  const clip = { x: 0, y: 0, width, height: Math.min(height, 720) }
  const path = join(PICTURES, `${name}${isSmall ? '-small' : ''}${dark ? '-dark' : ''}.png`)
  await page.screenshot({ path, scale: 'css', clip })
}
