import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const boxes = (what: Locator) =>
  what.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect))
const starts = async (what: Locator) => new Set((await boxes(what)).map(({ left }) => Math.round(left)))

describe.skipIf(BROWSER === null)('the design of the console', () => {
  test('the buttons of an entity end where its content ends, on the widest screen', async () => {
    const { $id } = await make('Deal', { name: 'Wide deal' })
    const { page } = await stage.enter(`Deal/${$id}`, { size: { width: 2400, height: 1000 } })
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
    const [content] = await boxes(page.locator('.entity'))
    const [last] = await boxes(page.getByRole('button', { name: 'More actions' }))

    expect(last!.right).toBeLessThanOrEqual(content!.right + 1)
  })

  test('the verb that closes an entity names it, and a person has a circle with initials', async () => {
    const ada = await person(stage.host, 'acme', { name: 'Ada Round', email: 'round@example.com', role: 'Member' })
    const { $id } = await make('Deal', { name: 'Deal to close', owner: ada.user.$id })
    const { page } = await stage.enter(`Deal/${$id}`)
    const circle = page.locator('.facts a', { hasText: /^Ada Round$/ })
    await circle.waitFor()

    await page.getByRole('button', { name: 'Close the deal', exact: true }).waitFor()
    expect(await circle.evaluate((one) => getComputedStyle(one, '::before').content)).toContain('AR')
  })

  test('a cell that is edited has its field and its buttons in one row', async () => {
    await make('Deal', { name: 'Cell with buttons', value: 12_345 })
    const { page } = await stage.enter('Deal?text=Cell&columns=name,value,stage')
    await page.locator('tbody td.right').first().click()
    await page.keyboard.press('Enter')
    const cell = page.locator('td', { has: page.locator('.in-place') })
    await cell.waitFor()

    const [field, save, cancel] = await boxes(cell.locator('input, button'))
    expect(save!.left).toBeGreaterThanOrEqual(field!.right)
    expect(cancel!.left).toBeGreaterThanOrEqual(save!.right)
    expect(Math.abs(save!.top - field!.top)).toBeLessThan(6)
    const [whole] = await boxes(cell)
    expect(cancel!.right).toBeLessThanOrEqual(whole!.right)
  })

  test('each type has its own drawing in the sidebar and in headings, and own types have the neutral one', async () => {
    await stage.host.request('PUT', '/~acme/schema/Yacht', { name: 'string!' })
    await stage.host.request('PUT', '/~acme/schema/Canoe', { name: 'string!' })
    const deal = await make('Deal', { name: 'Drawn deal' })
    const { page } = await stage.enter(`Deal/${deal.$id}`)
    const drawing = (what: Locator) => what.locator('svg.icon-type path').first().getAttribute('d')
    const linkOf = (name: string) => page.locator('.side details li a', { hasText: new RegExp(`^${name}$`) })
    await linkOf('Yachts').waitFor({ state: 'attached' })
    const drawings = await page
      .locator('.side svg.icon-type path')
      .evaluateAll((all) => all.map((one) => one.getAttribute('d')))

    // Two types are the tenant's own.
    expect(drawings.length).toBeGreaterThan(30)
    expect(new Set(drawings).size).toBe(drawings.length - 1)
    expect(await drawing(linkOf('Yachts'))).toBe(await drawing(linkOf('Canoes')))
    expect(await drawing(page.locator('main h1'))).toBe(await drawing(linkOf('Deals')))
    await page.goto(`${stage.host.url}/console#/~acme/Contact`)
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()
    expect(await drawing(page.locator('main h1'))).toBe(await drawing(linkOf('Contacts')))
  })

  test('the tab of the browser is called what its page is called, until the tenant is left', async () => {
    const { $id } = await make('Deal', { name: 'Deal in a tab' })
    const { page } = await stage.enter('Deal')
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
    expect(await page.title()).toBe('Deals · ~acme · Tildebase')

    await page.goto(`${stage.host.url}/console#/~acme/Deal/${$id}`)
    await page.getByRole('heading', { name: 'Deal in a tab', level: 1 }).waitFor()
    await expect.poll(() => page.title()).toBe('Deal in a tab · ~acme · Tildebase')
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByLabel('Key', { exact: true }).waitFor()
    expect(await page.title()).toBe('Tildebase')
  })

  test('all that is not a button of an entity is in one menu', async () => {
    const { $id } = await make('Deal', { name: 'Deal with many actions' })
    const { page } = await stage.enter(`Deal/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()

    expect(await page.locator('main .head [aria-haspopup=menu]').count()).toBe(1)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Lose', exact: true }).waitFor()
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).waitFor()
  })

  test('a table of related entries names its columns, and a currency is in capitals', async () => {
    const organization = await make('Organization', { name: 'Headed Ltd' })
    await make('Contact', { name: 'Heddy', leadScore: 24, organization: organization.$id })
    const deal = await make('Deal', { name: 'Capital deal', value: 5, currency: 'eur', organization: organization.$id })
    const { page } = await stage.enter(`Organization/${organization.$id}`)
    const heads = page.getByRole('region', { name: 'Contacts' }).locator('thead th')
    await heads.first().waitFor()

    expect((await boxes(heads)).every(({ width, height }) => width > 20 && height > 10)).toBe(true)
    const begins = (what: Locator) => what.evaluate((cell) => getComputedStyle(cell).paddingLeft)
    const cell = page.getByRole('region', { name: 'Contacts' }).locator('tbody td').first()
    expect(await begins(heads.first())).toBe(await begins(cell))
    await page.goto(`${stage.host.url}/console#/~acme/Deal/${deal.$id}`)
    await page.locator('.facts').getByText('EUR', { exact: true }).waitFor()
  })

  test('a long form is in groups whose rows are even', async () => {
    const { $id } = await make('Deal', { name: 'Deal with a long form' })
    const { page } = await stage.enter(`Deal/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const grids = dialog.locator('.form-grid')
    await dialog.getByRole('group', { name: 'Connections' }).getByLabel('Owner').waitFor()
    await dialog.getByRole('group', { name: 'Texts' }).getByLabel('Description').waitFor()

    for (const grid of await grids.all()) {
      const rows = Map.groupBy(await boxes(grid.locator('.labelled')), ({ top }) => Math.round(top))
      for (const row of rows.values()) expect(new Set(row.map(({ height }) => Math.round(height))).size).toBe(1)
    }
  })

  test('what belongs together begins in one column: rights of a role, and first steps', async () => {
    const { page } = await stage.enter('roles')
    await page.getByRole('button', { name: 'New role' }).click()
    await page.getByRole('dialog').getByLabel('CRM').waitFor()
    const rights = await starts(page.getByRole('dialog').locator('.rights select'))
    const { page: fresh } = await stage.enter('', { tenant: 'stepwise' })
    await fresh.getByText('Give your company its name').waitFor()

    expect(rights.size).toBe(1)
    expect((await starts(fresh.locator('.start-list li .hint'))).size).toBe(1)
  })

  test('a type that gets a field stays at its place in the sidebar', async () => {
    const { page } = await stage.enter('')
    const links = page.locator('.side details', { hasText: 'CRM' }).locator('a')
    await links.first().waitFor()
    const before = await links.allTextContents()
    await stage.host.request('PUT', '/~acme/schema/Contact', { shoeSize: 'number' })
    await page.reload()
    await page.getByLabel('Key', { exact: true }).fill(await stage.host.key('acme', 'admin:all'))
    await page.getByRole('button', { name: 'Open' }).click()
    await links.first().waitFor()

    expect(before).toContain('Contacts')
    expect(await links.allTextContents()).toEqual(before)
  })

  test('roles say in words what they may do', async () => {
    await stage.host.request('PUT', '/~acme/schema/roles/Plain', {
      scopes: 'write:crm,read:billing',
      filter: { Deal: { owner: '$user.$id' } },
    })
    const { page } = await stage.enter('roles')
    const row = page.locator('tbody tr', { hasText: 'Plain' })

    await row.getByText('CRM: read and write').waitFor()
    await row.getByText('Billing: read').waitFor()
    await row.getByText('Some deals').waitFor()
    expect(await row.textContent()).not.toMatch(/[{$]/)
  })

  test('bars of states have the colours of their states', async () => {
    for (const stage of ['Won', 'Lost']) await make('Deal', { name: `Coloured ${stage}`, stage })
    const { page } = await stage.enter('metrics')
    const bars = page.getByRole('img', { name: /^Deals by stage/ }).locator('.bar')
    await bars.first().waitFor()

    const colours = await bars.evaluateAll((all) => all.map((one) => getComputedStyle(one).fill))
    expect(new Set(colours).size).toBeGreaterThan(3)
  })

  test.each([1280, 2400])('words in charts are as large as other small words, at %i pixels', async (width) => {
    const { page } = await stage.enter('metrics', { size: { width, height: 1000 } })
    const words = page.locator('main figure text, main svg text')
    await words.first().waitFor()
    const sizes = await words.evaluateAll((all) =>
      all.map((one) => {
        const scale = (one as SVGTextElement).getScreenCTM()?.a ?? 1
        return Number.parseFloat(getComputedStyle(one).fontSize) * scale
      }),
    )

    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(10)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(15)
  })
})
