import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../host.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

describe.skipIf(BROWSER === null)('the operator', () => {
  test('sees all tenants, creates one, verifies and backs up another, and opens it with the same key', async () => {
    const { page } = await stage.enter('tenants', { key: ROOT })
    const acme = page.getByRole('row', { name: /^acme/ })
    await acme.waitFor()
    expect(await acme.innerText()).toMatch(/[\d.]+ [kM]B/)
    await acme.getByText('never').waitFor()

    await page.getByRole('button', { name: 'New tenant' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Blue Orchard GmbH')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('row', { name: /^blue-orchard-gmbh/ }).waitFor()
    await acme.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(/~acme is whole: [\d,]+ events/).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      acme.getByRole('button', { name: 'Backup' }).click(),
    ])
    expect(
      readFileSync((await download.path())!)
        .subarray(0, 15)
        .toString(),
    ).toBe('SQLite format 3')
    await acme.getByText('as a file').waitFor()
    expect(await acme.innerText()).not.toContain('never')
    await page.getByRole('link', { name: 'blue-orchard-gmbh' }).click()

    await page.getByRole('heading', { name: '~blue-orchard-gmbh' }).waitFor()
  })

  test('the key box offers a tenant of sample data, which has a past', async () => {
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/console`)
    await page.getByLabel('Key', { exact: true }).fill(ROOT)
    await page.getByRole('link', { name: 'Open with sample data' }).click()
    await page.getByRole('heading', { name: '~demo' }).waitFor()

    await page.getByRole('link', { name: /^Deals [1-9]/ }).waitFor({ timeout: 60_000 })
    const count = async (query = '') => (await stage.host.request('GET', `/~demo/Deal/count${query}`)).body.count
    const year = new Date(Date.now() - 365 * 86_400_000).toISOString()
    await expect.poll(async () => (await count()) > (await count(`?asOf=${year}`)), { timeout: 60_000 }).toBe(true)
    expect(await count(`?asOf=${year}`)).toBeGreaterThan(0)
  })
})
