import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Receiver } from '../receiver.ts'
import { BROWSER, type Tab } from './browser.ts'
import { faintTexts } from './contrast.ts'
import { openStage, type Stage } from './stage.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PICTURES = join(import.meta.dirname, '../../docs/pictures')
const MONTH = 30 * 86_400_000
/** The scenes that the docs also show as a telephone does. */
const SMALL = new Set(['list', 'board', 'entity'])

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
  { name: 'list', path: () => 'Deal' },
  {
    name: 'filter',
    path: () => `Deal?filter=${encodeURIComponent('{"value":{"$gte":20000}}')}&sort=-value`,
    arrange: (page) => page.getByLabel('Operator').waitFor(),
  },
  { name: 'groups', path: () => 'Deal?group=stage', arrange: (page) => page.locator('.group-head').first().waitFor() },
  { name: 'board', path: () => 'Deal?layout=board', arrange: (page) => page.locator('.card').first().waitFor() },
  {
    name: 'edit',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.locator('tbody tr').first().waitFor()
      await page.keyboard.press('e')
      await page.getByRole('button', { name: 'Save' }).waitFor()
    },
  },
  {
    name: 'select',
    path: () => 'Deal',
    arrange: async (page) => {
      for (const row of [0, 2]) await page.locator('tbody .select input').nth(row).click()
      await page.getByText('2 selected').waitFor()
    },
  },
  {
    name: 'menu',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Actions for' }).first().click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'palette',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('lumen')
      await page.getByRole('option', { name: /^Lumen Energy Organization/ }).waitFor()
    },
  },
  {
    name: 'picker',
    path: () => 'Contact',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'New contact' }).click()
      await page.getByRole('combobox', { name: 'Organization' }).pressSequentially('l')
      await page.getByRole('option', { name: 'Lumen Energy' }).waitFor()
    },
  },
  { name: 'past', path: () => `Deal?asOf=${new Date(Date.now() - 4 * MONTH).toISOString()}` },
  { name: 'entity', path: async (stage) => `Contact/${await someone(stage)}` },
  {
    name: 'create',
    path: () => 'Contact',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'New contact' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'empty', path: () => 'Pipeline', isPlain: true },
  {
    name: 'gone',
    path: () => 'Contact/contact_0000000000000000',
    arrange: (page) => page.getByText('There never was').waitFor(),
    isPlain: true,
  },
  {
    name: 'help',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    },
    isPlain: true,
  },
  { name: 'events', path: () => 'events', arrange: (page) => page.locator('.tail summary').first().waitFor() },
  {
    name: 'changesets',
    path: async (stage) => {
      await changeset(stage)
      return 'changesets'
    },
    arrange: (page) => page.locator('tbody tr').first().waitFor(),
    isPlain: true,
  },
  {
    name: 'review',
    path: async (stage) => `changesets/${await changeset(stage)}`,
    arrange: (page) => page.locator('.review-change ins').first().waitFor(),
  },
  { name: 'bin', path: async (stage) => `bin?type=${await deletedType(stage)}` },
  {
    name: 'dashboards',
    path: async (stage) => `dashboards/${await dashboard(stage)}`,
    arrange: (page) => page.getByRole('img', { name: /^Deals by stage/ }).waitFor(),
  },
  {
    name: 'metrics',
    path: () => 'metrics',
    arrange: async (page) => {
      await page.getByRole('img', { name: /^Churn/ }).waitFor()
      await page.getByRole('button', { name: 'Count' }).click()
      await page.getByRole('img', { name: /^From visit/ }).waitFor()
    },
  },
  {
    name: 'query',
    path: () => 'query',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Large open deals' }).click()
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByLabel('Answer', { exact: true }).waitFor()
    },
  },
  {
    name: 'agent',
    path: () => 'agent',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByLabel('Result').waitFor()
    },
  },
  {
    name: 'import',
    path: () => 'import',
    arrange: async (page) => {
      const buffer = Buffer.from('Name;E-Mail;Lead score\nGrete Hermann;grete@example.com;71\n;nobody@example.com;3\n')
      await page.getByLabel('File to import').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Check without writing' }).click()
      await page.getByText('Would be imported').waitFor()
    },
  },
  {
    name: 'types',
    path: async (stage) => `types/${await ownType(stage)}`,
    arrange: (page) => page.getByLabel('Effect').waitFor(),
  },
  {
    name: 'webhooks',
    path: async (stage) => `webhooks/${await webhook(stage)}`,
    arrange: (page) => page.locator('.tail summary').first().waitFor(),
  },
  { name: 'keys', path: () => 'keys', arrange: (page) => page.locator('tbody tr').first().waitFor() },
  { name: 'design', path: () => 'design', arrange: (page) => page.getByText('Busy for a second').waitFor() },
]

const WIDE = { width: 1280, height: 860 }
const NARROW = { width: 360, height: 740 }
/** The main scenes light and wide, some dark and narrow; `npm run test:long` and the pictures take all in all four. */
const IS_WHOLE = process.env.TILDE_LOOKS === 'all' || process.env.TILDE_PICTURES === '1'
const MAIN = new Set(['home', 'list', 'board', 'entity', 'edit', 'palette', 'query', 'dashboards', 'types', 'review'])
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
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage(dark)
    receiver = await Receiver.start()
  })
  afterAll(async () => {
    await stage?.stop()
    await receiver?.stop()
  })

  test.each(scenes)('$name has no serious barrier, no fault, and fits the window', async (scene) => {
    const { name, path, arrange, isPlain } = scene
    const { page, faults } = await stage.enter(await path(stage), { size })
    await page.locator('main#main h1').waitFor()
    await arrange?.(page)
    await page.waitForTimeout(400)

    expect(await barriers(page)).toEqual([])
    expect(await faintTexts(page)).toEqual([])
    expect(faults).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width)
    expect(await page.locator('main').evaluate((main) => main.scrollWidth - main.clientWidth)).toBe(0)
    if (process.env.TILDE_PICTURES === '1' && !isPlain) await takePicture(page, name, dark)
    await page.close()
  })

  test('the key box has no serious barrier either', async () => {
    const { page, faults } = await stage.browser.open(size)
    await page.goto(`${stage.host.url}/console`)
    await page.getByRole('button', { name: 'Open' }).waitFor()

    expect(await barriers(page)).toEqual([])
    expect(await faintTexts(page)).toEqual([])
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

/** The pictures of the docs: every page wide, in both themes, and a few as a telephone shows them. */
async function takePicture(page: Tab['page'], name: string, dark: boolean): Promise<void> {
  const { width, height } = page.viewportSize()!
  const isSmall = width === NARROW.width
  if (isSmall && !SMALL.has(name)) return
  // The upper part says it all, and keeps the repository small.
  const clip = { x: 0, y: 0, width, height: Math.min(height, 720) }
  const path = join(PICTURES, `${name}${isSmall ? '-small' : ''}${dark ? '-dark' : ''}.png`)
  await page.screenshot({ path, scale: 'css', clip })
}

/** A webhook that has got a few events. */
async function webhook({ host }: Stage): Promise<string> {
  const { body } = await host.request('POST', '/~acme/webhooks', { url: receiver.url, events: ['Deal.*'] })
  for (const name of ['Field Notes pilot', 'Juniper Labs pilot']) await host.request('POST', '/~acme/Deal', { name })
  await host.request('POST', `/~acme/webhooks/${body.$id}/test`)
  return body.$id
}

/** A proposal of an agent, half of which is in conflict with what others did meanwhile. */
async function changeset({ host }: Stage): Promise<string> {
  const agent = host.as(await host.key('acme', 'propose:crm', { name: 'Research agent' }))
  const contacts = (await host.request('GET', '/~acme/Contact?limit=6')).body.results
  const [organization] = (await host.request('GET', '/~acme/Organization?limit=1')).body.results
  const operations = contacts.map(({ $id }: { $id: string }, at: number) => ({
    method: 'PUT',
    path: `/Contact/${$id}`,
    body: { title: 'Head of Research', leadScore: 50 + at, organization: organization.$id },
  }))
  const query = 'propose=Clean%20up%20after%20the%20import&reason=Titles%20and%20organizations%20were%20missing.'
  const { body } = await agent('POST', `/~acme/batch?${query}`, { operations })
  for (const { $id } of contacts.slice(0, 2)) await host.request('PUT', `/~acme/Contact/${$id}`, { title: 'Director' })
  await host.request('POST', `/~acme/changesets/${body.$id}/comment`, { text: 'Is the second one right?' })
  return body.$id
}

/** A type of which something was deleted. */
async function deletedType({ host }: Stage): Promise<string> {
  for (const name of ['Old roadmap', 'Old budget']) {
    const { body } = await host.request('POST', '/~acme/Project', { name })
    await host.request('DELETE', `/~acme/Project/${body.$id}`)
  }
  return 'Project'
}

async function dashboard({ host }: Stage): Promise<string> {
  await host.request('PUT', '/~acme/schema/Dashboard', {
    name: 'string!',
    tiles: 'json',
    shared: 'boolean',
    owner: 'string#',
  })
  const tiles = [
    { title: 'Deals by stage', source: 'count', of: 'Deal', group: 'stage' },
    { title: 'Pipeline value', source: 'sum', of: 'Deal', field: 'value' },
    { title: 'MRR', source: 'metric', of: 'mrr' },
    { title: 'Tickets by status', source: 'count', of: 'Ticket', group: 'status' },
  ]
  return (await host.request('POST', '/~acme/Dashboard', { name: 'Sales', tiles })).body.$id
}

async function ownType({ host }: Stage): Promise<string> {
  await host.request('PUT', '/~acme/schema/Boat', {
    name: 'string!',
    sign: 'string##',
    length: 'number',
    status: 'Moored | Sailing | Repaired = Moored',
    owner: '-> Contact',
    sail: { from: ['Moored'], set: { status: 'Sailing' } },
  })
  return 'Boat'
}

async function someone({ host }: Stage): Promise<string> {
  const { body } = await host.request('GET', '/~acme/Contact?stage=Qualified&limit=1')
  return body.results[0].$id
}
