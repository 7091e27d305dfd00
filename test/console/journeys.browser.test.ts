import { describe, expect, test } from 'vitest'
import { ROOT } from '../host.ts'
import { BROWSER, type Tab } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

describe.skipIf(BROWSER === null)('the console', () => {
  test('a key opens its tenant and shows how much there is of each type', async () => {
    const { page } = await stage.enter()

    await page.getByRole('heading', { name: '~acme' }).waitFor()

    await page.getByRole('link', { name: 'Contacts 32' }).waitFor()
  })

  test('the reason is shown for an invalid key, and the key box stays', async () => {
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/console`)

    await page.getByLabel('Key', { exact: true }).fill('tb_wrong~acme')
    expect(await page.getByLabel('Tenant').inputValue()).toBe('acme')
    await page.getByRole('button', { name: 'Open' }).click()

    await page.getByRole('alert').getByText('not valid here').waitFor()
  })

  test('a list is filtered by conditions, shows the query they make, and sorts by a column', async () => {
    const { page } = await stage.enter('Deal')

    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    await page.getByLabel('Field', { exact: true }).selectOption('value')
    await page.getByLabel('Comparison').selectOption('$gte')
    await page.getByLabel('Value', { exact: true }).fill('40000')
    await page.getByRole('columnheader', { name: 'Value' }).getByRole('button').click()

    await expect.poll(() => page.getByTestId('query-json').textContent()).toBe('{"value":{"$gte":40000}}')
    await expect
      .poll(async () => {
        const shown = await numbers(page, 4)
        const isSorted = shown.every((value, at) => at === 0 || value >= shown[at - 1]!)
        return { isShort: shown.length < 10, isSorted, isFiltered: Math.min(...shown) >= 40_000 }
      })
      .toEqual({ isShort: true, isSorted: true, isFiltered: true })
    expect(await page.getByRole('columnheader', { name: 'Value' }).getAttribute('aria-sort')).toBe('ascending')
  })

  test('the full-text box finds by the beginning of a word, and pages follow the cursor', async () => {
    const { page } = await stage.enter('Contact')

    await page.getByText('1–25 of 32').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('26–32 of 32').waitFor()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(7)
    await page.getByRole('button', { name: 'Previous' }).click()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(25)
    await page.getByRole('searchbox').fill('kath')

    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Katherine Coleman'])
    await page.getByRole('searchbox').fill('kathzz')
    await page.getByText('Nothing matches.').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByText('1–25 of 32').waitFor()
  })

  test('a row is edited in place and saved with Ctrl+S', async () => {
    const { page } = await stage.enter('Organization?text=Lumen')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)

    await page.keyboard.press('e')
    await page.getByLabel('Name', { exact: true }).fill('Lumen Light & Power')
    await page.keyboard.press('Control+s')

    await page.getByText('Lumen Light & Power saved.').waitFor()
    const { body } = await stage.host.request('GET', '/~acme/Organization?name=Lumen Light %26 Power')
    expect(body.results).toMatchObject([{ name: 'Lumen Light & Power', $version: 2 }])
  })

  test('an entity is created from its noun, and each error is shown next to its field', async () => {
    const { page } = await stage.enter('Contact')

    await page.getByRole('button', { name: 'New contact' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name required').fill('Joan Clarke')
    await dialog.getByLabel('Lead score').fill('88')
    await dialog.getByLabel('Email').fill('ada.byron@example.com')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.locator('small.error').waitFor()
    expect(await dialog.getByRole('alert').count()).toBe(0)
    await dialog.getByLabel('Email').fill('joan@example.com')
    await page.keyboard.press('Control+s')

    await page.getByText('Joan Clarke created.').waitFor()
    await page.getByRole('link', { name: 'Joan Clarke' }).waitFor()
    const { body } = await stage.host.request('GET', '/~acme/Contact?email=joan@example.com')
    expect(body.results).toMatchObject([{ leadScore: 88, stage: 'Lead' }])
  })

  test('only verbs that the state allows are offered, and one moves the entity on', async () => {
    const { body } = await stage.host.request('POST', '/~acme/Contact', { name: 'Mae Carol' })
    const { page } = await stage.enter(`Contact/${body.$id}`)

    await page.getByRole('button', { name: 'Qualify' }).click()

    await expect.poll(() => page.getByRole('button', { name: 'Qualify' }).count()).toBe(0)
    await page.locator('.head .state', { hasText: 'Qualified' }).waitFor()
    await page.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Assignee' }).fill('Mae')
    await page.getByRole('option', { name: 'Mae Carol' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Assign/ })
      .click()
    await page.locator('.timeline .moment').nth(2).waitFor()
    expect(await page.locator('.moment-head strong').allTextContents()).toEqual(['Assigned', 'Qualified', 'Created'])
  })

  test('the history tells who changed what; an entity rolls back, and a deleted one is restored', async () => {
    const { host } = stage
    const { body } = await host.request('POST', '/~acme/Contact', { name: 'Evelyn Boyd', title: 'Analyst' })
    await host.request('PUT', `/~acme/Contact/${body.$id}`, { title: 'Director' })
    const { page } = await stage.enter(`Contact/${body.$id}`)

    const change = page.locator('.moment').first()
    await change.getByText('Operator').waitFor()
    expect(await change.locator('del').textContent()).toBe('Analyst')
    expect(await change.locator('ins').textContent()).toBe('Director')
    await page.getByRole('button', { name: 'Return to this state' }).click()
    await page.locator('.facts dd', { hasText: 'Analyst' }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('heading', { name: 'Evelyn Boyd' }).waitFor()

    expect((await host.request('GET', `/~acme/Contact/${body.$id}`)).body).toMatchObject({ title: 'Analyst' })
  })

  test('the control of time goes where it was put before it was known how far back it reaches', async () => {
    const { browser, host } = stage
    const tab = await browser.open()
    const { page } = tab
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/events?limit=1&total=false*', (route) => asked.then(() => route.continue()))
    await page.goto(`${host.url}/console#/~acme/Contact`)
    await giveKey(tab, await host.key('acme', 'admin:all'))
    await page.getByText(/^\d+ in all$/).waitFor()

    await page.keyboard.press('t')
    for (let step = 0; step < 6; step++) await page.keyboard.press('PageDown')
    answer()

    await page.getByText('You are in the past').waitFor()
    // The data is of a year.
    const asOf = new URLSearchParams(page.url().split('?')[1]).get('asOf')!
    expect(Date.now() - Date.parse(asOf)).toBeGreaterThan(30 * 86_400_000)
  })

  test('the control of time moves the whole page into the past, where nothing can be changed', async () => {
    await stage.host.request('POST', '/~acme/Contact', { name: 'Newest' })
    const { page } = await stage.enter('Contact')
    const countIn = async (text: RegExp) => Number.parseInt((await page.getByText(text).textContent())!, 10)
    const all = await countIn(/^\d+ in all$/)

    await page.keyboard.press('t')
    for (let step = 0; step < 6; step++) await page.keyboard.press('PageDown')

    await page.getByText('You are in the past').waitFor()
    await expect.poll(() => countIn(/^\d+ then$/)).toBeLessThan(all)
    expect(await page.getByRole('button', { name: /^(New|Edit|Actions for)/ }).count()).toBe(0)
    await page.locator('tbody .title').first().click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
    expect(page.url()).toContain('asOf=')
    expect(await page.getByRole('button', { name: /^(Edit|Delete|Return to)/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
  })

  test('the keyboard searches, moves, opens, goes back and explains itself', async () => {
    const { page } = await stage.enter('Contact')
    await page.locator('tbody tr.active').waitFor()
    const second = await page.locator('tbody .title').nth(1).textContent()

    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search')
    await page.keyboard.press('Escape')
    for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: second!, level: 1 }).waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('heading', { name: 'Contacts' }).waitFor()
  })

  test('a key that may only read sees nothing that writes', async () => {
    const { page } = await stage.enter('Contact', { scopes: 'read:all' })
    await page.locator('tbody tr').first().waitFor()

    expect(await page.getByRole('button', { name: /^(New|Edit|Actions for)/ }).count()).toBe(0)
    expect(
      await page
        .getByRole('navigation')
        .getByRole('link', { name: /Import|Webhooks|API keys/ })
        .count(),
    ).toBe(0)
    await page.keyboard.press('n')
    await page.locator('tbody .title').first().click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
    expect(await page.getByRole('button', { name: /^(Edit|Delete|Assign|Return to|Qualify)/ }).count()).toBe(0)
    await page.goto(`${stage.host.url}/console#/~acme/types`)
    await page.getByRole('link', { name: 'Contact', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'New type' }).count()).toBe(0)
    await page.goto(`${stage.host.url}/console#/~acme/types/Contact`)
    await page.getByText('A built-in type').waitFor()
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: /^(Save|Store|Delete)/ }).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.goto(`${stage.host.url}/console#/~acme/import`)
    await page.getByText('This key can only read.').waitFor()
    await page.goto(`${stage.host.url}/console#/~acme/account`)
    await page.getByText('A key has no account').waitFor()
  })

  test('a key that may only read cannot change a view, a dashboard or a type of others', async () => {
    const { host } = stage
    const make = async (path: string, body: object) => (await host.request('POST', `/~shared/${path}`, body)).body.$id
    const view = { name: 'string!', type: 'string#', look: 'json', shared: 'boolean', owner: 'string#' }
    await host.request('PUT', '/~shared/schema/View', view)
    await host.request('PUT', '/~shared/schema/Dashboard', { name: 'string!', tiles: 'json', shared: 'boolean' })
    await host.request('PUT', '/~shared/schema/Boat', {
      name: 'string!',
      status: 'Moored | Sailing = Moored',
      sail: { from: ['Moored'], set: { status: 'Sailing' } },
    })
    const viewId = await make('View', { name: 'Ours', type: 'Boat', look: { group: 'status' }, shared: true })
    const tiles = [{ title: 'Boats', source: 'count', of: 'Boat' }]
    const dashboardId = await make('Dashboard', { name: 'Harbour', tiles, shared: true })
    const changes = /^(Add a tile|Actions for|Dashboard actions|Field|Verb|Remove|Save|Declare|Take back)/

    const { page } = await stage.enter(`dashboards/${dashboardId}`, { tenant: 'shared', scopes: 'read:all' })
    await page.getByRole('heading', { name: 'Harbour' }).waitFor()
    await page.getByRole('region', { name: 'Boats' }).getByText('0').waitFor()
    expect(await page.getByRole('button', { name: changes }).count()).toBe(0)
    await page.goto(`${host.url}/console#/~shared/types/Boat`)
    await page.getByLabel('Field name').first().waitFor()
    expect(await page.getByRole('button', { name: changes }).count()).toBe(0)
    expect(await page.locator('.type-editor :is(input, select):enabled').count()).toBe(0)
    await page.goto(`${host.url}/console#/~shared/Boat?view=${viewId}&group=status&sort=name`)
    await page.getByRole('button', { name: 'Ours · changed' }).click()

    await page.getByRole('menuitem', { name: 'Save as a new view…' }).waitFor()
    expect(await page.getByRole('menuitem', { name: /^(Update|Delete)/ }).count()).toBe(0)
  })

  test('in the past a type cannot be changed, and a page without a past says so', async () => {
    const { page } = await stage.enter(`types/Contact?asOf=${new Date(Date.now() - 86_400_000).toISOString()}`)
    await page.getByText('A built-in type').waitFor()
    await page.getByLabel('Step').waitFor()

    expect(await page.getByRole('button', { name: /^(Field|Verb|Save|Store)/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click()
    await page.getByRole('status').getByText('Code runs on the data as it is now').waitFor()
  })

  test('a new tenant shows its first steps', async () => {
    const { page } = await stage.enter('', { tenant: 'new' })

    const list = page.getByRole('region', { name: 'Start here' })
    const done = () => list.locator('li.done a').allTextContents()
    await list.waitFor()
    // The browser remembers that a page was moved in time.
    expect((await done()).filter((step) => step !== 'Move the time slider')).toEqual([])
    expect(await page.locator('.domain .zero').count()).toBe(0)
    await list.getByRole('link', { name: 'Give your company its name' }).click()
    await page.getByLabel('Name of the company').fill('Newly Founded Ltd')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.locator('.brand').getByText('Newly Founded Ltd').waitFor()
    await page.getByLabel('Currency').selectOption('CHF')
    await page.getByText('The currency is CHF.').waitFor()
    await stage.host.request('POST', '/~new/Contact', { name: 'First of all' })
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await expect
      .poll(done)
      .toEqual(expect.arrayContaining(['Give your company its name', 'Choose your currency', 'Import what you have']))
    await list.getByRole('link', { name: 'Move the time slider' }).click()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await list.getByText('4 of 5 done').waitFor()
    expect(await done()).not.toContain('Invite your people')
    await list.getByRole('button', { name: 'Hide this list' }).click()
    await list.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Newly Founded Ltd' }).waitFor()

    await page.getByRole('link', { name: 'Metrics', exact: true }).first().click()
    await page.locator('section', { hasText: 'Deals by stage' }).getByText('No deals yet.').waitFor()
  })

  test('money of metrics has its currency, and types are counted as of the time', async () => {
    const { page } = await stage.enter('metrics')
    await page.getByRole('region', { name: 'Revenue' }).getByText(/\$\d/).first().waitFor()
    const count = page.getByRole('row', { name: 'Contact CRM' }).locator('td').last()

    await page.goto(`${stage.host.url}/console#/~acme/types`)
    await expect.poll(() => count.textContent()).toMatch(/^[1-9]/)
    const now = Number(await count.textContent())
    await page.goto(
      `${stage.host.url}/console#/~acme/types?asOf=${new Date(Date.now() - 150 * 86_400_000).toISOString()}`,
    )

    await page.getByText('Types are shown as they are now').waitFor()
    await expect.poll(() => count.textContent()).toMatch(/^\d/)
    await expect.poll(async () => Number(await count.textContent())).toBeLessThan(now)
  })

  test('a key of one domain sees that domain, and changes what it may', async () => {
    const { page } = await stage.enter('', { scopes: 'read:crm,write:Contact' })
    await page.getByRole('heading', { name: '~acme' }).waitFor()

    await expect.poll(() => page.locator('.home-main h2').allTextContents()).toEqual(['CRM'])
    await page.getByRole('link', { name: /^Contacts \d/ }).click()
    await page.getByRole('button', { name: 'New contact' }).waitFor()
    await page.goto(page.url().replace('/Contact', '/Deal'))
    await page.locator('tbody tr').first().waitFor()

    expect(await page.getByRole('button', { name: /^(New|Edit|Actions for)/ }).count()).toBe(0)
  })

  test('a key that is revoked leads back to the key box, and the next one continues at the same place', async () => {
    const { host } = stage
    const { body } = await host.request('POST', '/~acme/api-keys', { name: 'Short lived', scopes: 'admin:all' })
    const { page } = await stage.enter('Deal?sort=-value', { key: body.secret })
    await page.locator('tbody tr').first().waitFor()
    await host.request('POST', `/~acme/api-keys/${body.$id}/revoke`)

    await page.getByText('This key no longer works').waitFor()
    expect(await page.getByText('Northwind').count()).toBe(0)
    await giveKey({ page }, await host.key('acme', 'read:all'))

    await page.getByRole('heading', { name: 'Deals' }).waitFor()
    expect(page.url()).toContain('sort=-value')
  })

  test('looking into a tenant that does not exist creates none', async () => {
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/console#/~absent`)
    await page.getByLabel('Key', { exact: true }).fill(ROOT)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('button', { name: 'Open it all the same' }).click()
    await page.getByRole('heading', { name: '~absent' }).waitFor()
    await page.getByRole('button', { name: /^Show \d+ types without entries/ }).click()
    await page.getByRole('link', { name: 'Contacts 0' }).waitFor()

    // Several reads in one request may have a file as long as they take.
    const listed = () => stage.host.request('GET', '/operator/tenants')
    await expect.poll(async () => (await listed()).text).not.toContain('absent')
  })

  test('another tenant starts empty: nothing of the one before is left', async () => {
    await stage.host.request('POST', '/~other/Contact', { name: 'Only here' })
    const { page } = await stage.enter('Contact')
    await page.getByRole('link', { name: 'Dennis MacAlistair' }).waitFor()

    await page.getByRole('button', { name: 'Leave' }).click()
    await giveKey({ page }, await stage.host.key('other', 'read:all'))
    await page.getByRole('heading', { name: '~other' }).waitFor()
    await page.getByRole('link', { name: 'Contacts 1' }).click()
    await page.getByRole('link', { name: 'Only here' }).waitFor()

    expect(await page.locator('body').textContent()).not.toContain('Dennis')
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toBe('{}')
  })
})

async function numbers(page: Tab['page'], column: number): Promise<number[]> {
  const cells = await page.locator(`tbody td:nth-child(${column})`).allTextContents()
  return cells.map((text) => Number(text.replace(/[^\d.]/g, '')))
}
