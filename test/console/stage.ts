import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { BROWSER, type Browser, type Device, startBrowser, type Tab } from './browser.ts'
import { writeYear } from './year.ts'

const CONSOLE = join(import.meta.dirname, '../../packages/console')

/** A host with a year of `acme`, the console as its sources are now, and a browser in front of it. */
export interface Stage {
  readonly host: TestHost
  readonly browser: Browser
  /** A tab that has opened `acme` at a path, with its own key. */
  enter(path?: string, options?: EnterOptions): Promise<Tab>
}

interface EnterOptions {
  readonly scopes?: string
  readonly key?: string
  readonly tenant?: string
  readonly size?: { readonly width: number; readonly height: number }
}

/** A stage that its opener stops. */
export interface OpenStage extends Stage {
  stop(): Promise<void>
}

/**
 * A stage for the tests of a file or a `describe`: opened before the first and stopped after the last. After each test the
 * tabs are closed, and a fault in one of them fails the test.
 */
export function useStage(device: Device = {}): Stage {
  let stage: OpenStage | undefined
  const opened = (): Stage => {
    if (stage === undefined) throw new Error('The stage is open in tests and hooks only.')
    return stage
  }
  if (BROWSER !== null) {
    beforeAll(async () => {
      stage = await openStage(device)
    })
    afterEach(async () => expect(await stage?.browser.closeTabs()).toEqual([]))
    afterAll(() => stage?.stop())
  }
  return {
    get host() {
      return opened().host
    },
    get browser() {
      return opened().browser
    },
    enter: (...given) => opened().enter(...given),
  }
}

export async function openStage(device: Device = {}, env: Readonly<Record<string, string>> = {}): Promise<OpenStage> {
  await buildIfStale()
  const data = mkdtempSync(join(tmpdir(), 'tildebase-console-'))
  giveYear(data)
  const host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1', ...env }, { data })
  const browser = await startBrowser(device)
  return {
    host,
    browser,
    async enter(path = '', { scopes = 'admin:all', tenant = 'acme', key, size } = {}) {
      const tab = await browser.open(size)
      // The page begins with the key, as one that is loaded again. Drawing the key box before each test is not necessary.
      const session = JSON.stringify({ tenant, key: key ?? (await host.key(tenant, scopes)) })
      const kept = await tab.page.addInitScript((text) => sessionStorage.setItem('tildebase.session', text), session)
      await tab.page.goto(`${host.url}/console#/~${tenant}/${path}`)
      await kept.dispose()
      await isOpen(tab)
      // From now on the key is in memory only, as one from the key box.
      await tab.page.evaluate(() => sessionStorage.removeItem('tildebase.session'))
      return tab
    },
    async stop() {
      await browser.close()
      await host.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** The files of the year by their paths, once a stage of this process needed them. */
let year: ReadonlyMap<string, Buffer> | undefined

/** Puts the year into a folder. It is written once for all stages of a process: each of its thousand commits is synced. */
function giveYear(data: string): void {
  if (year === undefined) {
    writeYear(data)
    const files = globSync('**/*.db', { cwd: data })
    year = new Map(files.map((name) => [name, readFileSync(join(data, name))]))
    return
  }
  for (const [name, content] of year) {
    mkdirSync(dirname(join(data, name)), { recursive: true })
    writeFileSync(join(data, name), content)
  }
}

/** Builds the console when its sources are newer than what is built: files that test it side by side seldom have to. */
async function buildIfStale(): Promise<void> {
  const sources = globSync(['index.html', 'vite.config.ts', '{src,style,public}/**/*.*'], { cwd: CONSOLE })
  const newest = Math.max(...sources.map((name) => changedAt(join(CONSOLE, name))))
  if (changedAt(join(CONSOLE, 'dist/index.html')) >= newest) return
  // Loading Vite takes a quarter of a second of CPU time, and hardly any process of tests has to build.
  const { build } = await import('vite')
  await build({ root: CONSOLE, logLevel: 'error', build: { emptyOutDir: false } })
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Pastes a key into the key box and waits until the tenant is open. */
export async function giveKey({ page }: Pick<Tab, 'page'>, key: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Open' }).click()
  await isOpen({ page })
}

async function isOpen({ page }: Pick<Tab, 'page'>): Promise<void> {
  await page.locator('main#main :is(h1, .empty)').first().waitFor()
}
