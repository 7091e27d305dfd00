import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }

describe.skipIf(BROWSER === null)('the order of a board', () => {
  test('is chosen from a menu, turned round, and kept by the table', async () => {
    for (const [name, value] of [
      ['Sorted one', 300],
      ['Sorted two', 100],
      ['Sorted three', 200],
    ])
      await make('Deal', { name, value, stage: 'Proposal' })
    const { page } = await stage.enter('Deal?layout=board&text=Sorted')
    const titles = () => page.getByRole('region', { name: 'Proposal' }).locator('.card .title').allTextContents()
    const choose = async (name: string) => {
      await page.getByRole('button', { name: /^Sort/ }).click()
      await page.getByRole('menuitemradio', { name }).click()
      await page.getByRole('menu').waitFor({ state: 'detached' })
    }

    await choose('Value')
    await expect.poll(titles).toEqual(['Sorted two', 'Sorted three', 'Sorted one'])
    await choose('Value')
    await expect.poll(titles).toEqual(['Sorted one', 'Sorted three', 'Sorted two'])
    await page.getByRole('button', { name: 'Table' }).click()

    await expect
      .poll(() => page.locator('tbody .title').allTextContents())
      .toEqual(['Sorted one', 'Sorted three', 'Sorted two'])
  })

  test('leaves a score of many as its average, and amounts as their sum', async () => {
    for (const leadScore of [10, 30]) await make('Contact', { name: 'Scored twice', leadScore })
    const { page } = await stage.enter('Contact?text=Scored&columns=name,leadScore')

    await page.getByRole('button', { name: 'Average 20, of Lead score' }).waitFor()
  })

  test('follows the order of choices, as in the list', async () => {
    for (const priority of ['Urgent', 'Low', 'High', 'Medium'])
      await make('Ticket', { subject: `Ranked ${priority}`, priority })
    const { page } = await stage.enter('Ticket?layout=board&text=Ranked&sort=-priority')
    const titles = () =>
      page.getByRole('region', { name: 'Open', exact: true }).locator('.card .title').allTextContents()

    await expect.poll(titles).toEqual(['Ranked Urgent', 'Ranked High', 'Ranked Medium', 'Ranked Low'])
  })
})

describe.skipIf(BROWSER === null)('a ticket without a due time', () => {
  test('is beside the calendar, and gets one by mouse and keyboard', async () => {
    const dragged = await make('Ticket', { subject: 'Undated dragged' })
    const pressed = await make('Ticket', { subject: 'Undated pressed' })
    await make('Ticket', { subject: 'Undated and closed', status: 'Closed' })
    const { page } = await stage.enter('Ticket?layout=calendar&month=2027-03&text=Undated')
    const dueAt = async (id: string) => (await stage.host.request('GET', `/~acme/Ticket/${id}`)).body.dueAt
    const undated = page.getByRole('region', { name: 'Without due at' })
    await undated.getByRole('link', { name: 'Undated pressed' }).waitFor()
    expect(await undated.getByText('Undated and closed').count()).toBe(0)

    await undated
      .getByRole('link', { name: 'Undated dragged' })
      .dragTo(page.getByRole('region', { name: '10 Mar 2027' }), { targetPosition: { x: 20, y: 50 } })
    await expect.poll(() => dueAt(dragged.$id)).toMatch(/^2027-03-10T/)
    await undated.getByRole('link', { name: 'Undated pressed' }).focus()
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => dueAt(pressed.$id)).toMatch(/^2027-03-01T/)

    await page.getByRole('region', { name: '1 Mar 2027' }).getByRole('link', { name: 'Undated pressed' }).waitFor()
    await undated.waitFor({ state: 'detached' })
  })

  test('shows in the list that it has none, and gets one in its cell', async () => {
    const { $id } = await make('Ticket', { subject: 'Cell without a day' })
    const { page } = await stage.enter('Ticket?text=Cell')
    await page.locator('tbody tr', { hasText: 'Cell without a day' }).waitFor()
    const at = (await page.locator('thead th').allTextContents()).findIndex((text) => text.startsWith('Due at'))

    await page.locator('tbody tr').first().locator('td').nth(at).click()
    await page.keyboard.press('Enter')
    await page.getByLabel('Due at', { exact: true }).fill('2027-04-05T10:00')
    await page.keyboard.press('Enter')

    await expect
      .poll(async () => (await stage.host.request('GET', `/~acme/Ticket/${$id}`)).body.dueAt)
      .toBe('2027-04-05T10:00:00.000Z')
  })
})
