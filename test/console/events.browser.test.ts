import { readFileSync } from 'node:fs'
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

  test('is looked through for words beyond the events that are shown, with its filters in one row', async () => {
    await stage.host.request('POST', '/~old/Contact', { name: 'Needle of last year' })
    for (const from of [0, 50, 100]) {
      const operations = Array.from({ length: 50 }, (_, n) => ({
        method: 'POST',
        path: '/Contact',
        body: { name: `Hay ${from + n}` },
      }))
      await stage.host.request('POST', '/~old/batch', { operations })
    }
    const { page } = await stage.enter('events', { tenant: 'old', size: { width: 1440, height: 900 } })
    await page.locator('.event-title', { hasText: 'Hay' }).first().waitFor()

    const tops = await page
      .locator('main .toolbar > *')
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom)))
    expect(new Set(tops).size).toBe(1)
    await page.getByLabel('Words in the events').fill('needle')

    await expect.poll(() => page.locator('.event-title').allTextContents()).toEqual(['Needle of last year'])
  })

  test('is looked through for words to its beginning, can be stopped, and what has them is saved', async () => {
    await stage.host.request('POST', '/~older/Contact', { name: 'Needle of last year' })
    await stage.host.request(
      'POST',
      '/~older/import/Contact',
      Array.from({ length: 2_050 }, (_, n) => ({ name: `Hay ${n}` })),
    )
    const { page } = await stage.enter('events', { tenant: 'older' })
    await page.locator('.event-title', { hasText: 'Hay' }).first().waitFor()

    let looked = 0
    let isHeld = true
    let release = () => {}
    const held = new Promise<void>((done) => {
      release = done
    })
    await page.route('**/~older/Event?*total=false*', async (route) => {
      looked += 1
      if (isHeld && looked > 2) await held
      await route.continue().catch(() => undefined)
    })
    await page.getByLabel('Words in the events').fill('needle')
    await page.getByText('200 of 2,05').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('The newest 200 events do not have these words').waitFor()
    isHeld = false
    release()
    await page.getByRole('button', { name: 'Earlier events' }).click()
    await expect.poll(() => page.locator('.event-title').allTextContents()).toEqual(['Needle of last year'])

    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('Needle of last year')
  })

  test('is narrowed to one entry, and saved as a file', async () => {
    const { body } = await stage.host.request('POST', '/~acme/Contact', { name: 'Ada "the" first, of all' })
    await stage.host.request('PUT', `/~acme/Contact/${body.$id}`, { title: 'Countess' })
    const { page } = await stage.enter(`Contact/${body.$id}`)

    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Events of this entry' }).click()
    await expect
      .poll(() => page.locator('.event-type').allTextContents())
      .toEqual(['Contact.updated', 'Contact.created'])
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const text = readFileSync(await (await download).path(), 'utf8')

    const lines = text.trim().split('\r\n')
    expect(lines[0]).toBe('Time,Event,Type,Name,Id,By,By id')
    expect(lines).toHaveLength(3)
    expect(lines[2]).toContain(`,Contact.created,Contact,"Ada ""the"" first, of all",${body.$id},Operator,`)
  })
})
