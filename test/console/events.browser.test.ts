import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

describe.skipIf(BROWSER === null)('the log', () => {
  test('is narrowed to a person and to days', async () => {
    const robot = stage.host.as(await stage.host.key('acme', 'write:crm', { name: 'Narrow Robot' }))
    await robot('POST', '/~acme/Contact', { name: 'Made by the robot' })
    await stage.host.request('POST', '/~acme/Contact', { name: 'Made by another' })
    const { page } = await stage.enter('events?type=Contact.created')
    await page.getByText('Made by another').waitFor()

    await page.getByLabel('By whom').selectOption({ label: 'Narrow Robot' })
    await expect.poll(() => page.locator('.event-title').allTextContents()).toEqual(['Made by the robot'])
    await page.getByLabel('To day').fill('2020-01-01')
    await page.getByText('No Contact.created yet').waitFor()
    await page.getByLabel('To day').fill(new Date().toISOString().slice(0, 10))

    await expect.poll(() => page.locator('.event-title').allTextContents()).toEqual(['Made by the robot'])
  })
})
