import { describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body

describe.skipIf(BROWSER === null)('the morning of a team', () => {
  test('a ticket without an owner and a due time gets both at one click each', async () => {
    const kim = await person(stage.host, 'acme', { name: 'Kim Desk', email: 'kim@example.com', role: 'Admin' })
    const { $id } = await make('Ticket', { subject: 'The printer smokes' })
    const { page } = await stage.enter(`Ticket/${$id}`)
    const facts = page.locator('.facts')

    await facts.getByRole('button', { name: 'Edit assignee' }).click()
    await page.getByRole('combobox', { name: 'Assignee' }).fill('Kim')
    await page.getByRole('option', { name: 'Kim Desk' }).click()
    await page.getByText('The printer smokes saved.').first().waitFor()
    await facts.getByRole('button', { name: 'Edit due at' }).click()
    await page.getByLabel('Due at', { exact: true }).fill('2027-02-03T10:00')
    await page.keyboard.press('Enter')

    await expect
      .poll(() => read('Ticket', $id))
      .toMatchObject({ assignee: kim.user.$id, dueAt: '2027-02-03T10:00:00.000Z' })
  })

  test('a board of the past says what changed since', async () => {
    const { $id } = await make('Deal', { name: 'Board then', stage: 'Prospecting', value: 1 })
    const then = (await read('Deal', $id)).$updatedAt
    await make('Deal', { name: 'Board later', stage: 'Prospecting' })
    await stage.host.request('PUT', `/~acme/Deal/${$id}`, { value: 2 })
    const { page } = await stage.enter(`Deal?layout=board&asOf=${then}`)
    await page.locator('.card', { hasText: 'Board then' }).waitFor()

    await page.getByRole('button', { name: 'What changed since' }).click()

    const changes = page.locator('.differences')
    await changes.getByText('Board later').waitFor()
    await changes.locator('li', { hasText: 'Board then' }).getByText('Value').waitFor()
    expect(await page.locator('.card', { hasText: 'Board later' }).count()).toBe(0)
  })

  test('a workflow waits and then sends a message, whose fields it names', async () => {
    const { $id } = await make('Workflow', { name: 'Remind the customer' })
    const { page } = await stage.enter(`Workflow/${$id}`)
    const editor = page.getByRole('form', { name: 'What it does' })
    const add = async (kind: string) => {
      await editor.getByRole('button', { name: 'Add a step' }).click()
      await page.getByRole('menuitem', { name: kind }).click()
    }
    await editor.getByLabel('When this event comes').fill('Ticket.resolved')
    await add('Wait for a while')
    await editor.getByLabel('For how long').fill('2d')
    await add('Send a message')
    await editor.getByLabel('Value of to').fill('$event.data.requester')
    await editor.getByLabel('Value of subject').fill('Does it work?')
    await editor.getByLabel('Value of body').fill('Please tell us.')
    await editor.getByRole('button', { name: 'Save the workflow' }).click()
    await page.getByText('Remind the customer saved.').waitFor()

    expect((await read('Workflow', $id)).steps).toEqual([
      { wait: '2d' },
      { send: { to: '$event.data.requester', subject: 'Does it work?', body: 'Please tell us.' } },
    ])
  })
})
