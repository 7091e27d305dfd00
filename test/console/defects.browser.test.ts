import { describe, expect, test } from 'vitest'
import { ROOT } from '../host.ts'
import { BROWSER, type Tab } from './browser.ts'
import { faintTexts } from './contrast.ts'
import { useStage } from './stage.ts'

const stage = useStage()
const DAY = 86_400_000

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body
const change = (type: string, id: string, fields: object) => stage.host.request('PUT', `/~acme/${type}/${id}`, fields)

describe.skipIf(BROWSER === null)('the console leads people nowhere', () => {
  test('Save in an edited row can be read, and what deletes or revokes is red', async () => {
    const { page } = await stage.enter('Deal')
    await page.locator('tbody tr').first().waitFor()
    await page.keyboard.press('e')
    await page.getByRole('button', { name: 'Save' }).waitFor()

    expect(await faintTexts(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Actions for' }).first().click()
    const red = await page.getByRole('menuitem', { name: 'Delete' }).evaluate((item) => getComputedStyle(item).color)
    await page.goto(`${stage.host.url}/console#/~acme/keys`)
    const revoke = page.getByRole('button', { name: 'Revoke' }).first()
    await revoke.waitFor()

    expect(red).toBe('rgb(168, 42, 34)')
    expect(await revoke.evaluate((button) => getComputedStyle(button).color)).toBe(red)
  })

  test('a type without a name opens by the mouse, and its page has a title that people read', async () => {
    const { page } = await stage.enter('Subscription')

    await page.locator('tbody tr').first().getByRole('link').first().click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
    // The title is made of entities that it refers to, which come after it.
    await page.getByRole('heading', { level: 1 }).filter({ hasText: /\w/ }).waitFor()

    expect(page.url()).toContain('/Subscription/subscription_')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^[A-Z][\w& ]+( · Team)?$/)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toContain('subscription_')
  })

  test('changes of two people to different fields are merged without a question', async () => {
    const { $id } = await make('Contact', { name: 'Mina Rees', title: 'Dean' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Phone', { exact: true }).fill('+1 212 555 0100')

    await change('Contact', $id, { title: 'President' })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Mina Rees saved.').waitFor()

    expect(await read('Contact', $id)).toMatchObject({ phone: '+1 212 555 0100', title: 'President', $version: 3 })
  })

  test('a field that two people changed is decided, saved, and the edit continues', async () => {
    const { $id } = await make('Contact', { name: 'Ruth Teitelbaum', title: 'Computer' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Programmer')

    await change('Contact', $id, { title: 'Teacher' })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('dialog', { name: 'changed while you edited' })
    await conflict.getByText('Teacher').waitFor()
    expect(await conflict.getByLabel('Yours').isChecked()).toBe(true)
    await conflict.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Ruth Teitelbaum saved.').waitFor()

    expect(await read('Contact', $id)).toMatchObject({ title: 'Programmer', $version: 3 })
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })

  test('a file is checked first and then imported, without choosing it again', async () => {
    const { page } = await stage.enter('import')
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    const csv = 'name;email\nDry Run;dry@example.com\n'

    await page
      .getByLabel('File to import')
      .setInputFiles({ name: 'one.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByRole('button', { name: 'Check without writing' }).click()
    await page.getByText('Would be imported').waitFor()
    await page.getByRole('button', { name: 'Import 1 row' }).click()
    await page.getByText('Imported', { exact: true }).waitFor()

    expect(posts.filter((url) => url.includes('/import/')).map((url) => url.includes('dryRun=true'))).toEqual([
      true,
      false,
    ])
    const { body } = await stage.host.request('GET', '/~acme/Contact?email=dry@example.com')
    expect(body.total).toBe(1)
  })

  test('a verb and a deletion of an old version are refused, and the page shows the new one', async () => {
    const { $id } = await make('Deal', { name: 'Stale deal', value: 10 })
    const tab = await stage.browser.open()
    // Without the stream the page does not receive changes.
    await tab.page.route(/\/events/, (route) => route.abort())
    const page = await enterWith(tab, `Deal/${$id}`)
    await page.getByRole('heading', { name: 'Stale deal' }).waitFor()

    await stage.host.request('POST', `/~acme/Deal/${$id}/advance`, {})
    await page.getByRole('button', { name: 'Win' }).click()
    await page.getByText('changed in the meantime').first().waitFor()
    expect(await read('Deal', $id)).toMatchObject({ stage: 'Qualification' })
    await page.locator('.head .state', { hasText: 'Qualification' }).waitFor()
    await change('Deal', $id, { value: 20 })
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('changed in the meantime').nth(1).waitFor()

    expect(await read('Deal', $id)).toMatchObject({ value: 20 })
    tab.faults.length = 0
  })

  test('a search in the past finds by the names of that time', async () => {
    await make('Contact', { name: 'Katherine Newcomer' })
    const { page } = await stage.enter('Contact?text=kath')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)

    await page.getByLabel('Exact time').fill(new Date(Date.now() - DAY).toISOString().slice(0, 19))
    await page.getByText('In the past a search looks at names').waitFor()
    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Katherine Coleman'])

    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
  })

  test('words are typed into the search of the past', async () => {
    const then = new Date(Date.now() - 30 * 86_400_000).toISOString()
    const { page } = await stage.enter(`Contact?asOf=${then}`)
    await page.locator('tbody tr').nth(1).waitFor()

    await page.getByRole('searchbox').fill('grace')

    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Grace Murray'])
  })

  test('a condition on another field gets an operator that fits it', async () => {
    const { page } = await stage.enter('Deal')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    await page.getByLabel('Field', { exact: true }).selectOption('value')
    await page.getByLabel('Comparison').selectOption('$gte')

    await page.getByLabel('Field', { exact: true }).selectOption('stage')
    await page.getByLabel('Value', { exact: true }).selectOption('Won')
    await expect.poll(() => page.getByTestId('query-json').textContent()).toBe('{"stage":"Won"}')

    await expect.poll(() => page.locator('tbody .state').allTextContents()).toContain('Won')
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('a relation is filtered by the name of what it leads to', async () => {
    const { page } = await stage.enter('Deal')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    await page.getByLabel('Field', { exact: true }).selectOption('organization')
    await page.getByRole('combobox', { name: 'Value' }).fill('Blue Or')
    await page.getByRole('option', { name: 'Blue Orchard' }).click()

    await expect
      .poll(
        async () => new Set((await page.locator('tbody tr').allTextContents()).map((row) => /Blue Orchard/.test(row))),
      )
      .toEqual(new Set([true]))
    expect(await page.getByRole('combobox', { name: 'Value' }).inputValue()).toBe('Blue Orchard')
  })

  test('relations sort by name, and states by their order', async () => {
    const { page } = await stage.enter('Deal')
    const column = async (n: number) => page.locator(`tbody td:nth-child(${n})`).allTextContents()
    const order = ['Prospecting', 'Qualification', 'Proposal', 'Negotiation', 'Closed', 'Won', 'Lost']
    const byOrder = (a: string, b: string) => order.indexOf(a) - order.indexOf(b)
    const isSorted = (texts: readonly string[], compare: (a: string, b: string) => number) =>
      texts.every((text, at) => at === 0 || compare(texts[at - 1]!, text) <= 0)

    await page.getByRole('columnheader', { name: 'Organization' }).getByRole('button').click()
    const named = async () => (await column(5)).filter((name) => name !== '—')
    await expect.poll(async () => isSorted(await named(), (a, b) => a.localeCompare(b))).toBe(true)
    expect((await named())[0]).toBe('Blue Orchard')
    await page.getByRole('columnheader', { name: 'Stage' }).getByRole('button').click()
    await expect.poll(async () => isSorted(await column(3), byOrder)).toBe(true)
    const stages = [...new Set(await column(3))]
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(/^26–/).waitFor()
    const last = [...new Set(await column(3))]

    expect(stages[0]).toBe('Prospecting')
    expect(isSorted(last, byOrder)).toBe(true)
    expect(order.indexOf(last[0]!)).toBeGreaterThanOrEqual(order.indexOf(stages.at(-1)!))
  })

  test('arrows move in the menu of a row, and Escape closes it and stays in the list', async () => {
    const { page } = await stage.enter('Deal')
    const button = page.getByRole('button', { name: 'Actions for' }).first()
    await button.focus()

    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowDown')
    const second = await page.evaluate(() => document.activeElement?.textContent)
    await page.keyboard.press('End')
    const last = await page.evaluate(() => document.activeElement?.textContent)
    await page.keyboard.press('Escape')

    expect(second).not.toBe('')
    expect(last).toBe('Delete')
    expect(await page.getByRole('menu').count()).toBe(0)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Deals')
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  test('the focus returns to where it was, and a page is a few steps from its table', async () => {
    const { page } = await stage.enter('Deal')
    await page.locator('tbody tr').first().waitFor()
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())

    await page.getByRole('button', { name: 'New deal' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused()).toBe('New deal')

    await page.getByRole('link', { name: 'Contacts' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Dennis MacAlistair' }).waitFor()
    let steps = 0
    const isInTable = () => page.evaluate(() => document.activeElement?.closest('.table-box') !== null)
    while (!(await isInTable()) && steps < 40) {
      await page.keyboard.press('Tab')
      steps += 1
    }
    expect(steps).toBeLessThanOrEqual(12)
  })

  test('a list stays when the server is unreachable, offers a retry, and recovers automatically', async () => {
    const { page } = await stage.enter('Deal')
    await page.locator('tbody tr').first().waitFor()
    const before = await page.locator('tbody .title').allTextContents()

    await page.context().setOffline(true)
    await page.getByRole('columnheader', { name: 'Value' }).getByRole('button').click()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    expect(await page.locator('tbody .title').allTextContents()).toEqual(before)
    expect(await page.getByRole('alert').textContent()).not.toContain('TypeError')
    await page.context().setOffline(false)

    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    await expect
      .poll(async () => JSON.stringify(await page.locator('tbody .title').allTextContents()))
      .not.toBe(JSON.stringify(before))
  })

  test('nothing that was typed is dropped without a question', async () => {
    const { page } = await stage.enter('Deal')
    await page.locator('tbody tr').first().waitFor()

    await page.keyboard.press('n')
    await page.getByRole('dialog').getByLabel('Name required').fill('Half a deal')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Name required').inputValue()).toBe('Half a deal')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.keyboard.press('e')
    await page.getByLabel('Name', { exact: true }).fill('Another name')
    await page
      .locator('tbody tr')
      .nth(3)
      .dblclick({ position: { x: 5, y: 5 } })
    await page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Another name')
  })

  test.each([
    ['keys', 'New key', 'Name'],
    ['people', 'Invite a person', 'Name'],
    ['roles', 'New role', 'Name'],
    ['webhooks', 'New webhook', 'URL'],
    ['dashboards', 'New dashboard', 'Name'],
  ])('the window of %s asks before it drops what was typed', async (path, open, field) => {
    const { page } = await stage.enter(path)
    await page.getByRole('button', { name: open }).click()
    await page.getByRole('dialog').getByLabel(field, { exact: true }).fill('something')

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByRole('dialog').getByLabel(field, { exact: true }).inputValue()).toBe('something')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()

    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('events go back to the first one, with their days, under any pattern', async () => {
    const { page } = await stage.enter('events?type=Deal.won')

    await page.locator('.event-type', { hasText: 'Deal.won' }).first().waitFor()
    const won = await page.locator('.event-type').allTextContents()
    await page.getByLabel('Type or pattern').fill('')
    await expect.poll(() => page.locator('.tail details').count()).toBe(50)
    for (let count = 100; count <= 250; count += 50) {
      await page.getByRole('button', { name: 'Earlier events' }).click()
      await expect.poll(() => page.locator('.tail details').count()).toBe(count)
    }

    expect(won.length).toBeGreaterThanOrEqual(9)
    expect(new Set(won)).toEqual(new Set(['Deal.won']))
    expect(await page.locator('.tail .day').count()).toBeGreaterThan(1)
  })

  test('the operator learns that a tenant does not exist before it is opened', async () => {
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/console`)
    await page.getByLabel('Key', { exact: true }).fill(ROOT)
    await page.getByLabel('Tenant').fill('acmee')
    await page.getByRole('button', { name: 'Open' }).click()

    await page.getByRole('alert').getByText('There is no tenant ~acmee yet').waitFor()
    await page.getByLabel('Tenant').fill('acme')
    await page.getByRole('button', { name: 'Open', exact: true }).click()

    await page.getByRole('heading', { name: '~acme' }).waitFor()
  })

  test('the next page begins at its first row, and a reload stays on it', async () => {
    const { page } = await stage.enter('Contact?sort=name')
    await page.getByText('1–25 of').waitFor()
    const box = page.locator('.table-box')
    await box.evaluate((element) => element.scrollTo(0, 400))

    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(/^26–/).waitFor()
    const first = await page.locator('tbody .title').first().textContent()
    expect(await box.evaluate((element) => element.scrollTop)).toBe(0)
    await page.reload()
    await page.getByLabel('Key', { exact: true }).fill(await stage.host.key('acme', 'admin:all'))
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText(/^26–/).waitFor()

    expect(await page.locator('tbody .title').first().textContent()).toBe(first)
  })

  test('a column that is added stays where it was added, and can be moved', async () => {
    const { page } = await stage.enter('Deal')
    const heads = async () =>
      (await page.locator('thead th').allTextContents()).map((text) => text.trim()).filter(Boolean)
    await page.locator('tbody tr').first().waitFor()
    const before = (await heads()).slice(0, -1)

    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByLabel('Hidden columns').getByLabel('Next step').click()
    const after = (await heads()).slice(0, -1)
    await page.getByRole('button', { name: 'Move Next step left' }).click()

    expect(after).toEqual([...before, 'Next step'])
    expect((await heads()).slice(0, -1)).toEqual([...before.slice(0, -1), 'Next step', before.at(-1)])
  })

  test('short words in capitals stay as they are, and rows of a file count from one', async () => {
    await make('Contact', { name: 'Text me', preferredChannel: 'SMS' })
    const { page } = await stage.enter('Contact?text=Text me&columns=name,preferredChannel')
    await page.locator('.state', { hasText: /^SMS$/ }).waitFor()
    await page.goto(`${stage.host.url}/console#/~acme/import`)
    const csv = 'name,email\n,nameless@example.com\n'

    await page
      .getByLabel('File to import')
      .setInputFiles({ name: 'bad.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByRole('button', { name: 'Import 1 row' }).click()
    const cells = page.getByLabel('Rejected rows').locator('tbody td')
    await cells.first().waitFor()

    expect((await cells.allTextContents()).filter((_, at) => at !== 1)).toEqual(['1', '2'])
  })
})

async function enterWith(opened: Tab, path: string): Promise<Tab['page']> {
  const { page } = opened
  await page.goto(`${stage.host.url}/console#/~acme/${path}`)
  await page.getByLabel('Key', { exact: true }).fill(await stage.host.key('acme', 'admin:all'))
  await page.getByRole('button', { name: 'Open' }).click()
  return page
}
