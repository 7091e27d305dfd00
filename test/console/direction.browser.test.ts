import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }

/** A page of the console in Hebrew. */
const enter = async (path: string) => {
  const { page } = await stage.browser.open()
  await page.addInitScript(() => localStorage.setItem('tildebase.preferences', '{"language":"he"}'))
  await page.goto(`${stage.host.url}/console#/~acme/${path}`)
  await page.locator('.key-box input[type=password]').fill(await stage.host.key('acme', 'admin:all'))
  await page.locator('.key-box button.primary').click()
  await page.locator('main#main h1').waitFor()
  return page
}

describe.skipIf(BROWSER === null)('from right to left', () => {
  test('code is still read from the left', async () => {
    await stage.host.request('POST', '/~acme/webhooks', { url: 'https://127.0.0.1/hook', events: ['Deal.*'] })
    const page = await enter('webhooks')
    const pattern = page.locator('code', { hasText: 'Deal.*' }).first()
    await pattern.waitFor()
    const patternDirection = await pattern.evaluate((one) => getComputedStyle(one).direction)
    await page.goto(`${stage.host.url}/console#/~acme/agent`)
    await page.locator('.cm-content').waitFor()

    const directions = await page
      .locator('pre, .cm-content')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).direction))

    expect(patternDirection).toBe('ltr')
    expect(directions.length).toBeGreaterThan(2)
    expect(new Set(directions)).toEqual(new Set(['ltr']))
  })

  test('the arrow of a change points to the new value, and no sign covers the words beside it', async () => {
    const { $id } = await make('Deal', { name: 'Arrowed', value: 1 })
    await stage.host.request('PUT', `/~acme/Deal/${$id}`, { value: 2 })
    const page = await enter(`Deal/${$id}`)
    const arrow = page.locator('.moment .arrow').first()
    await arrow.waitFor()

    expect(await arrow.evaluate((one) => getComputedStyle(one).transform)).toContain('matrix(-1')
    const free = await page.locator('.moment').evaluateAll((all) =>
      all.map((one) => {
        const words = one.querySelector('strong')!.getBoundingClientRect()
        return one.getBoundingClientRect().right - words.right
      }),
    )
    for (const room of free) expect(room).toBeGreaterThanOrEqual(16)
  })

  test('what is refused is said in Hebrew beside its field, and so is what was done to many', async () => {
    await make('Contact', { name: 'Taken', email: 'taken@example.com' })
    const page = await enter('Contact?text=Taken')
    await page.locator('.head button.primary').click()
    await page.locator('dialog [id$=-name]').fill('Second')
    await page.locator('dialog [id$=-email]').fill('taken@example.com')
    await page.locator('dialog button.primary').click()
    await page.locator('dialog small.error').waitFor()
    const said = await page.locator('dialog :is(small.error, .failure)').allInnerTexts()
    await page.locator('dialog [id$=-email]').fill('second@example.com')
    await page.locator('dialog button.primary').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.locator('tbody input[type=checkbox]').first().check()
    await page.locator('.bulk-bar button.danger').click()
    said.push(await page.locator('.toast', { hasText: /^1 / }).innerText())

    const words = said.map((one) => one.replaceAll(/contact_\w+|ctrl z/gi, '').match(/[a-z]{2,}/gi))
    expect(said.length).toBe(2)
    expect(words).toEqual([null, null])
  })

  test('a long name shows its beginning, and the drawing of its type is apart from it', async () => {
    const { $id } = await make('Contact', { name: 'Long' })
    await make('Lead', { name: 'Asked for a demo of everything that there is, twice', contact: $id })
    const page = await enter(`Contact/${$id}`)
    await page.setViewportSize({ width: 390, height: 844 })
    const name = page.locator('.related td a.title')
    await name.waitFor()

    const letterOf = (what: Locator) =>
      what.evaluate((one) => {
        const range = document.createRange()
        const text = document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode()!
        range.setStart(text, 0)
        range.setEnd(text, 1)
        return range.getBoundingClientRect().toJSON() as DOMRect
      })
    const [letter, first] = [await letterOf(name), await letterOf(page.locator('main h1'))]
    const boxOf = async (what: Locator) => (await what.boundingBox())!
    const cell = await boxOf(name.locator('xpath=..'))
    const [title, drawing] = [await boxOf(page.locator('main h1')), await boxOf(page.locator('main h1 svg'))]
    expect(letter.left).toBeGreaterThanOrEqual(cell.x)
    expect(letter.right).toBeLessThanOrEqual(cell.x + cell.width)
    expect(drawing.x + drawing.width).toBeCloseTo(title.x + title.width, 0)
    expect(drawing.x - first.right).toBeGreaterThanOrEqual(4)
  })

  test('the circle of a person is apart from the name, whatever its direction', async () => {
    const latin = await make('User', { name: 'Ruth Latin', email: 'latin@example.com' })
    const hebrew = await make('User', { name: 'רות עברית', email: 'hebrew@example.com' })
    const { $id } = await make('Deal', { name: 'Circles', owner: latin.$id })
    await stage.host.request('PUT', `/~acme/Deal/${$id}`, { owner: hebrew.$id })
    const page = await enter(`Deal/${$id}`)
    await page.locator('main .person', { hasText: 'Latin' }).first().waitFor()

    // The margin between the circle and the name: on the right of a Latin name's circle, on the left of a Hebrew one's.
    const margins = await page.locator('main .person').evaluateAll((all) =>
      all.map((one) => {
        const { marginLeft, marginRight } = getComputedStyle(one, '::before')
        return [one.textContent, marginLeft, marginRight]
      }),
    )
    expect(new Set(margins.map(String))).toEqual(new Set(['Ruth Latin,0px,6px', 'רות עברית,6px,0px']))
  })

  test('the lamp of the events is lit, and a name keeps the order of its own words', async () => {
    await make('Contact', { name: 'Who asks this?' })
    const page = await enter('events')
    await page.locator('.lamp.live').waitFor()
    await page.locator('.event-title', { hasText: 'Who asks this?' }).first().waitFor()

    const order = await page
      .locator('.event-title', { hasText: 'Who asks this?' })
      .first()
      .evaluate((one) => getComputedStyle(one).unicodeBidi)
    expect(order).toBe('plaintext')
  })

  test('the name of a file, its size and its cells keep the order of their own words', async () => {
    const page = await enter('import')
    const buffer = Buffer.from('Name;Mobile\nAda;+49 30 1234\nGrace;0171 555\n')
    await page.locator('input[type=file]').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
    await page.locator('.mapping tbody tr').first().waitFor()
    const leftOf = (text: string) =>
      page.evaluate((wanted) => {
        const walker = document.createTreeWalker(document.querySelector('main')!, NodeFilter.SHOW_TEXT)
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const at = node.textContent!.indexOf(wanted)
          if (at < 0) continue
          const range = document.createRange()
          range.setStart(node, at)
          range.setEnd(node, at + 1)
          return range.getBoundingClientRect().left
        }
        return null
      }, text)

    expect(await leftOf('people.csv')).toBeGreaterThan((await leftOf('B'))!)
    expect(await leftOf('+49')).toBeLessThan((await leftOf('49 30'))!)
    expect(await leftOf('+49')).toBeGreaterThan((await leftOf('0171'))!)
  })
})
