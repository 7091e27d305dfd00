import { describe, expect, test } from 'vitest'
import { Receiver } from '../receiver.ts'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body

/** Opens the window of a verb that is a button or in the menu beside the buttons. */
async function start({ page }: Pick<Tab, 'page'>, verb: string): Promise<void> {
  const button = page.getByRole('button', { name: verb, exact: true })
  const menu = page.getByRole('button', { name: 'More actions' })
  await button.or(menu).first().waitFor()
  if ((await button.count()) > 0) return button.click()
  await menu.click()
  await page.getByRole('menuitem', { name: verb, exact: true }).click()
}

describe.skipIf(BROWSER === null)('the console says what is so', () => {
  test('Ctrl K in the past finds what was there then, and says of when it is', async () => {
    await make('Organization', { name: 'Zephyr Works' })
    const { page } = await stage.enter('Deal')
    const search = page.getByRole('combobox', { name: 'Search and commands' })
    const look = async (words: string) => {
      await page.keyboard.press('Control+k')
      await search.fill(words)
    }
    await look('zephyr')
    await page.getByRole('option', { name: /^Zephyr Works/ }).waitFor()
    await search.fill('travel a month')
    await page.getByRole('option', { name: 'Travel a month back' }).click()
    await page.getByRole('button', { name: 'Back to now' }).waitFor()

    await look('lumen')
    await page.getByRole('option', { name: /^Lumen Energy Organization/ }).waitFor()
    await page.locator('.palette .menu-section', { hasText: 'As it was on' }).waitFor()
    await search.fill('zephyr')
    await page.getByText('Nothing found').waitFor()

    expect(await page.getByRole('option').count()).toBe(0)
  })

  test('a new dashboard and the page of metrics name the same pipeline', async () => {
    await make('Deal', { name: 'Deal without an amount' })
    const { page } = await stage.enter('metrics')
    const section = page.getByRole('region', { name: 'Pipeline', exact: true })
    const value = section.locator('div', { hasText: 'Total value' }).locator('dd', { hasText: /^€[\d,]+$/ })
    const total = await value.textContent()
    await page.getByRole('link', { name: 'Dashboards' }).first().click()

    await page.getByRole('button', { name: 'New dashboard' }).click()
    await page.getByLabel('Name', { exact: true }).fill('In agreement')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    const tile = page.getByRole('region', { name: 'Pipeline', exact: true }).locator('.tile-number')

    await expect.poll(() => tile.textContent()).toBe(total)
  })

  test('a card that is dragged back runs the verb for it, and the history says so', async () => {
    const { $id } = await make('Deal', { name: 'Step back', stage: 'Proposal' })
    const { page } = await stage.enter('Deal?layout=board')
    await page.setViewportSize({ width: 2000, height: 1000 })
    const card = page.getByRole('listitem').filter({ hasText: 'Step back' })
    await card.waitFor()

    await card.dragTo(page.getByRole('region', { name: 'Qualification' }))
    await page.getByText('Step back reverted.').waitFor()

    expect((await read('Deal', $id)).stage).toBe('Qualification')
    const { body } = await stage.host.request('GET', `/~acme/Deal/${$id}/history`)
    expect(body.results.map(({ verb }: { verb: string }) => verb)).toContain('revert')
  })

  test('a verb on many asks for its arguments, and all of them get the answer', async () => {
    const ids = await Promise.all(['one', 'two'].map((name) => make('Deal', { name: `Hopeless ${name}` })))
    const { page } = await stage.enter('Deal?text=Hopeless')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)

    await page.getByLabel('Select all rows of this page').check()
    await page.getByRole('button', { name: 'Run an action' }).click()
    expect(await page.getByRole('menuitem', { name: 'Merge' }).count()).toBe(0)
    await page.getByRole('menuitem', { name: 'Lose', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Lost reason').fill('No budget')
    await page.getByRole('dialog').getByRole('button', { name: /^Lose/ }).click()
    await page.getByText('2 lost.').waitFor()

    const reasons = await Promise.all(ids.map(async ({ $id }) => (await read('Deal', $id)).lostReason))
    expect(reasons).toEqual(['No budget', 'No budget'])
  })

  test('a verb that changes no field says so', async () => {
    const { $id } = await make('Contact', { name: 'Plain Jane' })
    const tab = await stage.enter(`Contact/${$id}`)

    await start(tab, 'Enrich')

    await tab.page.getByText('Plain Jane enriched. No field changed').waitFor()
  })

  test('a contact is assigned to a person who is chosen by name, and is not captured again', async () => {
    const { $id } = await make('Contact', { name: 'Given Away' })
    const keeper = await make('Contact', { name: 'Keeper of Contacts' })
    const tab = await stage.enter(`Contact/${$id}`)
    await tab.page.getByRole('heading', { name: 'Given Away' }).waitFor()
    await tab.page.getByRole('button', { name: 'More actions' }).or(tab.page.getByText('Enrich')).first().waitFor()
    expect(await tab.page.getByRole('button', { name: 'Capture', exact: true }).count()).toBe(0)

    await start(tab, 'Assign')
    await tab.page.getByRole('dialog').getByRole('combobox', { name: 'Assignee' }).fill('Keeper')
    await tab.page.getByRole('option', { name: 'Keeper of Contacts' }).click()
    await tab.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Assign/ })
      .click()
    await tab.page.getByText('Given Away assigned.').waitFor()

    expect(await read('Contact', $id)).toMatchObject({ owner: keeper.$id })
  })

  test('a lead that is converted offers its own contact and company, and the new deal gets both', async () => {
    const organization = await make('Organization', { name: 'Company of the lead' })
    const contact = await make('Contact', { name: 'Person of the lead', organization: organization.$id })
    const parts = { organization: organization.$id, contact: contact.$id }
    const { $id } = await make('Lead', { name: 'Asked for a price', ...parts })
    const tab = await stage.enter(`Lead/${$id}`)
    const dialog = tab.page.getByRole('dialog')

    await start(tab, 'Convert')
    const shown = (name: string) => dialog.getByRole('combobox', { name }).inputValue()
    await expect.poll(() => shown('Contact')).toBe('Person of the lead')
    await expect.poll(() => shown('Organization')).toBe('Company of the lead')
    await dialog.getByRole('combobox', { name: 'Deal' }).fill('Deal of the lead')
    await tab.page.getByRole('option', { name: /Create/ }).click()
    await tab.page.getByText('Deal of the lead created.').waitFor()
    await dialog.getByRole('button', { name: /^Convert/ }).click()
    await tab.page.getByText('Asked for a price converted.').waitFor()

    const lead = await read('Lead', $id)
    expect(lead).toMatchObject({ status: 'Converted', ...parts })
    expect(await read('Deal', lead.deal)).toMatchObject({ name: 'Deal of the lead', ...parts })
  })

  test('a short type shows all its fields in the form of a new entry', async () => {
    const fields = { name: 'string!', colour: 'string', weight: 'number', note: 'string', bought: 'date' }
    await stage.host.request('PUT', '/~acme/schema/Bicycle', fields)
    const { page } = await stage.enter('Bicycle?new=1')

    const dialog = page.getByRole('dialog')
    for (const name of ['Name', 'Colour', 'Weight', 'Note', 'Bought']) await dialog.getByLabel(name).waitFor()

    expect(await dialog.getByRole('button', { name: /^Show \d+ more/ }).count()).toBe(0)
  })

  test('the history writes times and amounts as the page does', async () => {
    const { $id } = await make('Deal', { name: 'Written well', value: 1_500, currency: 'eur', stage: 'Negotiation' })
    await stage.host.request('POST', `/~acme/Deal/${$id}/win`)
    const { page } = await stage.enter(`Deal/${$id}`)
    await page.locator('.moment').nth(1).waitFor()

    const text = await page.locator('.timeline').innerText()
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT/)
    expect(text).toContain('€1,500')
    expect(text).toMatch(/Currency\s+EUR/)
  })

  test('a webhook whose receiver fails is not shown as working, with its answers and the next try', async () => {
    const receiver = await Receiver.start()
    receiver.answer(500)
    const { body } = await stage.host.request('POST', '/~acme/webhooks', {
      url: receiver.url,
      events: ['Lead.created'],
    })
    await make('Lead', { name: 'Not delivered' })
    await expect.poll(() => receiver.requests.length).toBe(1)

    const maker = await stage.host.key('acme', 'admin:platform', { name: 'Maker of a webhook' })
    await stage.host.as(maker)('POST', '/~acme/webhooks', { url: `${receiver.url}/made`, events: ['Deal.lost'] })
    const keys = (await stage.host.request('GET', '/~acme/api-keys?name=Maker%20of%20a%20webhook')).body.results
    await stage.host.request('POST', `/~acme/api-keys/${keys[0].$id}/revoke?cascade=true`)

    const { page } = await stage.enter('webhooks')
    const row = page.getByRole('row', { name: receiver.url }).filter({ hasNotText: '/made' })
    await row.waitFor()
    await row.getByText('Failing').waitFor()
    const made = page.getByRole('row', { name: `${receiver.url}/made` })
    await made.getByText('Suspended').waitFor()
    await made.getByRole('button', { name: 'Resume' }).click()
    await made.getByText('Active').waitFor()
    await page.goto(`${stage.host.url}/console#/~acme/webhooks/${body.$id}`)
    await page.locator('.tail summary').first().click()
    const attempts = page.locator('.attempts li')
    await attempts.last().waitFor()

    expect(await attempts.first().innerText()).toMatch(/: The endpoint returned 500 in [\d,]+ ms$/)
    await attempts.last().getByText('Next try').waitFor()
    expect(Date.parse((await attempts.last().locator('time').getAttribute('datetime'))!)).toBeGreaterThan(Date.now())
    await receiver.stop()
  })

  test('the inbox names a new key without a reload', async () => {
    const { page } = await stage.enter('changesets')
    await page.getByRole('heading', { name: 'Proposals' }).waitFor()
    const agent = stage.host.as(await stage.host.key('acme', 'propose:crm', { name: 'Agent of this minute' }))
    await agent('POST', '/~acme/Contact?propose=From%20a%20new%20key', { name: 'Proposed' })

    await page
      .getByRole('row', { name: /From a new key/ })
      .getByText('Agent of this minute')
      .waitFor()
  })
})
