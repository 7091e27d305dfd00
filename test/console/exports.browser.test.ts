import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Download, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
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

  test('for a spreadsheet has the columns on the screen, their labels, and names in the place of ids', async () => {
    const post = async (type: string, body: object) =>
      (await stage.host.request('POST', `/~sheets/${type}`, body)).body.$id as string
    const ada = await post('Contact', { name: 'Ada, Countess of Lovelace' })
    await post('Deal', { name: 'Engine', contact: ada, value: 1_200 })
    await post('Deal', { name: '=1+1', value: 7 })
    const { page } = await stage.browser.open()
    await page.goto(`${stage.host.url}/console#/~sheets/Deal?columns=name,contact,value&sort=-value`)
    await giveKey({ page }, await stage.host.key('sheets', 'admin:all'))
    await page.getByText('1–2 of 2').waitFor()

    const [download] = await Promise.all([page.waitForEvent('download'), start(page, 'Spreadsheet')])

    expect(download.suggestedFilename()).toBe('Deal.csv')
    expect(await textOf(download)).toBe(
      '\uFEFFName,Contact,Value\r\nEngine,"Ada, Countess of Lovelace",1200\r\n\'=1+1,,7\r\n',
    )
  })

  test('of selected rows for a spreadsheet has all of them', async () => {
    const page = await enter()
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: /^Select all 2,500/ }).click()
    await page.getByText('2,500 selected').waitFor()

    await page.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Spreadsheet' }).click(),
    ])

    const lines = (await textOf(download)).trim().split('\r\n')
    expect(
      lines
        .slice(1)
        .map((line) => line.split(',')[0])
        .toSorted(),
    ).toEqual(NAMES)
  })

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

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAD0lEQVR4nGP4z8DwHwQBEPgD/U6VwW8AAAAASUVORK5CYII='

interface Given {
  readonly name: string
  readonly type: string
  /** Text, or base64 after `base64:`. */
  readonly text?: string
  /** So many bytes, the same each time. */
  readonly size?: number
}

/** Drops a file on an element, as the mouse does. */
async function drop(target: Locator, given: Given): Promise<void> {
  const page = target.page()
  const dataTransfer = await page.evaluateHandle(({ name, type, text = '', size }) => {
    const moved = new DataTransfer()
    const bytes = size === undefined ? null : new Uint8Array(size).map((_, n) => n % 251)
    const decoded = text.startsWith('base64:')
      ? Uint8Array.from(atob(text.slice(7)), (letter) => letter.charCodeAt(0))
      : text
    moved.items.add(new File([bytes ?? decoded], name, { type, lastModified: 1 }))
    return moved
  }, given)
  for (const event of ['dragover', 'drop']) await target.dispatchEvent(event, { dataTransfer })
}

describe.skipIf(BROWSER === null)('a file', () => {
  const deal = async (name: string) => {
    const { host } = stage
    await host.request('PUT', '/~papers/schema/Deal', { contract: 'file', papers: 'file[]' })
    const { body } = await host.request('POST', '/~papers/Deal', { name })
    return String(body.$id)
  }
  const enterPapers = async (path: string) => {
    const tab = await stage.enter(path, { tenant: 'papers' })
    return tab.page
  }
  const field = (page: Tab['page'], name: string) =>
    page.locator('.facts dl > div', { has: page.getByText(name, { exact: true }) }).locator('dd')

  verifies(
    'file.console',
    'is dropped on a row, an entity and a field, and its versions are shown with their dates',
    async () => {
      const id = await deal('Engine')
      const page = await enterPapers('Deal')
      await drop(page.locator(`tr[data-id="${id}"]`), { name: 'draft.txt', type: 'text/plain', text: 'The draft' })
      await page.getByRole('dialog').getByRole('button', { name: 'Contract' }).click()
      await page.getByText('draft.txt is attached to Engine.').waitFor()
      await page.goto(`${stage.host.url}/console#/~papers/Deal/${id}`)
      await field(page, 'Contract')
        .getByRole('button', { name: /draft\.txt \d/ })
        .waitFor()
      await drop(field(page, 'Contract'), { name: 'signed.txt', type: 'text/plain', text: 'Signed' })
      await page.getByText('signed.txt is attached to Engine.').waitFor()
      await drop(page.locator('main h1'), { name: 'page.html', type: 'text/html', text: '<script>bad = 1</script>' })
      await page.getByRole('dialog').getByRole('button', { name: 'Papers' }).click()
      await page.getByText('page.html is attached to Engine.').waitFor()
      for (const [name, type] of [
        ['two.png', 'image/png'],
        ['offer.pdf', 'application/pdf'],
        ['call.wav', 'audio/wav'],
      ] as const)
        await drop(field(page, 'Papers'), { name, type, text: `base64:${PNG}` })
      await field(page, 'Papers')
        .getByRole('button', { name: /call\.wav \d/ })
        .waitFor()

      const chip = field(page, 'Contract').getByRole('button', { name: /signed\.txt \d/ })
      await chip.click()
      const viewer = page.getByRole('dialog', { name: 'signed.txt' })
      await viewer.getByText('Signed', { exact: true }).waitFor()
      const versions = viewer.getByRole('region', { name: 'Versions' }).getByRole('button')
      await expect
        .poll(() => versions.allInnerTexts())
        .toEqual([expect.stringMatching(/\d{4}[\s\S]*signed\.txt/), expect.stringMatching(/\d{4}[\s\S]*draft\.txt/)])
      await versions.nth(1).click()
      await page.getByRole('dialog', { name: 'draft.txt' }).getByText('The draft', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await chip.evaluate((button) => document.activeElement === button)).toBe(true)

      // The event that replaced the draft has both files.
      await page
        .locator('.timeline del')
        .getByRole('button', { name: /draft\.txt/ })
        .click()
      await page.getByRole('dialog', { name: 'draft.txt' }).getByText('The draft', { exact: true }).waitFor()
      await page.keyboard.press('Escape')

      await field(page, 'Papers')
        .getByRole('button', { name: /page\.html \d/ })
        .click()
      await page.getByRole('dialog').getByText('<script>bad = 1</script>').waitFor()
      expect(await page.evaluate(() => 'bad' in globalThis)).toBe(false)
      await page.keyboard.press('ArrowRight')
      const picture = page.getByRole('dialog').getByRole('img', { name: 'two.png' })
      await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(2)
      await page.keyboard.press('ArrowRight')
      const address = await page.getByRole('dialog').locator('object[type="application/pdf"]').getAttribute('data')
      const shown = await stage.host.fetch(new URL(address!).pathname + new URL(address!).search)
      expect(shown.headers.get('content-disposition')).toMatch(/^inline/)
      await page.keyboard.press('ArrowRight')
      // Not a sound: the player says so.
      await page.getByRole('dialog').getByText('This browser cannot show the file.').waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('dialog').getByRole('link', { name: 'Download' }).click(),
      ])
      expect(download.suggestedFilename()).toBe('call.wav')
    },
  )

  verifies(
    'file.console.upload',
    'that is large shows its progress, is paused, resumed after a reload, and cancelled',
    async () => {
      const size = 5_000_000
      const id = await deal('Large')
      const key = await stage.host.key('papers', 'admin:all')
      const { page } = await stage.enter(`Deal/${id}`, { tenant: 'papers', key })
      const sent: string[] = []
      page.on('request', (request) => {
        const { 'upload-offset': offset = '' } = request.headers()
        if (/\/uploads\/./.test(request.url())) sent.push(`${request.method()} ${offset}`)
      })
      // Holds all pieces but the first, in the page: so large requests are slow to hold outside of it.
      const holdPieces = () => {
        const { fetch } = globalThis
        globalThis.fetch = async (url, init) => {
          const offset = new Headers(init?.headers).get('upload-offset') ?? '0'
          if (offset !== '0') await new Promise((_, failed) => init?.signal?.addEventListener('abort', failed))
          return fetch(url, init)
        }
      }
      await page.evaluate(holdPieces)
      const list = page.getByRole('region', { name: 'Uploads' })
      const start = async () => {
        await drop(field(page, 'Contract'), { name: 'film.mp4', type: 'video/mp4', size })
        const bar = list.getByRole('progressbar', { name: 'Progress of film.mp4' })
        await expect.poll(() => bar.evaluate((one: HTMLProgressElement) => one.position)).toBeCloseTo(0.839, 2)
      }
      await start()
      await list.getByRole('button', { name: 'Pause film.mp4' }).click()
      await list.getByText(/^paused · 4\.2/).waitFor()
      page.on('dialog', (dialog) => dialog.accept())
      await page.reload()
      await giveKey({ page }, key)
      sent.length = 0
      await drop(field(page, 'Contract'), { name: 'film.mp4', type: 'video/mp4', size })
      await page.getByText('film.mp4 is attached to Large.').waitFor()

      expect(sent).toEqual(['GET ', 'PATCH 4194304'])
      const { body } = await stage.host.request('GET', `/~papers/Deal/${id}`)
      const bytes = new Uint8Array(size).map((_, n) => n % 251)
      expect(body.contract.hash).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)

      await page.evaluate(holdPieces)
      await start()
      const gone = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
      await list.getByRole('button', { name: 'Cancel film.mp4' }).click()
      expect((await gone).status()).toBe(204)
      await list.waitFor({ state: 'detached' })
    },
  )
})
