import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import germanAnswers from '../../packages/console/src/texts/de/answers.ts'
import german from '../../packages/console/src/texts/de/index.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const PAGES = [
  '',
  'Deal',
  'Deal?layout=board',
  'Deal?layout=calendar',
  'Deal?filter={"value":{"$gt":1}}',
  'Deal?group=stage',
  'Contact?new=1',
  'dashboards',
  'metrics',
  'asks',
  'changesets',
  'events',
  'bin',
  'query',
  'agent',
  'import',
  'integrations',
  'types',
  'types/new',
  'types/Deal',
  'webhooks',
  'settings',
  'people',
  'roles',
  'keys',
]

describe.skipIf(BROWSER === null)('the languages of the console', () => {
  test.each([
    ['Hebrew', 'he', isLatin],
    ['German', 'de', isNotGerman],
  ] as const)('no page has an English word in %s, nor do its menus and windows', async (_, language, isForeign) => {
    const tenant = `words-${language}`
    const paths = await fill(tenant)
    const { page } = await stage.browser.open()
    await page.addInitScript((chosen) => {
      localStorage.setItem('tildebase.preferences', JSON.stringify({ language: chosen }))
    }, language)
    await page.goto(`${stage.host.url}/console#/~${tenant}/`)
    const found = new Set<string>()
    const look = async (place: string) => {
      for (const word of await wordsOf(page)) if (isForeign(word)) found.add(`${place}: ${word}`)
    }
    await look('key box')
    await page.locator('.key-box input[type=password]').fill(await stage.host.key(tenant, 'admin:all', { name: '8' }))
    await page.locator('.key-box button.primary').click()
    await page.locator('main#main h1').waitFor()
    const isSeen = new Set<string>()

    for (const path of [...PAGES, ...paths]) {
      await page.goto(`${stage.host.url}/console#/~${tenant}/${path}`)
      await page.locator('main#main :is(h1, .empty)').first().waitFor()
      await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
      await look(path)
      if (path.includes('new=1')) await page.keyboard.press('Escape')
      await openMenus(page, isSeen, (name) => look(`${path}, menu ${name}`))
    }
    await openWindows(page, `${stage.host.url}/console#/~${tenant}/`, look)
    await page.evaluate(() => localStorage.removeItem('tildebase.preferences'))

    expect([...found]).toEqual([])
  })

  test.each([
    ['de', 'Mo'],
    ['he', 'יום א׳'],
  ])('a week of a calendar in %s begins with %s', async (language, first) => {
    const { page } = await stage.enter('Deal?layout=calendar')
    await page.evaluate((chosen) => {
      localStorage.setItem('tildebase.preferences', JSON.stringify({ language: chosen }))
    }, language)
    await page.reload()
    await page.locator('.key-box input[type=password]').fill(await stage.host.key('acme', 'admin:all'))
    await page.locator('.key-box button.primary').click()

    expect(await page.locator('.calendar .weekday').first().textContent()).toBe(first)
    await page.evaluate(() => localStorage.removeItem('tildebase.preferences'))
  })

  test('a cell without a value is read out as empty', async () => {
    await stage.host.request('POST', '/~acme/Contact', { name: 'Nothing Else' })
    const { page } = await stage.enter('Contact?text=Nothing&columns=name,title,phone')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    expect(await page.getByRole('cell').getByRole('img', { name: 'empty' }).count()).toBe(2)

    await page.goto(`${stage.host.url}/console#/~acme/keys`)

    await page.locator('tbody tr').first().waitFor()
    const bare = await page
      .locator('td[data-label]')
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.textContent === '').map((cell) => cell.getAttribute('data-label')),
      )
    expect(bare).toEqual([])
  })

  test('German says an action as people do, and no two columns of rejected rows have one name', async () => {
    const { body } = await stage.host.request('POST', '/~german/Deal', { name: 'Pilot', value: 5 })
    const { page } = await stage.browser.open()
    await page.addInitScript(() => localStorage.setItem('tildebase.preferences', '{"language":"de"}'))
    await page.goto(`${stage.host.url}/console#/~german/Deal/${body.$id}`)
    await page.locator('.key-box input[type=password]').fill(await stage.host.key('german', 'admin:all'))
    await page.locator('.key-box button.primary').click()

    await page.getByRole('button', { name: 'Vorrücken' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Pilot: Vorrücken' })
    await dialog.getByRole('button', { name: 'Vorrücken' }).click()
    await page.getByText('Pilot vorgerückt.').waitFor()
    await page.goto(`${stage.host.url}/console#/~german/import?type=Contact`)
    const buffer = Buffer.from('Name;Lead-Wert\nAda;abc\n')
    await page.locator('input[type=file]').setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer })
    await page.getByRole('button', { name: 'Prüfen, ohne zu schreiben' }).click()

    const heads = page.getByRole('region', { name: 'Abgelehnte Zeilen' }).getByRole('columnheader')
    await heads.first().waitFor()
    expect(await heads.allTextContents()).toEqual(['Anzahl', 'Was falsch ist', 'Zeilen'])
  })
})

/** Writes a tenant in which what is stored has no letters, so that every word is one of the console. Returns its pages. */
async function fill(tenant: string): Promise<string[]> {
  const send = (path: string, body: object) => stage.host.request('POST', `/~${tenant}/${path}`, body)
  const deal = await send('Deal', { name: '1', value: 5, stage: 'Won' })
  await send('Deal', { name: '14', value: 5, stage: 'Qualification' })
  const contact = await send('Contact', { name: '2', email: '3@4.5' })
  await send('Comment', { body: '15', about: deal.body.$id })
  const agent = stage.host.as(await stage.host.key(tenant, 'propose:crm', { name: '9' }))
  const operations = [
    { method: 'PUT', path: `/Contact/${contact.body.$id}`, body: { title: '10' } },
    { method: 'PUT', path: `/Deal/${deal.body.$id}`, body: { stage: 'Negotiation' } },
  ]
  const proposal = await agent('POST', `/~${tenant}/batch?propose=11`, { operations })
  await stage.host.request('PUT', `/~${tenant}/Contact/${contact.body.$id}`, { title: '12' })
  await stage.host.request('PUT', `/~${tenant}/schema/Dashboard`, { name: 'string!', tiles: 'json', shared: 'boolean' })
  const tiles = [
    { source: 'count', of: 'Deal', group: 'stage' },
    { source: 'sum', of: 'Deal', field: 'value' },
    { source: 'metric', of: 'deals_won' },
  ]
  const dashboard = await send('Dashboard', { name: '13', tiles, shared: true })
  const flow = await send('Workflow', { name: '6', steps: [] })
  await send('webhooks', { url: 'https://127.0.0.1/7', events: ['*'] })
  return [
    `Deal/${deal.body.$id}`,
    `Contact/${contact.body.$id}`,
    `Workflow/${flow.body.$id}`,
    `changesets/${proposal.body.$id}`,
    `dashboards/${dashboard.body.$id}`,
    `Deal?asOf=${new Date().toISOString()}`,
  ]
}

/** Opens every menu of the page that was not seen on another one. */
async function openMenus(page: Page, isSeen: Set<string>, look: (name: string) => Promise<void>): Promise<void> {
  const menus = page.locator('#main [aria-haspopup=menu]:visible, .top [aria-haspopup=menu]:visible')
  for (let at = 0; at < (await menus.count()); at++) {
    const button = menus.nth(at)
    const name = ((await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '').trim()
    if (isSeen.has(name)) continue
    isSeen.add(name)
    await button.click()
    await look(name)
    await page.keyboard.press('Escape')
  }
}

/** Opens what pages show on request only: windows, the tools for many rows, an edited row, a file to import. */
async function openWindows(page: Page, base: string, look: (place: string) => Promise<void>): Promise<void> {
  await page.goto(`${base}import`)
  const buffer = Buffer.from('1;2\n3;3@4.5\n;7@8.9\n')
  await page.locator('input[type=file]').setInputFiles({ name: '1.csv', mimeType: 'text/csv', buffer })
  await page.locator('.file-reading').waitFor()
  await look('a file')
  for (const [path, opened] of [
    ['keys', 'a new key'],
    ['people', 'a new person'],
    ['roles', 'a new role'],
    ['webhooks', 'a new webhook'],
    ['integrations', 'a new connection'],
    ['dashboards', 'a new dashboard'],
  ] as const) {
    await page.goto(`${base}${path}`)
    await page.locator('.head button:has(.icon-plus)').first().click()
    await page.locator('dialog footer').waitFor()
    await look(opened)
    await page.locator('dialog footer button').last().click()
  }
  await page.goto(`${base}Deal`)
  await page.locator('tbody tr').first().waitFor()
  await page.keyboard.press('x')
  await page.locator('.bulk-bar').waitFor()
  await look('the tools for many')
  await page.keyboard.press('e')
  await page.locator('tr.editing').waitFor()
  await look('a row')
  await page.keyboard.press('Escape')
  for (const key of ['?', 'Control+k']) {
    await page.keyboard.press(key)
    await page.locator('dialog[open]').waitFor()
    await look(`the window of ${key}`)
    await page.keyboard.press('Escape')
  }
}

/** Names, examples and abbreviations that are the same in every language. */
const SAME =
  /^(tildebase|csv|json|ndjson|api|mcp|crm|url|https?|pdf|mrr|arr|nrr|ltv|webhooks?|oauth|cron|typescript|deutsch|english|ctrl|enter|esc|boat|service|contract|status|stage|name|europe|berlin|admin|member|viewer|sales|deal|won|created|data|root|key|windows|macintosh|parquet|shift|hubspot|stripe|github)$/

function isLatin(word: string): boolean {
  return /^\p{Script=Latin}{3,}$/u.test(word) && !SAME.test(word.toLowerCase()) && !/^[A-Z]{3}$/.test(word)
}

const GERMAN = new Set(
  [...Object.values(german), ...Object.values(germanAnswers), ...wordsOfTimes()].flatMap((text) =>
    lettersOf(text.toLowerCase()),
  ),
)

function isNotGerman(word: string): boolean {
  return isLatin(word) && !GERMAN.has(word.toLowerCase())
}

/** How German writes times, currencies and sizes. */
function wordsOfTimes(): string[] {
  const months = Array.from({ length: 12 }, (_, n) => new Date(2026, n, n + 1))
  const formats = (['short', 'long'] as const).map(
    (style) => new Intl.DateTimeFormat('de', { month: style, weekday: style, day: 'numeric' }),
  )
  const ago = new Intl.RelativeTimeFormat('de', { numeric: 'auto' })
  const units = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const
  const currencies = new Intl.DisplayNames('de', { type: 'currency' })
  return [
    ...months.flatMap((day) => formats.map((format) => format.format(day))),
    ...months.map((day) => new Intl.DateTimeFormat('de', { month: 'short' }).format(day)),
    ...units.flatMap((unit) => [-5, -1, 0, 1, 5].map((count) => ago.format(count, unit))),
    ...Intl.supportedValuesOf('currency').map((code) => currencies.of(code) ?? ''),
  ]
}

function lettersOf(text: string): string[] {
  return text.match(/\p{L}+/gu) ?? []
}

/** The words that a page shows or reads out, without code. */
async function wordsOf(page: Page): Promise<string[]> {
  const texts: string[] = await page.evaluate(() => {
    const isCode = (element: Element | null) =>
      element?.closest('code, pre, kbd, .code, .cm-editor, bdi, .brand') != null
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement
      const isHidden = parent?.closest('script, style, noscript, .hook-step option') != null
      if (!isCode(parent) && !isHidden) found.push(walker.currentNode.textContent ?? '')
    }
    for (const element of document.querySelectorAll('[aria-label], [placeholder], [title], [aria-valuetext]')) {
      if (isCode(element)) continue
      for (const name of ['aria-label', 'placeholder', 'title', 'aria-valuetext']) {
        // An example of code is code, and a title may be an id, a time or a name of the API.
        const text = element.getAttribute(name) ?? ''
        const isName = name === 'title' && !text.includes(' ')
        if (!isName && !/[*$|_]|\w\.\w/.test(text)) found.push(text)
      }
    }
    return found
  })
  // `Deal.won` is code, too.
  return [...new Set(texts.flatMap((text) => lettersOf(text.replace(/[\w*]+\.[\w*]+/g, ''))))]
}
