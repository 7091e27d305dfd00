import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }

/** The messages that an input is described by, once it is marked as refused. */
async function reasons(input: Locator): Promise<string> {
  await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
  return input.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent ?? '')
      .join(' '),
  )
}

const focused = (input: Locator) => input.evaluate((element) => element === document.activeElement)

describe.skipIf(BROWSER === null)('an input that was refused', () => {
  test('has the focus in a form of fields, and says why', async () => {
    await make('Contact', { name: 'First', email: 'taken@example.com' })
    const { $id } = await make('Contact', { name: 'Second', email: 'second@example.com' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const email = dialog.getByLabel('Email', { exact: true })
    await email.fill('taken@example.com')
    await dialog.getByRole('button', { name: 'Save' }).click()

    expect(await reasons(email)).toContain('Another Contact has this email')
    await expect.poll(() => focused(email)).toBe(true)
  })

  test('says why in a row of a list and in place', async () => {
    await make('Contact', { name: 'Row First', email: 'row@example.com' })
    const { $id } = await make('Contact', { name: 'Row Second', email: 'row2@example.com' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit email' }).click()
    const email = page.getByLabel('Email', { exact: true })
    await email.fill('row@example.com')
    await page.keyboard.press('Enter')
    expect(await reasons(email)).toContain('Another Contact has this email')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Discard' }).getByRole('button', { name: 'Discard' }).click()

    await page.getByRole('link', { name: 'Contacts' }).first().click()
    await page.getByRole('searchbox').fill('Row Second')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.locator('tbody .title').focus()
    await page.keyboard.press('e')
    await page.locator('tr.editing').getByLabel('Email', { exact: true }).fill('row@example.com')
    await page.locator('tr.editing').getByRole('button', { name: 'Save' }).click()

    expect(await reasons(page.locator('tr.editing').getByLabel('Email', { exact: true }))).toContain('Another Contact')
  })

  test('says why in a window for people, in the log and in the key box', async () => {
    await make('User', { name: 'Known', email: 'known@example.com', role: 'Member' })
    const { page } = await stage.enter('people')
    await page.getByRole('button', { name: 'Invite a person' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Known again')
    await dialog.getByLabel('E-mail address').fill('known@example.com')
    await dialog.getByRole('button', { name: 'Invite' }).click()
    expect(await reasons(dialog.getByLabel('E-mail address'))).toContain('has this email')

    const { page: log } = await stage.enter('events?type=***')
    expect(await reasons(log.getByLabel('Type or pattern'))).toContain('*.created')

    const { page: box } = await stage.browser.open()
    await box.goto(`${stage.host.url}/console#/~acme`)
    await box.getByLabel('Key', { exact: true }).fill('wrong~acme')
    await box.getByRole('button', { name: 'Open', exact: true }).click()
    expect(await reasons(box.getByLabel('Key', { exact: true }))).toContain('This key is not valid here')
  })
})
