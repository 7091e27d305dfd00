import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { type OpenStage, openStage } from './stage.ts'

const MANY = Number(process.env.TILDE_MANY ?? 10_000)
const TURNS = 40

let stage: OpenStage
let tab: Tab
/** The lists the page has asked for. */
const asked: string[] = []

describe.skipIf(BROWSER === null)(`a list of ${MANY} entities`, () => {
  beforeAll(async () => {
    stage = await openStage()
    const lines = Array.from({ length: MANY }, (_, n) => JSON.stringify({ name: nameOf(n), employeeCount: n }))
    const { body } = await stage.host.request('POST', '/~many/import/Organization', lines.join('\n'), {
      'content-type': 'application/x-ndjson',
    })
    expect(body.imported).toBe(MANY)
    tab = await stage.enter('', { tenant: 'many' })
    tab.page.on('request', (request) => {
      if (request.url().includes('/~many/Organization')) asked.push(request.url())
    })
    await tab.page.evaluate(() => {
      const tasks: number[] = []
      Object.assign(globalThis, { tasks })
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
        type: 'longtask',
      })
    })
  }, 3_600_000)
  afterAll(async () => {
    const tasks = await tab?.page.evaluate(() => (globalThis as any).tasks as number[])
    // The duration of a task depends on the machine: it is printed, not asserted.
    process.stdout.write(`${MANY} entities: ${tasks.length} long tasks, the longest ${Math.max(0, ...tasks)} ms\n`)
    await stage?.stop()
  })

  test('is paged through by the keyboard, one request and one page of rows at a time', {
    timeout: 240_000,
  }, async () => {
    const { page } = tab
    await page.getByRole('link', { name: `Organizations ${MANY.toLocaleString('en-US')}` }).click()
    await shows(1)
    await page.getByRole('button', { name: /^Name/ }).click()
    await page.getByRole('link', { name: nameOf(0) }).waitFor()
    const nodes = await size()
    asked.length = 0

    for (let sheet = 2; sheet <= TURNS; sheet++) {
      await page.keyboard.press(']')
      await shows(sheet)
    }

    expect(await names()).toEqual(Array.from({ length: 25 }, (_, n) => nameOf((TURNS - 1) * 25 + n)))
    expect(asked).toHaveLength(TURNS - 1)
    // A page of rows takes the place of another: nothing piles up.
    expect(await size()).toBe(nodes)
  })

  test('goes back to the page and the row that an entity was opened from', async () => {
    const { page } = tab
    for (const key of ['[', 'j', 'j']) await page.keyboard.press(key)
    await shows(TURNS - 1)

    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: nameOf((TURNS - 2) * 25 + 2), level: 1 }).waitFor()
    await page.keyboard.press('Escape')
    await shows(TURNS - 1)

    expect(await page.locator('tr.active .title').textContent()).toBe(nameOf((TURNS - 2) * 25 + 2))
  })

  test('ends where its order turned round begins, and the row below the last one is the next page', async () => {
    const { page } = tab
    asked.length = 0

    await page.getByRole('button', { name: /^Name/ }).click()
    await page.getByRole('link', { name: nameOf(MANY - 1) }).waitFor()
    for (let row = 1; row <= 25; row++) await page.keyboard.press('j')
    await shows(2)
    const second = await names()
    await page.keyboard.press('k')
    await shows(1)

    expect(second[0]).toBe(nameOf(MANY - 26))
    expect(await page.locator('tr.active .title').textContent()).toBe(nameOf(MANY - 25))
    // The page that was just left is not asked for again.
    expect(new Set(asked).size).toBe(2)
  })

  test('is selected as a whole, each entity once', async () => {
    const { page } = tab
    await page.keyboard.press('x')
    await page.getByRole('button', { name: `Select all ${MANY.toLocaleString('en-US')}` }).click()

    await page.getByText(`${MANY.toLocaleString('en-US')} selected`).waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Clear the selection' }).click()
  })

  test('responds to the keyboard while a page loads, and loads no page twice', async () => {
    const { page } = tab
    // The second page is fresh, however long the tests before took.
    await page.keyboard.press(']')
    await shows(2)
    let arrive = () => {}
    const way = new Promise<void>((done) => {
      arrive = done
    })
    await page.route(/cursor=/, async (route) => {
      await way
      await route.continue()
    })
    await page.keyboard.press('[')
    await shows(1)
    asked.length = 0

    for (const key of [']', ']', ']', 'j', 'j']) await page.keyboard.press(key)
    await expect.poll(() => page.locator('tr.active .title').textContent()).toBe(nameOf(MANY - 28))
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await names()).toContain(nameOf(MANY - 26))
    arrive()
    await shows(3)

    expect(await names()).toContain(nameOf(MANY - 51))
    expect(asked).toHaveLength(1)
    expect(tab.faults).toEqual([])
  })
})

async function shows(sheet: number): Promise<void> {
  const text = (n: number) => n.toLocaleString('en-US')
  await tab.page.getByText(`${text(sheet * 25 - 24)}–${text(sheet * 25)} of ${text(MANY)}`).waitFor()
}

const names = () => tab.page.locator('tbody .title').allTextContents()
const size = () => tab.page.evaluate(() => document.querySelectorAll('*').length)

function nameOf(n: number): string {
  return `Company ${String(n).padStart(6, '0')}`
}
