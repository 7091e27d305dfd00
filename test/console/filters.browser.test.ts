import { describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

const make = (type: string, fields: object) => stage.host.request('POST', `/~acme/${type}`, fields)
const titles = async (page: Tab['page']) => (await page.locator('tbody .title').allTextContents()).sort()

/** Begins a filter of deals with one condition. */
async function condition(page: Tab['page'], field: string, operator: string): Promise<void> {
  await page.getByRole('button', { name: 'Condition', exact: true }).click()
  await page.getByLabel('Field', { exact: true }).last().selectOption(field)
  await page.getByLabel('Comparison').last().selectOption({ label: operator })
}

describe.skipIf(BROWSER === null)('filters in words', () => {
  test('words are found in any case, and no sign is a pattern', async () => {
    await make('Deal', { name: 'Filtered HARBOUR (pilot' })
    const { page } = await stage.enter('Deal')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await condition(page, 'name', 'contains')

    await page.getByLabel('Value', { exact: true }).fill('harbour (pi')
    await expect.poll(() => titles(page)).toEqual(['Filtered HARBOUR (pilot'])
    await page.getByLabel('Comparison').selectOption({ label: 'starts with' })
    await page.getByLabel('Value', { exact: true }).fill('filtered h')
    await expect.poll(() => titles(page)).toEqual(['Filtered HARBOUR (pilot'])
    await page.getByLabel('Value', { exact: true }).fill('(((')
    await page.getByText('Nothing matches.').waitFor()

    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('numbers are read as people write them, and other words are refused', async () => {
    await make('Deal', { name: 'Exactly ten thousand', value: 10_000.5 })
    const { page } = await stage.enter('Deal')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await condition(page, 'value', 'is')

    await page.getByLabel('Value', { exact: true }).fill('10,000.5')
    await expect.poll(() => titles(page)).toEqual(['Exactly ten thousand'])
    await page.getByLabel('Value', { exact: true }).fill('much')
    await page.getByText('Write a number.').waitFor()

    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('days are chosen from a calendar or by the name of a period, which stays in a link', async () => {
    await make('Deal', { name: 'Made today' })
    const today = new Date().toISOString().slice(0, 10)
    const { page } = await stage.enter('Deal?sort=-$createdAt')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await condition(page, '$createdAt', 'is on')

    await page.getByLabel('Value', { exact: true }).fill(today)
    await expect.poll(() => titles(page)).toContain('Made today')
    await page.getByLabel('Comparison').selectOption({ label: 'is in' })
    await page.getByLabel('Value', { exact: true }).selectOption('yesterday')
    await expect.poll(() => titles(page)).not.toContain('Made today')
    await page.getByLabel('Value', { exact: true }).selectOption('last 30 days')
    await expect.poll(() => titles(page)).toContain('Made today')

    expect(decodeURIComponent(page.url()).replaceAll('+', ' ')).toContain('"$during":"last 30 days"')
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('conditions are joined by any, and grouped', async () => {
    await make('Deal', { name: 'Joined one', stage: 'Won' })
    await make('Deal', { name: 'Joined two', stage: 'Lost' })
    await make('Deal', { name: 'Joined three', stage: 'Proposal' })
    const { page } = await stage.enter('Deal?text=Joined')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await condition(page, 'stage', 'is')
    await page.getByLabel('Value', { exact: true }).selectOption('Won')
    await condition(page, 'stage', 'is')
    await page.getByLabel('Value', { exact: true }).last().selectOption('Lost')
    await page.getByText('Nothing matches.').waitFor()

    await page.getByLabel('How many conditions').selectOption('any')
    await expect.poll(() => titles(page)).toEqual(['Joined one', 'Joined two'])
    await page.reload()
    await giveKey({ page }, await stage.host.key('acme', 'admin:all'))
    await expect.poll(() => titles(page)).toEqual(['Joined one', 'Joined two'])
    await expect.poll(() => page.getByLabel('How many conditions').inputValue()).toBe('any')
  })

  test('rows are grouped by the month of a day', async () => {
    for (const day of ['2026-01-10', '2026-01-20', '2026-03-05'])
      await make('Deal', { name: `Monthly ${day}`, expectedCloseDate: day })
    const { page } = await stage.enter('Deal?text=Monthly')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3)

    await page.getByRole('button', { name: 'Group' }).click()
    await page
      .getByRole('menuitemradio', { name: 'Expected close date, by month' })
      .or(page.getByText('Expected close date, by month'))
      .first()
      .click()
    await expect.poll(() => page.locator('.group-head').count()).toBe(2)
    await expect
      .poll(async () => (await page.locator('.group-head').allTextContents()).join(' '))
      .toMatch(/Mar.*2026.*Jan.*2026/)
  })
})
