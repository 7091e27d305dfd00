import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadDemo } from '../../packages/client/src/demo/load.ts'
import { startBrowser } from '../console/browser.ts'
import { ROOT, testHost } from '../host.ts'

const PICTURES = join(import.meta.dirname, '../../docs/pictures')
const DAY = 86_400_000

/** Takes the picture of the demo that the README shows: its metrics as they were half a year ago. */
const host = await testHost()
const browser = await startBrowser()
try {
  await loadDemo(host.url, ROOT, Date.now())
  const { page } = await browser.open({ width: 1200, height: 720 })
  const asOf = new Date(Math.floor(Date.now() / DAY - 183) * DAY + DAY / 2).toISOString()
  const path = process.argv[2] ?? 'metrics'
  await page.goto(`${host.url}/console#/~demo/${path}${path.includes('?') ? '&' : '?'}asOf=${asOf}`)
  await page.getByLabel('Key', { exact: true }).fill(await host.key('demo', 'admin:all', { name: 'Console' }))
  await page.getByRole('button', { name: 'Open' }).click()
  await page.locator('main#main h1').waitFor()
  await page.waitForTimeout(3_000)
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
  writeFileSync(process.argv[3] ?? join(PICTURES, 'demo.webp'), Buffer.from(data, 'base64'))
} finally {
  await browser.close()
  await host.stop()
}
