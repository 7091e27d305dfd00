import { describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object, tenant = 'acme') =>
  (await stage.host.request('POST', `/~${tenant}/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body

describe.skipIf(BROWSER === null)('a search with many matches', () => {
  test('shows each of them once, and all of them are selected and deleted', async () => {
    const MATCHES = 130
    const operations = Array.from({ length: MATCHES }, (_, n) => ({
      method: 'POST',
      path: '/Contact',
      body: { name: `Anna ${n % 7 === 0 ? 'Anna ' : ''}Number ${n}` },
    }))
    for (const part of [operations.slice(0, 90), operations.slice(90)])
      await stage.host.request('POST', '/~annas/batch', { operations: part })
    await make('Contact', { name: 'Berta' }, 'annas')
    const { page } = await stage.enter('Contact?text=anna', { tenant: 'annas' })
    const names = new Set<string>()
    for (let begin = 1; begin <= MATCHES; begin += 25) {
      await page.getByText(`${begin}–${Math.min(begin + 24, MATCHES)} of ${MATCHES}`).waitFor()
      for (const name of await page.locator('tbody .title').allTextContents()) names.add(name)
      if (begin + 25 <= MATCHES) await page.getByRole('button', { name: 'Next' }).click()
    }
    expect(names.size).toBe(MATCHES)
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)

    await page.getByLabel('Select all rows of this page').check()
    await page.getByRole('button', { name: `Select all ${MATCHES}` }).click()
    await page.getByText(`${MATCHES} selected`).waitFor()
    await page.getByLabel('Selection').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(`${MATCHES} deleted.`).waitFor()

    const left = (await stage.host.request('GET', '/~annas/Contact')).body.results as { name: string }[]
    expect(left.map(({ name }) => name)).toEqual(['Berta'])
  })
})

describe.skipIf(BROWSER === null)('days in a file', () => {
  const due = async (tenant: string) => {
    const { results } = (await stage.host.request('GET', `/~${tenant}/Activity?sort=subject`)).body
    return results.map(({ dueAt }: { dueAt: string }) => dueAt)
  }
  const csvOf = (rows: readonly string[]) => ({
    name: 'days.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['subject;dueAt', ...rows].join('\n')),
  })

  test('are read with and without a time, and the imported entries are one click away', async () => {
    const { page } = await stage.enter('import?type=Activity', { tenant: 'days' })
    await page.getByLabel('File to import').setInputFiles(csvOf(['a;15.06.2026', 'b;1.2.2026 14:30']))
    await page.getByLabel('Field for dueAt').waitFor()
    expect(await page.getByLabel('Dates of dueAt').inputValue()).toBe('dmy')
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByText('Imported', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Show the imported activities' }).click()

    await expect.poll(() => page.locator('tbody .title').allTextContents()).toHaveLength(2)
    expect(await due('days')).toEqual(['2026-06-15T00:00:00.000Z', '2026-02-01T14:30:00.000Z'])
  })

  test('with slashes are read in the order that is chosen, after the page has asked', async () => {
    const { page } = await stage.enter('import?type=Activity', { tenant: 'slashes' })
    await page.getByLabel('File to import').setInputFiles(csvOf(['a;03/04/2026', 'b;05/06/2026 9:15']))
    await page.getByText('Both ways are possible: check the example').waitFor()
    await page.getByLabel('Dates of dueAt').selectOption('mdy')
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByText('Imported', { exact: true }).waitFor()

    expect(await due('slashes')).toEqual(['2026-03-04T00:00:00.000Z', '2026-05-06T09:15:00.000Z'])
  })
})

describe.skipIf(BROWSER === null)('work of every day', () => {
  test('a ticket that is dragged to In progress is started', async () => {
    const { $id } = await make('Ticket', { subject: 'Pump is loud', status: 'Open' })
    const { page } = await stage.enter('Ticket?layout=board&text=Pump')
    await page.setViewportSize({ width: 2000, height: 1000 })
    const card = page.getByRole('listitem').filter({ hasText: 'Pump is loud' })

    await card.dragTo(page.getByRole('region', { name: 'In progress' }))
    await page.getByText('Pump is loud started.').waitFor()

    expect((await read('Ticket', $id)).status).toBe('InProgress')
  })

  test('a column of a board is folded, and no key opens a card that is not marked', async () => {
    await make('Ticket', { subject: 'Folded away', status: 'Open' })
    const { page } = await stage.enter('Ticket?layout=board&text=Folded')
    const column = page.getByRole('region', { name: 'Open', exact: true })
    await column.getByRole('link', { name: 'Folded away' }).waitFor()

    await page.locator('h1').click()
    for (const key of ['j', 'k', 'j', 'Enter']) await page.keyboard.press(key)
    await column.getByRole('button', { name: 'Show Open' }).click()
    await column.getByRole('link', { name: 'Folded away' }).waitFor({ state: 'hidden' })
    expect(page.url()).toContain('layout=board')
    await column.getByRole('button', { name: 'Show Open' }).click()

    await column.getByRole('link', { name: 'Folded away' }).waitFor()
  })

  test('a click on a value edits it', async () => {
    const { $id } = await make('Contact', { name: 'Clicked', title: 'Clerk' })
    const { page } = await stage.enter(`Contact/${$id}`)

    await page.locator('.facts dd', { hasText: 'Clerk' }).click()
    await page.getByLabel('Title', { exact: true }).fill('Head')
    await page.keyboard.press('Enter')
    await page.getByText('Clicked saved.').waitFor()

    expect((await read('Contact', $id)).title).toBe('Head')
  })

  test('a new deal has the currency of the tenant, and so has the recurring revenue', async () => {
    await stage.host.request('POST', '/~francs/Contact', { name: 'First' })
    const { page } = await stage.enter('settings', { tenant: 'francs' })
    await page.getByLabel('Currency').selectOption('CHF')
    await page.getByText('The currency is CHF.').waitFor()
    await page.goto(`${stage.host.url}/console#/~francs/Deal?new=1`)
    const dialog = page.getByRole('dialog')

    await dialog.getByLabel('Name').fill('Roof')
    await dialog.getByLabel('Value').fill('1200')
    expect(await dialog.getByLabel('Currency').inputValue()).toBe('CHF')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Roof created.').waitFor()
    await page.getByRole('link', { name: 'Metrics', exact: true }).first().click()
    const main = page.getByRole('main')
    await main.getByText(/^CHF\s1,200$/).waitFor()
    await main.getByRole('img', { name: /^MRR/ }).waitFor()

    expect(await main.innerText()).toMatch(/MRR\s+CHF/)
    expect(await main.innerText()).not.toMatch(/\$|USD|€/)
    expect((await stage.host.request('GET', '/~francs/Deal')).body.results).toMatchObject([{ currency: 'CHF' }])
  })

  test('a new workflow is named and opens in its editor, whose steps count from one', async () => {
    const { page } = await stage.enter('Workflow?new=1')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').waitFor()
    expect(await dialog.getByLabel(/count|Organization/i).count()).toBe(0)

    await dialog.getByLabel('Name').fill('Thank the customer')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const editor = page.getByRole('form', { name: 'What it does' })
    await editor.getByRole('button', { name: 'Add a step' }).click()
    await page.getByRole('menuitem', { name: 'Change an entry' }).click()

    await editor.getByText(/^Step 1 · /).waitFor()
    await page.getByRole('heading', { name: 'Thank the customer' }).waitFor()
  })

  test('a field holds several choices, and the stages of deals are on the page of their type', async () => {
    const { page } = await stage.enter('types/Deal')
    const row = page.getByRole('row', { name: /^Stage/ })
    await row.getByText(/Prospecting, Qualification/).waitFor()
    await row.getByRole('button', { name: 'Edit the choices' }).waitFor()
    await page.getByRole('button', { name: 'Field', exact: true }).click()
    await page.getByLabel('Field name').last().fill('Deal tags')
    await page.getByLabel('Kind of Deal tags').selectOption('enum')
    await page.getByLabel('Choices of Deal tags').fill('Hot, Large, Partner')
    await page.getByLabel('Deal tags holds several').check()
    await page.getByRole('button', { name: 'Save the type' }).click()
    await page.getByText('Deal saved.').waitFor()

    const { status, body } = await stage.host.request('POST', '/~acme/Deal', {
      name: 'Tagged',
      dealTags: ['Hot', 'Partner'],
    })
    expect([status, body.dealTags]).toEqual([201, ['Hot', 'Partner']])
    await page.goto(`${stage.host.url}/console#/~acme/Deal/${body.$id}`)
    await page.locator('.facts dd', { hasText: 'Hot' }).getByText('Partner').waitFor()
  })

  test('many are edited without a new name for all, and a field of all is emptied', async () => {
    const ids = await Promise.all(
      ['one', 'two'].map((name) => make('Contact', { name: `Emptied ${name}`, phone: '1', title: 'Clerk' })),
    )
    const { page } = await stage.enter('Contact?text=Emptied')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
    await page.getByLabel('Select all rows of this page').check()
    await page.getByLabel('Selection').getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('SELECT')
    await dialog.getByLabel('Title').fill('Head')
    expect(await dialog.getByLabel('Name', { exact: true }).count()).toBe(0)

    await dialog.getByRole('button', { name: 'Empty a field' }).click()
    await dialog.getByLabel('Empty phone').check()
    // Without an answer the form stays as it is.
    await page.route('**/batch', (route) => route.abort())
    await dialog.getByRole('button', { name: 'Save all' }).click()
    await dialog.getByText('Nothing was saved').waitFor()
    await page.unroute('**/batch')
    await page.getByText('2 selected').waitFor()
    await dialog.getByRole('button', { name: 'Save all' }).click()
    await page.getByText('2 changed.').waitFor()

    for (const { $id } of ids) {
      const { name, title, phone } = await read('Contact', $id)
      expect([name, title, phone ?? null]).toEqual([expect.stringMatching(/^Emptied /), 'Head', null])
    }
  })

  test('a type that is refused says why once', async () => {
    const { page } = await stage.enter('types/new')
    await page.getByLabel('Name', { exact: true }).fill('Refused thing')
    await page.getByRole('button', { name: 'Field', exact: true }).click()
    await page.getByLabel('Field name').last().fill('Total')
    await page.getByLabel('Kind of Total').selectOption('computed')
    await page.getByLabel('Formula of Total').fill('nothing + 1')
    const why = page.getByRole('alert')
    await why.waitFor()
    const said = await why.innerText()

    const answer = page.waitForResponse((response) => response.request().method() === 'PUT' && !response.ok())
    await page.getByRole('button', { name: 'Create the type' }).click()
    await answer

    await expect.poll(() => why.allInnerTexts()).toEqual([said])
  })

  test('the sidebar counts the proposals that wait', async () => {
    const { $id } = await make('Contact', { name: 'Counted' }, 'waiting')
    const agent = stage.host.as(await stage.host.key('waiting', 'propose:crm'))
    const { page } = await stage.enter('', { tenant: 'waiting' })
    const entry = page.locator('.side a', { hasText: 'Proposals' })
    await entry.waitFor()
    const before = await entry.innerText()

    await agent('PUT', `/~waiting/Contact/${$id}?propose=One`, { title: '1' })
    await agent('PUT', `/~waiting/Contact/${$id}?propose=Two`, { title: '2' })

    await expect.poll(() => entry.innerText()).toMatch(/2\s*$/)
    expect(before).not.toMatch(/\d/)
  })

  test('the key box leads people to their sign-in, and the page says who is signed in', async () => {
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/console`)
    await page.getByLabel('Tenant').fill('acme')
    await page.getByRole('link', { name: 'Sign in as a person' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    const { cookie } = await person(stage.host, 'acme', { name: 'Nora Here', email: 'nora@example.com', role: 'Admin' })
    const [name = '', value = ''] = cookie.split('=', 2)
    const url = stage.host.url.replace('127.0.0.1', 'localhost')
    await page.context().addCookies([{ name, value, url }])
    await page.goto(`${url}/console#/~acme/people`)
    await page.locator('.side .me', { hasText: 'Nora Here' }).waitFor()

    await page.getByRole('button', { name: 'Invite a person' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Guest')
    await page.getByRole('dialog').getByLabel('E-mail address').fill('guest@example.com')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()

    // The address is that of the browser, and not the one that the server listens on.
    await page.getByText(`${url}/~acme/invitation#tbi_`).waitFor()
  })
})
