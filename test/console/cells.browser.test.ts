import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (id: string) => (await stage.host.request('GET', `/~acme/Deal/${id}`)).body

describe.skipIf(BROWSER === null)('cells of a list', () => {
  test('one is written in by the keyboard, and many are pasted and undone as one', async () => {
    const ids = [
      (await make('Deal', { name: 'Cells a', value: 1, stage: 'Proposal' })).$id,
      (await make('Deal', { name: 'Cells b', value: 2, stage: 'Proposal' })).$id,
    ]
    const { page } = await stage.enter('Deal?text=Cells&sort=name&columns=name,value,nextStep,stage')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
    const values = async () =>
      (await Promise.all(ids.map(read))).map(({ value, nextStep }) => [value, nextStep ?? null])

    await page.keyboard.press('i')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByLabel('Value', { exact: true }).fill('7')
    await page.keyboard.press('Enter')
    await expect.poll(values).toEqual([
      [7, null],
      [2, null],
    ])
    await page.locator('tbody tr').first().locator('td.cell-on', { hasText: '7' }).waitFor()
    await page.evaluate(() => {
      const data = new DataTransfer()
      data.setData('text/plain', '1.200,50\tCall\n3,5\t"Write ""now"""\n')
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    })
    await page.getByText('4 cells pasted.').waitFor()
    expect(await values()).toEqual([
      [1_200.5, 'Call'],
      [3.5, 'Write "now"'],
    ])
    await page.keyboard.press('Control+z')

    await expect.poll(values).toEqual([
      [7, null],
      [2, null],
    ])
  })

  test('a range is copied as a spreadsheet takes it', async () => {
    await make('Deal', { name: 'Range a', value: 1.5, stage: 'Won' })
    await make('Deal', { name: 'Range b', value: 2, stage: 'Lost' })
    const { page } = await stage.enter('Deal?text=Range&sort=name&columns=name,value,stage')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)

    await page.keyboard.press('i')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => page.locator('td.cell-on').count()).toBe(4)
    const copied = await page.evaluate(() => {
      const data = new DataTransfer()
      document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }))
      return data.getData('text/plain')
    })

    expect(copied).toBe('Range a\t1.5\nRange b\t2')
  })
})
