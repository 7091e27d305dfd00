import { describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { BROWSER, type Tab } from './browser.ts'
import { handsOn, type Manner } from './hands.ts'
import { useStage } from './stage.ts'

const PHONE = { width: 390, height: 844 }

describe.skipIf(BROWSER === null).each<Manner>(['mouse', 'keyboard', 'touch'])('a day with the %s', (manner) => {
  const stage = useStage({ touch: manner === 'touch' })
  const size = manner === 'touch' ? PHONE : { width: 1280, height: 860 }
  const make = async (type: string, fields: object) =>
    (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
  const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body

  /** A tab in which a new person is signed in. */
  const enterAs = async (name: string, role: string): Promise<Tab & { readonly id: string }> => {
    const email = `${name.toLowerCase().replace(/\W+/g, '.')}@example.com`
    const { cookie, user } = await person(stage.host, 'acme', { name, email, role })
    const tab = await stage.browser.open(size)
    const [cookieName = '', value = ''] = cookie.split('=', 2)
    await tab.page.context().addCookies([{ name: cookieName, value, url: stage.host.url }])
    await tab.page.goto(`${stage.host.url}/console#/~acme`)
    await tab.page.locator('main#main h1').waitFor()
    return { ...tab, id: user.$id }
  }

  /** Runs a verb, also where it is in the menu or asks for arguments, until the page says that it is done. */
  const run = async (page: Tab['page'], verb: string, done: RegExp): Promise<void> => {
    const hands = handsOn(page, manner)
    const button = page.getByRole('button', { name: verb, exact: true })
    const menu = page.getByRole('button', { name: 'More actions' })
    await button.or(menu).first().waitFor()
    if (await button.isVisible()) await hands.press(button)
    else {
      await hands.press(menu)
      await hands.press(page.getByRole('menuitem', { name: verb, exact: true }))
    }
    const dialog = page.getByRole('dialog').getByRole('button', { name: verb })
    const said = page.getByText(done).first()
    await dialog.or(said).first().waitFor()
    if (await dialog.isVisible()) await hands.press(dialog)
    await said.waitFor()
  }

  test('a founder names the company, chooses a currency, imports a file and looks back', async () => {
    const { page } = await stage.enter('', { tenant: 'founded', size })
    const hands = handsOn(page, manner)
    await page.evaluate(() => localStorage.removeItem('tildebase.preferences'))

    await hands.press(page.getByRole('link', { name: 'Give your company its name' }))
    await hands.write(page.getByLabel('Name of the company'), 'Founded Ltd')
    await hands.press(page.getByRole('button', { name: 'Save', exact: true }))
    await page.getByText('The name is saved.').waitFor()
    await hands.choose(page.getByLabel('Currency'), 'CHF · Swiss Franc')
    await page.getByText('The currency is CHF.').waitFor()
    await hands.open('Import')
    const buffer = Buffer.from('Name;E-Mail\nGrete Hermann;grete@example.com\nEmmy Noether;emmy@example.com\n')
    await page.getByLabel('File to import').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
    await hands.press(page.getByRole('button', { name: 'Import 2 rows' }))
    await page.getByText('2 rows imported.').waitFor()
    await hands.open('Home')
    await hands.press(page.getByRole('link', { name: 'Move the time slider' }))
    await page.getByText('You are in the past').waitFor()
    await hands.press(page.getByRole('button', { name: 'Back to now' }))

    await page.getByText('4 of 5 done').waitFor()
    expect((await stage.host.request('GET', '/~founded/Contact/count')).body.count).toBe(2)
  })

  test('a seller finds the own work, creates a deal, leaves a note and wins it', async () => {
    const { page, id } = await enterAs(`Sella ${manner}`, 'Member')
    const hands = handsOn(page, manner)

    await hands.open('Deals')
    await hands.press(page.getByRole('button', { name: 'New deal' }).first())
    await hands.write(page.getByRole('dialog').getByLabel('Name'), `Roof by ${manner}`)
    await hands.write(page.getByRole('dialog').getByLabel('Value'), '1200')
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Create' }))
    await page.getByText(`Roof by ${manner} created.`).waitFor()
    await hands.open('Home')
    await hands.press(page.getByRole('region', { name: 'My work' }).getByRole('link', { name: `Roof by ${manner}` }))
    await hands.press(page.getByRole('button', { name: 'Advance' }))
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Advance' }))
    await page
      .getByText(/advanced\./)
      .first()
      .waitFor()
    await hands.write(page.getByLabel('New note'), 'Called, they want two')
    await hands.press(page.getByRole('button', { name: 'Add note' }))
    await page.locator('.comments li', { hasText: 'they want two' }).waitFor()
    await run(page, 'Win', /won\./)

    const { results } = (await stage.host.request('GET', `/~acme/Deal?owner=${id}`)).body
    expect(results).toMatchObject([{ name: `Roof by ${manner}`, value: 1200, stage: 'Won' }])
    const history = (await stage.host.request('GET', `/~acme/Deal/${results[0].$id}/history`)).body.results
    expect(history.map(({ verb }: { verb: string }) => verb).sort()).toEqual(['advance', 'create', 'win'])
  })

  test('a colleague in support starts a ticket, resolves it, and takes the resolution back', async () => {
    const { $id } = await make('Ticket', { subject: `Pump by ${manner}`, status: 'Open' })
    const { page } = await enterAs(`Supp ${manner}`, 'Member')
    const hands = handsOn(page, manner)

    await hands.open('Tickets')
    await hands.write(page.getByRole('searchbox').first(), `Pump ${manner}`)
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await hands.press(page.getByRole('link', { name: `Pump by ${manner}` }))
    await hands.press(page.getByRole('button', { name: 'Start', exact: true }))
    await expect.poll(async () => (await read('Ticket', $id)).status).toBe('InProgress')
    await run(page, 'Resolve', /resolved\./)
    await expect.poll(async () => (await read('Ticket', $id)).status).toBe('Resolved')
    // The message about the start may still be there.
    const message = page.locator('.toast').filter({ hasText: /resolved\./ })
    await hands.press(message.getByRole('button', { name: 'Undo', exact: true }))

    await expect.poll(async () => (await read('Ticket', $id)).status).toBe('InProgress')
  })

  test('a manager approves a proposal, reads the metrics, and compares with the past', async () => {
    const { $id } = await make('Contact', { name: `Proposed ${manner}` })
    const agent = stage.host.as(await stage.host.key('acme', 'propose:crm', { name: 'Agent' }))
    await agent('PUT', `/~acme/Contact/${$id}?propose=Title%20by%20${manner}`, { title: 'Chair' })
    const { page } = await enterAs(`Mana ${manner}`, 'Admin')
    const hands = handsOn(page, manner)

    await hands.press(page.getByRole('region', { name: 'Proposals' }).getByRole('link', { name: `Title by ${manner}` }))
    await page.locator('.review-change ins').first().waitFor()
    await hands.press(page.getByRole('button', { name: /^Approve/ }).first())
    await expect.poll(async () => (await read('Contact', $id)).title).toBe('Chair')
    await hands.open('Metrics')
    await page.getByRole('region', { name: 'Revenue' }).waitFor()
    await hands.open('Contacts')
    await hands.press(page.getByRole('button', { name: 'Go to' }))
    await hands.press(page.getByRole('menuitem', { name: 'End of last month' }))
    await page.getByText('You are in the past').waitFor()
    await hands.press(page.getByRole('button', { name: 'What changed since' }))

    await page.locator('.differences').getByText(`Proposed ${manner}`).first().waitFor()
  })

  test('an administrator makes a role, a field and a key, and reads who did it', async () => {
    const { page } = await enterAs(`Admi ${manner}`, 'Admin')
    const hands = handsOn(page, manner)
    const role = `Closer${manner}`

    await hands.open('Roles')
    await hands.press(page.getByRole('button', { name: 'New role' }))
    await hands.write(page.getByRole('dialog').getByLabel('Name'), role)
    await hands.choose(page.getByRole('dialog').getByLabel('CRM'), 'read and write')
    await hands.press(page.getByRole('dialog').getByLabel('Own records only'))
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Save' }))
    await page.getByText(`The role ${role} is saved.`).waitFor()
    await hands.open('Types')
    await hands.press(page.getByRole('link', { name: 'Campaign', exact: true }))
    await hands.press(page.getByRole('button', { name: 'Field', exact: true }))
    await hands.write(page.getByLabel('Field name').last(), `Print run ${manner}`)
    await hands.press(page.getByRole('button', { name: 'Save the type' }))
    await page.getByText('Campaign saved.').waitFor()
    await hands.open('API keys')
    await hands.press(page.getByRole('button', { name: 'New key' }))
    await hands.write(page.getByRole('dialog').getByLabel('Name'), `Robot ${manner}`)
    await hands.press(page.getByRole('dialog').getByLabel('crm'))
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Create' }))
    const secret = (await page.getByLabel('The new key').textContent())!
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Close' }))
    await hands.open('Events')
    await hands.choose(page.getByLabel('By whom'), `Admi ${manner}`)
    await page.locator('.event-type', { hasText: 'ApiKey.created' }).waitFor()
    await page.locator('.event-type', { hasText: 'Contact.created' }).waitFor({ state: 'detached' })

    expect((await stage.host.as(secret)('GET', '/~acme/Contact')).status).toBe(200)
    const roles = (await stage.host.request('GET', '/~acme/schema/roles')).body.results
    const made = roles.find(({ name }: { name: string }) => name === role)
    expect(made).toMatchObject({
      scopes: expect.stringContaining('write:crm'),
      filter: { Deal: { owner: '$user.$id' } },
    })
    const { notation } = (await stage.host.request('GET', '/~acme/schema/Campaign')).body
    expect(notation).toHaveProperty(`printRun${manner.charAt(0).toUpperCase()}${manner.slice(1)}`)
  })
})
