import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

describe.skipIf(BROWSER === null)('the seal of an event in the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-seal-'))
  const stage = useStage()
  afterAll(() => rmSync(folder, { recursive: true }))

  verifies('proof.page', 'explains what is proved, and saves a page that checks itself offline', async () => {
    const { body } = await stage.host.request('POST', '/~acme/Contact', { name: 'Sealed Person' })
    const { page, faults } = await stage.enter(`Contact/${body.$id}`)

    await page.locator('.moment').getByRole('button', { name: 'Proof' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Proof of this event' })
    await dialog.getByText('in the signed history of').waitFor()
    await dialog.getByText('The proof contains the values as they were recorded.').waitFor()
    const downloading = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download the proof' }).click()
    const saved = join(folder, 'proof.html')
    copyFileSync((await (await downloading).path())!, saved)
    await page.goto(pathToFileURL(saved).href)

    await page.getByText('This proof is valid.').waitFor()
    expect(await page.locator('#data').textContent()).toContain('Sealed Person')
    writeFileSync(saved, readFileSync(saved, 'utf8').replaceAll('Sealed Person', 'Another One'))
    await page.goto(pathToFileURL(saved).href)
    await page.getByText('This proof is NOT valid.').waitFor()
    // The page loaded no other resources.
    expect(faults.splice(0)).toEqual(Array(2).fill(`asked ${pathToFileURL(saved).href}`))
  })
})
