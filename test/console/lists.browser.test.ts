import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (id: string) => (await stage.host.request('GET', `/~acme/Deal/${id}`)).body

describe.skipIf(BROWSER === null)('cells of a list', () => {
  test('one is written in by the keyboard, and many are pasted and undone as one', async () => {
    const ids = [
      (await make('Deal', { name: 'Cells a', value: 1, stage: 'Proposal' })).$id,
      (await make('Deal', { name: 'Cells b', value: 2, stage: 'Proposal' })).$id,
    ]
    const { page } = await stage.enter('Deal?text=Cells&sort=name&columns=name,value,nextStep,stage')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
    const values = async () =>
      (await Promise.all(ids.map(read))).map(({ value, nextStep }) => [value, nextStep ?? null])

    await page.keyboard.press('i')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByLabel('Value', { exact: true }).fill('7')
    await page.keyboard.press('Enter')
    await expect.poll(values).toEqual([
      [7, null],
      [2, null],
    ])
    await page.locator('tbody tr').first().locator('td.cell-on', { hasText: '7' }).waitFor()
    await page.evaluate(() => {
      const data = new DataTransfer()
      data.setData('text/plain', '1.200,50\tCall\n3,5\t"Write ""now"""\n')
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    })
    await page.getByText('4 cells pasted.').waitFor()
    expect(await values()).toEqual([
      [1_200.5, 'Call'],
      [3.5, 'Write "now"'],
    ])
    await page.keyboard.press('Control+z')

    await expect.poll(values).toEqual([
      [7, null],
      [2, null],
    ])
  })

  test('a range is copied as a spreadsheet takes it', async () => {
    await make('Deal', { name: 'Range a', value: 1.5, stage: 'Won' })
    await make('Deal', { name: 'Range b', value: 2, stage: 'Lost' })
    const { page } = await stage.enter('Deal?text=Range&sort=name&columns=name,value,stage')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)

    await page.keyboard.press('i')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => page.locator('td.cell-on').count()).toBe(4)
    const copied = await page.evaluate(() => {
      const data = new DataTransfer()
      document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }))
      return data.getData('text/plain')
    })

    expect(copied).toBe('Range a\t1.5\nRange b\t2')
  })

  test('rows are grouped by people of either type, with name and count, also without the column', async () => {
    const ada = (await make('Contact', { name: 'Zoe Group' })).$id
    const bob = (await make('User', { name: 'Bob Group', email: 'bob-group@example.com' })).$id
    for (const [name, owner] of [
      ['Grouped 1', ada],
      ['Grouped 2', bob],
      ['Grouped 3', ada],
    ] as const)
      await make('Deal', { name, owner })
    const { page } = await stage.enter('Deal?text=Grouped&group=owner&columns=name,stage')

    await expect.poll(() => page.locator('.group-head').allTextContents()).toEqual(['Bob Group1', 'Zoe Group2'])
    expect(await page.locator('tbody .title').allTextContents()).toEqual(['Grouped 2', 'Grouped 3', 'Grouped 1'])
  })

  test('the foot adds up all pages in each currency, with that of the tenant for amounts without one', async () => {
    for (let n = 1; n <= 30; n++)
      await make('Deal', { name: `Footed ${n}`, value: n, ...(n > 1 && { currency: 'EUR' }) })
    await make('Deal', { name: 'Footed in dollars', value: 7, currency: 'USD' })
    const { page } = await stage.enter('settings')
    await page.getByLabel('Currency').selectOption('EUR')
    await page.getByText('The currency is EUR.').waitFor()

    await page.goto(`${stage.host.url}/console#/~acme/Deal?text=Footed&sort=name&columns=name,value`)

    await page.locator('tfoot', { hasText: '€465 + US$7' }).waitFor()
    await page.locator('tr', { hasText: /^Footed 1€1/ }).waitFor()
    await page.getByRole('button', { name: /^Sum .*, of Value/ }).click()
    await page.getByRole('menuitem', { name: 'Largest of value' }).click()
    await page.locator('tfoot', { hasText: '€30 · US$7' }).waitFor()
  })

  test('a column is resized by mouse and keyboard, and the first ones stay in sight', async () => {
    const columns = 'name,stage,value,currency,source,nextStep,description,probability,$createdAt,$updatedAt'
    const { page } = await stage.enter(`Deal?columns=${columns}`)
    await page.locator('tbody .title').first().waitFor()
    const head = page.locator('th[data-column=stage]')
    const width = () => head.evaluate((element) => (element as HTMLElement).offsetWidth)

    // Until it is resized, a column is as wide as what has come so far.
    await head.getByRole('button').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => head.getAttribute('style')).toContain('max-width')
    const before = await width()
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(width).toBe(before + 16)
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(width).toBe(before)
    const edge = head.locator('.resize')
    await edge.hover()
    const { x, y, width: thickness, height } = (await edge.boundingBox())!
    await page.mouse.down()
    await page.mouse.move(x + thickness / 2 + 60, y + height / 2)
    await page.mouse.up()
    await expect.poll(width).toBe(before + 60)
    await page.reload()
    await giveKey({ page }, await stage.host.key('acme', 'admin:all'))
    await head.waitFor()
    await expect.poll(width).toBe(before + 60)

    const left = () =>
      page
        .locator('tbody td.frozen')
        .first()
        .evaluate((element) => element.getBoundingClientRect().left)
    const rest = await left()
    await page.locator('.table-box').evaluate((element) => element.scrollTo({ left: 200 }))
    expect(await left()).toBeCloseTo(rest, 0)
  })

  test('pages have the chosen size, rows the chosen density, and the theme is that of the reader', async () => {
    const { page } = await stage.enter('settings')

    await page.getByLabel('Theme').selectOption('dark')
    await page.getByLabel('Density').selectOption('dense')
    await page.getByLabel('Rows on a page').selectOption('50')
    await page.getByRole('link', { name: 'Activities' }).click()

    await expect.poll(() => page.locator('tbody tr').count()).toBe(32)
    expect(
      await page
        .locator('tbody td')
        .nth(1)
        .evaluate((cell) => getComputedStyle(cell).height),
    ).toBe('29px')
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(
      'rgb(18, 19, 20)',
    )
    await page.evaluate(() => localStorage.removeItem('tildebase.preferences'))
  })

  test('the console speaks German, and Hebrew from right to left, with names of entities as they are', async () => {
    await make('Deal', { name: 'Home' })
    const organization = (await make('Organization', { name: 'Very Long Name of a Company, Branch in the South' })).$id
    const email = 'a.person.with.a.long.address@example.com'
    await make('Contact', { name: 'Wide Contact of a List', email, organization, leadScore: 5 })
    const { page } = await stage.enter('settings')
    const speak = async (language: string, path: string) => {
      await page.evaluate(
        (chosen) => localStorage.setItem('tildebase.preferences', `{"language":"${chosen}"}`),
        language,
      )
      await page.goto(`${stage.host.url}/console#/~acme/${path}`)
      await page.reload()
      await page.locator('.key-box form input').first().waitFor()
      await page
        .locator('.key-box form input[type=password]')
        .first()
        .fill(await stage.host.key('acme', 'admin:all'))
      await page.locator('.key-box form button.primary').click()
    }

    await speak('de', 'Deal?text=Home')
    await page.getByRole('heading', { name: 'Geschäfte', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Gruppieren' }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Konsole' }).getByRole('link').first().textContent()).toBe(
      'Start',
    )
    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Home'])
    await page.goto(`${stage.host.url}/console#/~acme/Contact?text=Wide`)
    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Wide Contact of a List'])
    // No column is behind the menus of the rows, no address takes two lines, and what does not fit ends in dots.
    const box = page.locator('.table-box')
    expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    expect(await page.locator('tbody tr').evaluate((row) => row.getBoundingClientRect().height)).toBeLessThan(39)
    const link = box.locator('td .links a').first()
    expect(await link.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true)
    await speak('he', 'settings')
    await page.getByRole('heading', { name: 'הגדרות', level: 1 }).waitFor()

    const side = (await page.locator('.side').boundingBox())!
    expect(await page.evaluate(() => [document.documentElement.lang, document.dir])).toEqual(['he', 'rtl'])
    expect(side.x).toBeGreaterThan(600)
    await page.evaluate(() => localStorage.removeItem('tildebase.preferences'))
  })
})

describe.skipIf(BROWSER === null)('the day of a list', () => {
  test('a favourite and a view are in the sidebar, and types without entries are folded away', async () => {
    const { page } = await stage.enter('Deal?layout=board')
    const side = page.getByRole('navigation', { name: 'Console' })
    await side.getByText('Types without entries').waitFor()
    expect(await side.getByRole('link', { name: 'Invoices' }).isVisible()).toBe(false)

    await page.getByRole('button', { name: 'Add to favourites' }).click()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save as a new view…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('All on a board')
    await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
    await side.getByRole('link', { name: 'All on a board' }).waitFor()
    await side.getByRole('link', { name: 'Home' }).click()
    await side.locator('details', { hasText: 'Favourites' }).getByRole('link', { name: 'Deals' }).click()

    await page.getByRole('button', { name: 'Board', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Remove from favourites' }).click()
    await expect.poll(() => side.getByText('Favourites').count()).toBe(0)
  })

  test('a calendar shows what is due, and an entry moves to another day by mouse and keyboard', async () => {
    const due = await make('Activity', { subject: 'Due entry', dueAt: '2026-03-10T09:30:00.000Z' })
    const { page } = await stage.enter('Activity?layout=calendar&month=2026-03')
    const dueAt = async () => (await stage.host.request('GET', `/~acme/Activity/${due.$id}`)).body.dueAt
    const entry = page.getByRole('link', { name: 'Due entry' })
    const target = page.getByRole('region', { name: '12 Mar 2026' })

    await entry.dragTo(target, { sourcePosition: { x: 10, y: 5 }, targetPosition: { x: 20, y: 50 } })
    await expect.poll(dueAt).toBe('2026-03-12T09:30:00.000Z')
    await target.getByRole('link', { name: 'Due entry' }).focus()
    await page.keyboard.press('Shift+ArrowDown')

    await expect.poll(dueAt).toBe('2026-03-19T09:30:00.000Z')
    await page.getByRole('region', { name: '19 Mar 2026' }).getByRole('link', { name: 'Due entry' }).waitFor()
  })

  test('the past says what is new, changed and gone since, in a list, an entity and a dashboard', async () => {
    const kept = await make('Campaign', { name: 'Kept campaign', budget: 1 })
    const lost = await make('Campaign', { name: 'Lost campaign' })
    const then = new Date().toISOString()
    await stage.host.request('PUT', `/~acme/Campaign/${kept.$id}`, { budget: 2 })
    await stage.host.request('DELETE', `/~acme/Campaign/${lost.$id}`)
    await make('Campaign', { name: 'Late campaign' })
    const { page } = await stage.enter(`Campaign?asOf=${then}`)

    await page.getByRole('button', { name: 'What changed since' }).click()
    await page.getByText('1 new, 1 changed, 1 gone').waitFor()
    const panel = page.locator('.differences')
    expect(await panel.locator('li').allTextContents()).toEqual([
      'Late campaign',
      expect.stringMatching(/^Kept campaign.*Budget.*1.*2/),
      'Lost campaign',
    ])
    await page.goto(`${stage.host.url}/console#/~acme/Campaign/${kept.$id}?asOf=${then}&compare=1`)

    await panel.getByText('Budget').waitFor()
    expect(await panel.locator('del').textContent()).toMatch(/^\D?1$/)
  })

  test('the slider has marks and the menu presets, which lead to their moments', async () => {
    const { page } = await stage.enter('Deal')
    await page.getByRole('button', { name: 'Go to a time' }).click()
    await page.getByRole('menuitem', { name: /^End of last month/ }).click()
    await page.getByText('You are in the past').waitFor()
    const end = new Date(new Date().getFullYear(), new Date().getMonth(), 1).getTime() - 1
    expect(new URL(page.url()).hash).toContain(encodeURIComponent(new Date(end).toISOString()))

    await page.getByRole('button', { name: 'Go to a time' }).click()
    await page.getByRole('menuitem', { name: 'Mark this moment…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Release 2')
    await page.getByRole('dialog').getByRole('button', { name: 'Mark', exact: true }).click()
    await page.locator('.slider i.named').waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('button', { name: 'Go to a time' }).click()
    await page.getByRole('menuitem', { name: /^Release 2/ }).click()

    expect(new URL(page.url()).hash).toContain(encodeURIComponent(new Date(end).toISOString()))
  })

  test('a stage is added, moved and coloured from the board, and a card is made in its column', async () => {
    const { page } = await stage.enter('Ticket?layout=board')
    await page.getByRole('button', { name: 'Status', exact: true }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Remove Open' }).isDisabled()).toBe(true)
    await dialog.getByLabel('New choice').fill('Waiting for parts')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.getByLabel('Colour of Waiting for parts').selectOption('turquoise')
    await dialog.getByRole('button', { name: 'Move Waiting for parts up' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    const column = page.getByRole('region', { name: 'Waiting for parts' })
    await column.locator('.state.tone-near').waitFor()
    const words = await page
      .locator('.board-column')
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.word))
    expect(words.at(-2)).toBe('Waiting for parts')

    await column.getByRole('button', { name: 'New ticket in Waiting for parts' }).click()
    await dialog.getByLabel('Subject').fill('Needs a screw')
    await dialog.getByRole('button', { name: 'Create' }).click()

    await column.getByRole('link', { name: 'Needs a screw' }).waitFor()
  })

  test('duplicates are found, merged field by field, and parted again by one undo', async () => {
    const first = await make('Contact', { name: 'Dora Twin', email: 'dora@example.com', title: 'Clerk' })
    const second = await make('Contact', {
      name: 'Twin, Dora',
      email: 'DORA@example.com',
      title: 'Head',
      phone: '030 1234567',
    })
    const { page } = await stage.enter('Contact')
    await page.getByRole('button', { name: 'List actions' }).click()
    await page.getByRole('menuitem', { name: 'Find duplicates…' }).click()
    const dialog = page.getByRole('dialog')

    await dialog.getByText('1 group is probably the same.').waitFor()
    await dialog.getByRole('group', { name: 'Title' }).getByLabel('Head').check()
    await dialog.getByRole('button', { name: 'Merge' }).click()
    await page.getByText('2 became Dora Twin.').waitFor()
    const kept = (await stage.host.request('GET', `/~acme/Contact/${first.$id}`)).body
    expect([kept.name, kept.title, kept.phone]).toEqual(['Dora Twin', 'Head', '030 1234567'])
    expect((await stage.host.request('GET', `/~acme/Contact/${second.$id}`)).status).toBe(404)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+z')

    await expect.poll(async () => (await stage.host.request('GET', `/~acme/Contact/${second.$id}`)).status).toBe(200)
    expect((await stage.host.request('GET', `/~acme/Contact/${first.$id}`)).body.title).toBe('Clerk')
  })
})
