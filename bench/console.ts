import { loadavg } from 'node:os'
import { BROWSER, startBrowser } from '../test/console/browser.ts'
import { KEY, quantile, startServer } from './hosts/server.ts'

/**
 * How fast the console is in Chromium over many organizations: what the first page loads, when its first row is there,
 * and how long keys and clicks take until the next paint. Ends with the lines of docs/console.md. Run
 * `npm run build:console` first, then `node bench/console.ts [organizations]`.
 */
const MANY = Number(process.argv[2] ?? 100_000)
const LOADS = 5
const TURNS = 30
const CHUNK = 20_000

if (BROWSER === null) throw new Error('There is no Chromium. Set TILDE_BROWSER to one.')
const server = await startServer(0)
for (let begin = 0; begin < MANY; begin += CHUNK) {
  const rows = Array.from({ length: Math.min(CHUNK, MANY - begin) }, (_, n) => organization(begin + n))
  const status = await server.ask('POST', '/~bench/import/Organization', rows)
  if (status >= 300) throw new Error(`The import was answered ${status}.`)
}
const list = `${server.url}/console#/~bench/Organization?sort=name`
console.log(`${MANY} organizations`)

const first: number[] = []
let sizes: Sizes = { script: 0, styles: 0, typeface: 0 }
for (let n = 0; n < LOADS; n++) {
  const fresh = await startBrowser()
  const { page } = await open(fresh)
  first.push(await firstRow(page))
  sizes = await page.evaluate(() => {
    const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const size = (ending: string) =>
      loaded
        .filter(({ name }) => name.includes('/console/assets/') && name.endsWith(ending))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize / 1_000, 0)
    return { script: size('.js'), styles: size('.css'), typeface: size('.woff2') }
  })
  await fresh.close()
}
tell('first load, until its first row', first)

const browser = await startBrowser()
const { page, faults } = await open(browser)
await firstRow(page)
const again: number[] = []
for (let n = 0; n < LOADS; n++) {
  await page.reload()
  again.push(await firstRow(page))
}
tell('reload, until its first row', again)

await page.evaluate(() => {
  const seen: number[] = []
  Object.assign(globalThis, { seen })
  new PerformanceObserver((entries) => {
    for (const entry of entries.getEntries() as PerformanceEventTiming[])
      if (entry.interactionId) seen.push(entry.duration)
  }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
})
const turned: number[] = []
for (let sheet = 2; sheet <= TURNS; sheet++) turned.push(await turn(sheet))
tell('next page, from the key until its rows', turned)
for (let row = 0; row < TURNS; row++) await page.keyboard.press('j', { delay: 20 })
for (let n = 0; n < 5; n++) {
  await page.getByRole('button', { name: /^Name/ }).click()
  await page.waitForTimeout(300)
  await page.keyboard.press('/')
  await page.keyboard.type('company 0999', { delay: 40 })
  await page.waitForTimeout(400)
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Escape')
  await page.locator('tbody tr .title').first().click()
  await page.locator('.facts').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('tbody tr').first().waitFor()
}
await page.waitForTimeout(500)
const seen = await page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen)
const all = await page.evaluate(() => (performance as unknown as { interactionCount: number }).interactionCount)
// Shorter ones than 16 ms are counted by the browser, but not described.
const inputs = [...seen, ...Array(Math.max(0, all - seen.length)).fill(8)]
tell(`${all} keys and clicks, until the next paint`, inputs)
if (faults.length > 0) throw new Error(faults.join('\n'))
await browser.close()
await server.stop()

const total = Object.values(sizes).reduce((sum, size) => sum + size, 0)
const [kilobytes, script, styles, typeface] = [total, sizes.script, sizes.styles, sizes.typeface].map((size) =>
  size.toFixed(0),
)
console.log(`
The first load of a list takes ${kilobytes} kB over the wire: ${script} kB of script, ${styles} kB of styles and ${typeface} kB for the typeface.

| ${MANY.toLocaleString('en-US')} organizations | load ${loadavg()[0]!.toFixed(1)} |
|---|---|
| First load until the first row, median | ${seconds(quantile(first, 0.5))} |
| Reload until the first row, median | ${seconds(quantile(again, 0.5))} |
| Next page, median | ${seconds(quantile(turned, 0.5))} |
| Keys and clicks until the next paint, median | ${seconds(quantile(inputs, 0.5))} |
| 95 of 100 keys and clicks | ${seconds(quantile(inputs, 0.95))} |
| The slowest | ${seconds(quantile(inputs, 1))} |`)

interface Sizes {
  /** Kilobytes as they are sent. */
  readonly script: number
  readonly styles: number
  readonly typeface: number
}

function seconds(ms: number): string {
  return ms < 200 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** A tab whose session is open already, at the list. */
async function open(browser: Awaited<ReturnType<typeof startBrowser>>) {
  const tab = await browser.open()
  await tab.page.addInitScript((session) => sessionStorage.setItem('tildebase.session', session), sessionText())
  await tab.page.goto(list)
  return tab
}

function sessionText(): string {
  return JSON.stringify({ tenant: 'bench', key: KEY })
}

/** Milliseconds from the start of the navigation to the first row. */
async function firstRow(page: Awaited<ReturnType<typeof open>>['page']): Promise<number> {
  await page.locator('tbody tr .title').first().waitFor()
  return page.evaluate(() => performance.now())
}

/** Milliseconds from the key to the rows of the next page, as the page itself sees it. */
async function turn(sheet: number): Promise<number> {
  await page.evaluate(
    (text) => {
      const look = (began: number, done: (ms: number) => void) => {
        if (document.querySelector('.pager')?.textContent?.includes(text)) done(performance.now() - began)
        else requestAnimationFrame(() => look(began, done))
      }
      const turned = new Promise<number>((done) => {
        addEventListener('keydown', () => look(performance.now(), done), { once: true, capture: true })
      })
      Object.assign(globalThis, { turned })
    },
    `${((sheet - 1) * 25 + 1).toLocaleString('en-US')}–`,
  )
  await page.keyboard.press(']')
  return page.evaluate(() => (globalThis as unknown as { turned: Promise<number> }).turned)
}

function tell(what: string, ms: readonly number[]): void {
  const [median, most, slowest] = [0.5, 0.95, 1].map((part) => quantile(ms, part).toFixed(0))
  console.log(`${what}: median ${median} ms, 95 of 100 within ${most} ms, slowest ${slowest} ms`)
}

function organization(n: number): object {
  return { name: `Company ${String(n).padStart(6, '0')}`, employeeCount: n, city: `City ${n % 500}` }
}
