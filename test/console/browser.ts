import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

const PROGRAMS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // A tab of each test does not start a process of its own: a fifth less CPU time.
  '--renderer-process-limit=1',
]

/** The browser of this machine, or null when there is none. */
export const BROWSER = process.env.TILDE_BROWSER ?? PROGRAMS.find((path) => existsSync(path)) ?? null

export interface Tab {
  readonly page: Page
  /** What went wrong in the page: errors, refusals of the content policy, requests to elsewhere. */
  readonly faults: string[]
}

const CLOSING_MS = 10_000

export interface Browser {
  open(size?: { readonly width: number; readonly height: number }): Promise<Tab>
  /** Closes all tabs and returns what went wrong in them. */
  closeTabs(): Promise<string[]>
  close(): Promise<void>
}

export interface Device {
  readonly dark?: boolean
  /** Whether it has a touch screen and no mouse, as a telephone. */
  readonly touch?: boolean
}

/** Starts a browser with its own profile that may reach nothing but this machine. */
export async function startBrowser({ dark = false, touch = false }: Device = {}): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'tildebase-browser-'))
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER!,
    args: FLAGS,
    headless: true,
    colorScheme: dark ? 'dark' : 'light',
    hasTouch: touch,
    isMobile: touch,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  // As long as `expect.poll` waits: on a machine with five times its load, the longest page takes more than 15 seconds.
  context.setDefaultTimeout(30_000)
  const tabs = new Set<Tab>()
  return {
    async open(size = { width: 1280, height: 860 }) {
      const page = await context.newPage()
      await page.setViewportSize(size)
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('console', (message) => {
        // The page reports 4xx answers itself; the browser logs them too.
        const repeated = /^Failed to load resource/.test(message.text())
        if (message.type() === 'error' && !repeated) faults.push(message.text())
      })
      page.on('request', (request) => {
        if (!/^(http:\/\/(127\.0\.0\.1|localhost):|blob:|data:)/.test(request.url()))
          faults.push(`asked ${request.url()}`)
      })
      const tab = { page, faults }
      tabs.add(tab)
      return tab
    },
    async closeTabs() {
      const closing = [...tabs]
      tabs.clear()
      await context.setOffline(false)
      // Now and then the browser does not report that a tab is closed. It goes with its context.
      await Promise.all(
        closing.map(({ page }) => Promise.race([page.close(), pause(CLOSING_MS, undefined, { ref: false })])),
      )
      return closing.flatMap(({ faults }) => faults)
    },
    async close() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
