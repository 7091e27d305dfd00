import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../host.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const CARS = 6_000
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

  test('sees what is in progress with all tenants, and cancels a long write of one', async () => {
    const { host } = stage
    const headers = { authorization: `Bearer ${ROOT}` }
    const file = await (await host.fetch('/operator/tenants/acme/backup', { headers })).bytes()
    const restore = request(`${host.url}/operator/tenants/halfway/restore`, {
      method: 'PUT',
      headers: { ...headers, 'content-length': file.length },
    })
    const answered = once(restore, 'response')
    restore.write(file.subarray(0, file.length / 2))
    await host.request('PUT', '/~fleet/schema/Car', { name: 'string!', size: 'string' })
    const rows = Array.from({ length: CARS }, (_, n) => JSON.stringify({ name: `car ${n}`, size: `${n}` }))
    await host.request('POST', '/~fleet/import/Car', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
    const { page } = await stage.enter('tenants', { key: ROOT })
    const tasks = page.getByRole('region', { name: 'Running tasks' })
    await tasks.getByText('~halfway Restore: receive').waitFor()

    // One after the other, so that one runs when the page looks and the button is pressed.
    let isCancelled = false
    const retyping = (async () => {
      for (let n = 0; !isCancelled; n++) {
        const to = n % 2 === 0 ? 'number' : 'string'
        const { body } = await host.request('POST', '/~fleet/schema/Car/retype', { field: 'size', to })
        isCancelled = body.message?.includes('cancelled')
      }
    })()
    while (!isCancelled) await tasks.getByRole('button', { name: 'Cancel' }).click({ noWaitAfter: true })
    await retyping
    restore.end(file.subarray(file.length / 2))
    await answered

    await page.getByText('Restore of ~halfway ended.').waitFor()
    await tasks.waitFor({ state: 'detached' })
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
