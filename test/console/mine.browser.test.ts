import { describe, expect, test } from 'vitest'
import { type Browser as Person, person } from '../people/people.ts'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }

/** A tab in which a person is signed in. */
async function enterAs({ cookie }: Person, path = ''): Promise<Tab> {
  const tab = await stage.browser.open()
  const [name, value] = cookie.split('=') as [string, string]
  await tab.page.context().addCookies([{ name, value, url: stage.host.url }])
  await tab.page.goto(`${stage.host.url}/console#/~acme/${path}`)
  await tab.page.locator('main#main :is(h1, .empty)').first().waitFor()
  return tab
}

describe.skipIf(BROWSER === null)('the work of a person', () => {
  test('a colleague is offered first, owns a deal, and sees it under Mine and at home', async () => {
    const ada = await person(stage.host, 'acme', { name: 'Ada Owner', email: 'ada-owner@example.com', role: 'Admin' })
    const { $id } = await make('Deal', { name: 'Deal of a colleague', stage: 'Proposal' })
    await make('Contact', { name: 'Ada Customer' })
    const { page } = await enterAs(ada, `Deal/${$id}`)

    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('button', { name: 'Edit owner' }).click()
    await page.getByRole('combobox', { name: 'Owner' }).fill('Ada')
    await page.getByRole('option', { name: 'Ada Customer' }).waitFor()
    expect(await page.getByRole('option').first().textContent()).toContain('Ada Owner (you)')
    await page.getByRole('option', { name: 'Ada Owner' }).click()
    await page.getByText('Deal of a colleague saved.').waitFor()
    await page.getByRole('link', { name: 'Deals' }).first().click()
    await page.getByRole('button', { name: 'Mine' }).click()
    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Deal of a colleague'])
    await page.getByRole('link', { name: 'Home' }).click()

    await page.getByRole('region', { name: 'My work' }).getByRole('link', { name: 'Deal of a colleague' }).waitFor()
  })

  test('what is due comes first at home, also among many entries without a day', async () => {
    const lee = await person(stage.host, 'acme', { name: 'Lee', email: 'lee-due@example.com', role: 'Admin' })
    const assignee = lee.user.$id
    await make('Ticket', { subject: 'Due in May', assignee, dueAt: '2027-05-01T09:00:00.000Z' })
    await make('Ticket', { subject: 'Due in April', assignee, dueAt: '2027-04-01T09:00:00.000Z' })
    for (let n = 1; n <= 7; n++) await make('Ticket', { subject: `Someday ${n}`, assignee })
    const { page } = await enterAs(lee)
    const mine = page.getByRole('region', { name: 'My work' })

    await mine.getByRole('link', { name: 'Tickets 9' }).waitFor()

    expect((await mine.getByRole('listitem').getByRole('link').allTextContents()).slice(0, 3)).toEqual([
      'Due in April',
      'Due in May',
      'Someday 7',
    ])
  })

  test('a question of a workflow is answered with its fields', async () => {
    const eva = await person(stage.host, 'acme', { name: 'Eva', email: 'eva-asks@example.com', role: 'Admin' })
    const steps = [
      { ask: { of: eva.user.$id, title: 'May we pay the invoice?', fields: { why: 'string!' } } },
      { verb: 'create', type: 'Activity', args: { subject: '$steps.0.why' } },
    ]
    const workflow = await make('Workflow', { name: 'Ask first', triggerEvent: 'Lead.created', steps })
    await stage.host.request('POST', `/~acme/Workflow/${workflow.$id}/activate`)
    await make('Lead', { name: 'The invoice' })
    await expect.poll(async () => (await eva.send('GET', '/~acme/asks')).body.total).toBe(1)
    const { page } = await enterAs(eva)

    await page.getByRole('region', { name: 'Questions for you' }).getByText('May we pay the invoice?').click()
    const question = page.getByRole('region', { name: 'May we pay the invoice?' })
    await question.getByRole('button', { name: 'Approve' }).click()
    await question.getByText('is required').waitFor()
    // What the input says is not said again in the words of the service.
    expect(await question.getByRole('alert').count()).toBe(0)
    await question.getByLabel('Why').fill('It is due')
    await question.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('“May we pay the invoice?” approved.').waitFor()

    await page.getByText('Nothing waits for an answer').waitFor()
    const made = async () => (await stage.host.request('GET', '/~acme/Activity?subject=It+is+due')).body.results
    await expect.poll(async () => (await made()).length).toBe(1)
    await page.goto(`${stage.host.url}/console#/~acme/Activity/${(await made())[0].$id}`)
    await page.locator('.moment .by').getByRole('link', { name: 'Ask first' }).waitFor()
  })

  test('a question of a workflow that its person cannot read names no workflow', async () => {
    await stage.host.request('PUT', '/~acme/schema/roles/Clerk', { scopes: 'read:crm' })
    const gus = await person(stage.host, 'acme', { name: 'Gus', email: 'gus-asks@example.com', role: 'Clerk' })
    const steps = [{ ask: { of: gus.user.$id, title: 'Is this right?' } }]
    const workflow = await make('Workflow', { name: 'Ask a clerk', triggerEvent: 'Pipeline.created', steps })
    await stage.host.request('POST', `/~acme/Workflow/${workflow.$id}/activate`)
    await make('Pipeline', { name: 'New' })
    await expect.poll(async () => (await gus.send('GET', '/~acme/asks')).body.total).toBe(1)
    const { page } = await enterAs(gus, 'asks')

    const about = page.getByRole('region', { name: 'Is this right?' }).locator('.hint')
    await about.waitFor()

    expect(await about.innerText()).toMatch(
      /^Asked (just now|\d+ seconds? ago)\.? It ends|^Asked (just now|\d+ seconds? ago)\.$/,
    )
  })

  test('a role for sales alone reads the notes of others on a contact, and leaves its own', async () => {
    await stage.host.request('PUT', '/~acme/schema/roles/Sales', { scopes: 'write:crm' })
    const { $id } = await make('Contact', { name: 'Noted by sales' })
    await make('Comment', { body: 'Of the office', about: $id })
    const finn = await person(stage.host, 'acme', { name: 'Finn', email: 'finn-sales@example.com', role: 'Sales' })
    const { page } = await enterAs(finn, `Contact/${$id}`)
    const notes = page.locator('.comments li')

    await notes.filter({ hasText: 'Of the office' }).waitFor()
    await page.getByLabel('New note').fill('Prefers letters')
    await page.getByRole('button', { name: 'Add note' }).click()

    await notes.filter({ hasText: 'Prefers letters' }).getByText('Finn').waitFor()
    // What a person creates is the person's own, also where people cannot be read.
    await page.goto(`${stage.host.url}/console#/~acme/Deal?new=1`)
    await expect.poll(() => page.getByRole('dialog').getByLabel('Owner').inputValue()).toBe('Finn')
  })

  test('a role that sees own records only is one checkbox, and its people create what they own', async () => {
    const admin = await person(stage.host, 'acme', { name: 'Cy', email: 'cy-office@example.com', role: 'Admin' })
    const { page: office } = await enterAs(admin, 'roles')
    await office.getByRole('button', { name: 'New role' }).click()
    const dialog = office.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Closer')
    await dialog.getByLabel('CRM').selectOption('write')
    await dialog.getByLabel('Identity').selectOption('read')
    await dialog.getByLabel('Own records only').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await office.getByText('The role Closer is saved.').waitFor()
    const bo = await person(stage.host, 'acme', { name: 'Bo', email: 'bo-closer@example.com', role: 'Closer' })
    await make('Deal', { name: 'Deal without an owner' })

    const { page } = await enterAs(bo, 'Deal')
    await page
      .getByText('No deals')
      .or(page.getByRole('button', { name: 'New deal' }))
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'New deal' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('Deal of Bo')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByText('Deal of Bo created.').waitFor()

    await expect.poll(() => page.locator('tbody .title').allTextContents()).toEqual(['Deal of Bo'])
  })

  test('Ctrl K signs a person out, after a question about what is not saved', async () => {
    const ray = await person(stage.host, 'acme', { name: 'Ray', email: 'ray-leaves@example.com', role: 'Admin' })
    const { $id } = await make('Contact', { name: 'Half Written' })
    const { page } = await enterAs(ray, `Contact/${$id}`)
    await page.getByPlaceholder('Leave a note').fill('Not saved')
    const signOut = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('sign out')
      await page.getByRole('option', { name: 'Sign out' }).click()
    }

    await signOut()
    await page.getByRole('dialog', { name: 'Discard' }).getByRole('button', { name: 'Discard' }).click()

    await page.getByRole('heading', { name: /Sign in/ }).waitFor()
    expect((await ray.send('GET', '/~acme/session')).status).toBe(401)
  })

  test('of a large team shows all people and notes, and an invitation that got no answer is sent again', async () => {
    const about = await make('Contact', { name: 'Noted often' })
    const each = (path: string, body: (n: number) => object) =>
      [0, 55].map((from) => Array.from({ length: 55 }, (_, n) => ({ method: 'POST', path, body: body(from + n) })))
    for (const operations of [
      ...each('/User', (n) => ({ name: `Member ${n}`, email: `member${n}@example.com`, role: 'Member' })),
      ...each('/Comment', (n) => ({ body: `Note ${n}`, about: about.$id })),
    ])
      await stage.host.request('POST', '/~acme/batch', { operations })
    const { page } = await stage.enter('people')
    await page.getByRole('row', { name: 'Member 109' }).waitFor()
    await page.getByRole('row', { name: 'Member 0', exact: false }).first().waitFor()

    await page.route('**/invite', (route) => route.abort())
    await page.getByRole('button', { name: 'Invite a person' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Asked twice')
    await dialog.getByLabel('E-mail address').fill('twice@example.com')
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
    await dialog.getByText('Nothing was saved').waitFor()
    await page.unroute('**/invite')
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByText('/~acme/invitation#tbi_').waitFor()
    await page.goto(`${stage.host.url}/console#/~acme/Contact/${about.$id}`)
    const notes = page.locator('.comments li')
    await notes.filter({ hasText: 'Note 109' }).waitFor()
    expect(await notes.count()).toBe(100)
    await page.getByRole('button', { name: 'Earlier notes' }).click()
    await expect.poll(() => notes.count()).toBe(110)

    expect(await notes.last().innerText()).toContain('Note 0')
  })
})
