import { describe, expect, test } from 'vitest'
import { type Browser as Person, person } from '../people/people.ts'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }

/** A tab in which a person is signed in, and the requests of it that the service refused. */
async function enterAs({ cookie }: Person, path = ''): Promise<Tab & { readonly refused: readonly string[] }> {
  const tab = await stage.browser.open()
  const refused: string[] = []
  tab.page.on('response', async (response) => {
    const { pathname } = new URL(response.url())
    if (response.status() === 403) refused.push(pathname)
    if (!pathname.endsWith('/batch')) return
    const { results = [] } = await response.json().catch(() => ({}))
    for (const { id, status } of results) if (status === 403) refused.push(`${pathname} ${id}`)
  })
  const [name, value] = cookie.split('=') as [string, string]
  await tab.page.context().addCookies([{ name, value, url: stage.host.url }])
  await open(tab, path)
  return { ...tab, refused }
}

/** Opens an address and waits until nothing of it is loading. */
async function open({ page }: Pick<Tab, 'page'>, path: string): Promise<void> {
  await page.goto(`${stage.host.url}/console#/~acme/${path}`)
  await page.locator('main#main :is(h1, .empty)').first().waitFor()
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
}

const FOREIGN = /(organization|contact|user)_0\w{10}|This key|Person …/

describe.skipIf(BROWSER === null)('a role of one area', () => {
  test('sees its area on every page it is offered, and no refusal of the service', async () => {
    await stage.host.request('PUT', '/~acme/schema/roles/Helpdesk', { scopes: 'write:support' })
    const sue = await person(stage.host, 'acme', { name: 'Sue Port', email: 'sue@example.com', role: 'Helpdesk' })
    const [organization] = (await stage.host.request('GET', '/~acme/Organization?limit=1')).body.results
    const { $id } = await make('Ticket', {
      subject: 'The lamp is dark',
      assignee: sue.user.$id,
      organization: organization.$id,
    })
    const tab = await enterAs(sue)
    const { page, refused } = tab
    const seen = async () => page.locator('main').innerText()

    await page.getByRole('region', { name: 'My work' }).getByRole('link', { name: 'The lamp is dark' }).waitFor()
    const offered = await page
      .locator('.side a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')!.replace(/^#\/~acme\/?/, '')))
    expect(offered).toContain('Ticket')
    for (const path of [...offered, 'Ticket?layout=board', 'Ticket?layout=calendar', `Ticket/${$id}`]) {
      await open(tab, path)
      expect(await seen()).not.toMatch(FOREIGN)
    }
    await page.getByRole('region', { name: 'History' }).getByText('Created').waitFor()
    expect(await seen()).not.toMatch(FOREIGN)

    expect(await page.locator('.side .me').textContent()).toContain('Sue Port')
    expect(refused).toEqual([])
  })

  test('reads plainly that an address is closed to it, and Ctrl K does not offer it', async () => {
    await stage.host.request('PUT', '/~acme/schema/roles/Desk', { scopes: 'write:support' })
    const tom = await person(stage.host, 'acme', { name: 'Tom Port', email: 'tom@example.com', role: 'Desk' })
    const tab = await enterAs(tom)

    for (const [path, name] of [
      ['Deal', 'Deals'],
      ['Deal/deal_0000000000000000', 'Deals'],
      ['events', 'Events'],
      ['bin', 'Bin'],
      ['people', 'People'],
      ['keys', 'API keys'],
      ['webhooks', 'Webhooks'],
      ['integrations', 'Connections'],
    ] as const) {
      await open(tab, path)
      await tab.page.getByText(`You have no access to ${name}`).waitFor()
    }
    await tab.page.keyboard.press('Control+k')
    await tab.page.getByRole('combobox', { name: 'Search and commands' }).fill('e')
    await tab.page.getByRole('option', { name: 'Tickets' }).waitFor()
    const options = await tab.page.getByRole('option').allTextContents()

    expect(options.filter((text) => /Events|People|Deals|Webhooks/.test(text))).toEqual([])
    expect(tab.refused).toEqual([])
  })

  test('that is made on the page of roles sees colleagues, the currency, its views and its log', async () => {
    const admin = await person(stage.host, 'acme', { name: 'Ada Chief', email: 'chief@example.com', role: 'Admin' })
    const office = await enterAs(admin, 'roles')
    await office.page.getByRole('button', { name: 'New role' }).click()
    const dialog = office.page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Support')
    await dialog.getByLabel('Everything').selectOption('')
    await dialog.getByLabel('Support').selectOption('write')
    expect(await dialog.getByLabel('Everyday basics').isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await office.page.getByText('The role Support is saved.').waitFor()
    await make('View', { name: 'All tickets', type: 'Ticket', look: { layout: 'board' }, shared: true })
    await make('View', { name: 'All deals', type: 'Deal', look: {}, shared: true })
    await make('Setting', { name: 'name', value: 'Acme Lamps' })
    await make('Ticket', { subject: 'For the chief', assignee: admin.user.$id })
    const old = await make('Ticket', { subject: 'Thrown away' })
    await stage.host.request('DELETE', `/~acme/Ticket/${old.$id}`)
    const uma = await person(stage.host, 'acme', { name: 'Uma Port', email: 'uma@example.com', role: 'Support' })
    const tab = await enterAs(uma)
    const { page } = tab

    await page.locator('.side').getByText('Acme Lamps').waitFor()
    await page.locator('.side').getByRole('link', { name: 'All tickets' }).click()
    await page.locator('.card', { hasText: 'For the chief' }).getByText('Ada Chief').waitFor()
    expect(await page.locator('.side').getByText('All deals').count()).toBe(0)
    await open(tab, 'events')
    await page.locator('.event-type', { hasText: 'Ticket.created' }).first().waitFor()
    expect(await page.locator('.event-type', { hasText: /^(Deal|Contact)\./ }).count()).toBe(0)
    await open(tab, 'bin')
    const line = page.locator('tbody tr', { hasText: 'Thrown away' })
    await line.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Thrown away restored.').waitFor()

    expect(tab.refused).toEqual([])
    expect(office.refused).toEqual([])
  })
})
