import { readFileSync } from 'node:fs'
import type { Download } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { giveKey, useStage } from './stage.ts'
import { openWay, type Way } from './way.ts'

const MANY = 2_500
const NAMES = Array.from({ length: MANY }, (_, n) => `Row ${String(n).padStart(4, '0')}`)

const stage = useStage()
let way: Way

/** Opens the list over the way. */
const enter = async () => {
  const { page } = await stage.browser.open()
  await page.goto(`${way.url}/console#/~many/Contact`)
  await giveKey({ page }, await stage.host.key('many', 'admin:all'))
  await page.getByText(`1–25 of ${MANY.toLocaleString('en-US')}`).waitFor()
  return page
}
const start = async (page: Tab['page'], format: string) => {
  await page.getByRole('button', { name: 'List actions' }).click()
  await page.getByRole('menuitem', { name: format }).click()
}
const textOf = async (download: Download) => readFileSync((await download.path())!, 'utf8')

describe.skipIf(BROWSER === null)('an export', () => {
  beforeAll(async () => {
    way = await openWay(stage.host.url)
    // One row has a field that the type does not declare, in the middle: every part of a table has its column.
    const rows = NAMES.map((name, n) => JSON.stringify({ name, ...(n === MANY / 2 && { shoeSize: 43 }) }))
    const { body } = await stage.host.request('POST', '/~many/import/Contact', rows.join('\n'), {
      'content-type': 'application/x-ndjson',
    })
    expect(body.imported).toBe(MANY)
  })
  afterAll(() => way?.stop())
  afterEach(() => way.release())

  test('shows how far it is on every page, and ends where it is cancelled', async () => {
    const page = await enter()
    const saved: string[] = []
    page.on('download', (download) => saved.push(download.suggestedFilename()))
    const before = way.left()
    way.hold('/export/', 100_000)

    await start(page, 'NDJSON')
    const exports = page.getByRole('region', { name: 'Exports' })
    const bar = exports.getByRole('progressbar', { name: 'Progress of Contact.ndjson' })
    await expect.poll(() => bar.evaluate((one: HTMLProgressElement) => one.position)).toBeGreaterThan(0)
    expect(await bar.evaluate((one: HTMLProgressElement) => one.position)).toBeLessThan(1)
    await exports.getByText(/^[1-9][\d,]* of 2,500 rows$/).waitFor()
    await page.getByRole('link', { name: 'Deals' }).click()
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
    await exports.getByRole('button', { name: 'Cancel the export of Contact.ndjson' }).click()

    await page.getByText('The export of Contact.ndjson was cancelled. No file was saved.').waitFor()
    await exports.waitFor({ state: 'detached' })
    await expect.poll(way.left).toBe(before + 1)
    expect(saved).toEqual([])
  })

  test('that breaks saves no half file, says so, and is repeated', async () => {
    const page = await enter()
    const saved: string[] = []
    page.on('download', (download) => saved.push(download.suggestedFilename()))
    way.hold('/export/', 100_000)

    await start(page, 'NDJSON')
    const exports = page.getByRole('region', { name: 'Exports' })
    await exports.getByText(/^[1-9][\d,]* of 2,500 rows$/).waitFor()
    way.cut()
    await exports.getByRole('alert').getByText('The export of Contact.ndjson failed, and no file was saved.').waitFor()
    expect(saved).toEqual([])
    way.release()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      exports.getByRole('button', { name: 'Try again' }).click(),
    ])

    const lines = (await textOf(download)).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).name).toSorted()).toEqual(NAMES)
    await page.getByText('Contact.ndjson is in your downloads.').waitFor()
    await exports.waitFor({ state: 'detached' })
  })

  test('of more entities than fit into one request is one file', async () => {
    const page = await enter()
    const pick = async (format: string | RegExp) => {
      await page.getByLabel('Selection').getByRole('button', { name: 'Export' }).click()
      const item = page.getByRole('menuitem', { name: format })
      const [download] = await Promise.all([page.waitForEvent('download'), item.click()])
      return textOf(download)
    }
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Select all 2,500' }).click()
    await page.getByText('2,500 selected').waitFor()

    const [header, ...lines] = (await pick('CSV')).trim().split('\r\n')
    const entities: { name: string }[] = JSON.parse(await pick(/^JSON/))

    const column = header!.split(',').indexOf('name')
    expect(lines.map((line) => line.split(',')[column]).toSorted()).toEqual(NAMES)
    expect(header!.split(',')).toContain('shoeSize')
    expect(entities.map(({ name }) => name).toSorted()).toEqual(NAMES)
    await page.getByLabel('Selection').getByRole('button', { name: 'Export' }).click()
    expect(await page.getByRole('menuitem', { name: 'Parquet' }).getAttribute('aria-disabled')).toBe('true')
  })
})
