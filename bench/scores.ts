import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BROWSER, type Tab } from '../test/console/browser.ts'
import { openStage } from '../test/console/stage.ts'
import { authorizePath, pkce, register } from '../test/people/agents.ts'
import { invite, person } from '../test/people/people.ts'

/**
 * The score for performance that Lighthouse computes, for pages of people who are signed in: its curves and weights
 * (version 10 and later), over what Chromium measures with the network and the processor of its two presets. The time
 * of the largest content takes the place of its Speed Index, which needs a film: it is never earlier. Run
 * `npm run build:console` first, then `npm run bench -- scores`.
 */
const RUNS = Number(process.argv[2] ?? 3)
const SETTLED_MS = 4_000

interface Preset {
  readonly name: string
  readonly size: { readonly width: number; readonly height: number }
  readonly latencyMs: number
  readonly bytesPerSecond: number
  readonly slowdown: number
  /** The values of the curves that get 90 and 50 of 100, in the order of WEIGHTS. */
  readonly curves: readonly (readonly [number, number])[]
}

const PRESETS: readonly Preset[] = [
  {
    name: 'telephone',
    size: { width: 412, height: 823 },
    latencyMs: 562.5,
    bytesPerSecond: 184_320,
    slowdown: 4,
    curves: [[1_800, 3_000], [3_387, 5_800], [2_500, 4_000], [200, 600], [0.1, 0.25]], // biome-ignore format: a table
  },
  {
    name: 'desktop',
    size: { width: 1350, height: 940 },
    latencyMs: 40,
    bytesPerSecond: 1_310_720,
    slowdown: 1,
    curves: [[934, 1_600], [1_311, 2_300], [1_200, 2_400], [150, 350], [0.1, 0.25]], // biome-ignore format: a table
  },
]
/** First paint, Speed Index, largest content, blocked time, shifts of the layout. */
const WEIGHTS = [0.1, 0.1, 0.25, 0.3, 0.25]

if (BROWSER === null) throw new Error('There is no Chromium. Set TILDE_BROWSER to one.')
const stage = await openStage()
const { host } = stage
const ada = await person(host, 'acme', { name: 'Ada Byron', email: 'ada@example.com', role: 'Admin' })
const [cookieName = '', cookie = ''] = ada.cookie.split('=', 2)
const pages = await addresses()

console.log(`| page | ${PRESETS.map(({ name }) => `${name}: score, paint, content, blocked, shift`).join(' | ')} |`)
console.log(`|---|${PRESETS.map(() => '---|').join('')}`)
for (const [name, address] of Object.entries(pages)) {
  const cells: string[] = []
  for (const preset of PRESETS) {
    const runs: Seen[] = []
    for (let run = 0; run < RUNS; run++) runs.push(await look(await address(), preset))
    const best = runs.sort((a, b) => scoreOf(a, preset) - scoreOf(b, preset))[(RUNS - 1) / 2]!
    const [paint, , content, blocked, shift] = best
    cells.push(`${scoreOf(best, preset)}, ${paint} ms, ${content} ms, ${blocked} ms, ${shift}`)
  }
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}
console.log(`\nThe median of ${RUNS} runs, load ${loadavg()[0]!.toFixed(1)}`)
await stage.stop()

/** What is measured, in the order of WEIGHTS. */
type Seen = readonly [number, number, number, number, number]

/** Opens a page with nothing in its cache, and measures until it is quiet. */
async function look(address: string, { size, latencyMs, bytesPerSecond, slowdown }: Preset): Promise<Seen> {
  const { page } = await stage.browser.open(size)
  await page.context().addCookies([{ name: cookieName, value: cookie, url: host.url }])
  const debug = await page.context().newCDPSession(page)
  await debug.send('Network.enable')
  await debug.send('Network.clearBrowserCache')
  await debug.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond / 2,
  })
  await debug.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await page.addInitScript(() => {
    const seen = { content: 0, shift: 0, blocks: [] as { from: number; ms: number }[] }
    Object.assign(globalThis, { seen })
    const on = (type: string, take: (entry: any) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
    on('largest-contentful-paint', ({ startTime }) => {
      seen.content = startTime
    })
    on('layout-shift', ({ value, hadRecentInput }) => {
      if (!hadRecentInput) seen.shift += value
    })
    on('longtask', ({ startTime, duration }) => seen.blocks.push({ from: startTime, ms: duration }))
  })
  await page.goto(address)
  await page.locator('h1').first().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  await page.waitForTimeout(SETTLED_MS)
  const seen = await measured(page)
  await page.close()
  return seen
}

function measured(page: Tab['page']): Promise<Seen> {
  return page.evaluate(() => {
    const { seen } = globalThis as unknown as {
      seen: { content: number; shift: number; blocks: { from: number; ms: number }[] }
    }
    const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0
    const blocked = seen.blocks.filter(({ from }) => from >= paint).reduce((sum, { ms }) => sum + ms - 50, 0)
    const content = Math.round(seen.content)
    return [Math.round(paint), content, content, Math.round(blocked), Number(seen.shift.toFixed(3))] as const
  })
}

function scoreOf(seen: Seen, { curves }: Preset): number {
  const sum = WEIGHTS.reduce((all, weight, n) => all + weight * shareOf(seen[n]!, ...curves[n]!), 0)
  return Math.round(sum * 100)
}

/** The share of 1 that a value gets: the complement of a log-normal distribution through two points. */
function shareOf(value: number, most: number, median: number): number {
  if (value <= 0) return 1
  // The 90th percentile of the standard normal distribution.
  const spread = Math.log(median / most) / 1.2815515655446004
  const x = (Math.log(value) - Math.log(median)) / spread
  return 1 - normal(x)
}

/** The standard normal distribution, by an approximation of Abramowitz and Stegun (26.2.17). */
function normal(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x))
  const tail =
    (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) *
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))) // biome-ignore format: one formula
  return x >= 0 ? 1 - tail : tail
}

async function addresses(): Promise<{ readonly [name: string]: () => Promise<string> }> {
  const ask = async (path: string) => (await host.request('GET', `/~acme/${path}`)).body.results[0]
  const at = (path: string) => async () => `${host.url}${path}`
  await host.request('PUT', '/~acme/schema/Dashboard', { name: 'string!', tiles: 'json', shared: 'boolean' })
  const tiles = [
    { source: 'count', of: 'Deal', group: 'stage' },
    { source: 'metric', of: 'pipeline' },
    { source: 'metric', of: 'mrr' },
  ]
  const { body: dashboard } = await host.request('POST', '/~acme/Dashboard', { name: 'Sales', tiles, shared: true })
  const { $id } = await ask('Contact?limit=1')
  const event = await ask('Event?limit=1')
  const client = await register(host, 'acme', { client_name: 'An agent' })
  let invited = 0
  return {
    home: at('/console#/~acme'),
    list: at('/console#/~acme/Deal'),
    entity: at(`/console#/~acme/Contact/${$id}`),
    dashboard: at(`/console#/~acme/dashboards/${dashboard.$id}`),
    'sign-in': at('/~acme/sign-in'),
    consent: async () =>
      host.url +
      (await authorizePath('acme', { client_id: client, code_challenge: pkce().challenge, scope: 'read:crm' })),
    invitation: async () => {
      const token = await invite(host, 'acme', { name: 'Alan', email: `alan${++invited}@example.com`, role: 'Member' })
      return `${host.url}/~acme/invitation#${token}`
    },
    proof: async () => {
      const { text } = await host.request('GET', `/~acme/proof/${event.$id}?format=html`)
      const path = join('/tmp', 'tildebase-proof.html')
      writeFileSync(path, text)
      return pathToFileURL(path).href
    },
  }
}
