import { describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

/** A tab with a person's cookie, and the paths that it has asked for. */
async function signedIn(email: string) {
  const { cookie } = await person(stage.host, 'acme', { name: 'Early Bird', email, role: 'Admin' })
  const { page } = await stage.browser.open()
  const [name, value] = cookie.split('=') as [string, string]
  await page.context().addCookies([{ name, value, url: stage.host.url }])
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const times = (path: string) => asked.filter((one) => one === path).length
  return { page, asked, times }
}

/** Keeps the program away from a page until it is released. */
async function hold(page: Tab['page']): Promise<() => void> {
  let release = () => {}
  const held = new Promise<void>((done) => {
    release = done
  })
  await page.route('**/first-*.js', async (route) => {
    await held
    await route.continue()
  })
  return release
}

describe.skipIf(BROWSER === null)('the first page', () => {
  test('asks for what it needs before its program is there, and asks once', async () => {
    const { page, asked, times } = await signedIn('early@example.com')
    const release = await hold(page)

    const opened = page.goto(`${stage.host.url}/console#/~acme`)
    const early = ['/~acme/session', '/~acme/status', '/~acme/schema']
    await expect.poll(() => early.filter((path) => asked.includes(path))).toEqual(early)
    await expect.poll(() => asked.some((path) => /assets\/daily-.*js$/.test(path))).toBe(true)
    release()
    await opened
    await page.locator('.domain').first().waitFor()

    expect(early.map(times)).toEqual([1, 1, 1])
  })

  test('shows its frame before its program is there, in the theme and the direction of the reader', async () => {
    const { page } = await signedIn('frame@example.com')
    await page.addInitScript(() =>
      localStorage.setItem('tildebase.preferences', JSON.stringify({ theme: 'dark', language: 'he' })),
    )
    const release = await hold(page)
    const opened = page.goto(`${stage.host.url}/console#/~acme`)
    const side = page.locator('.side')
    await side.waitFor()
    const first = (await side.elementHandle())!
    const atEnd = await side.evaluate((element) => element.getBoundingClientRect().right === innerWidth)
    const paper = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const spoken = await page.locator('body').ariaSnapshot()
    release()
    await opened
    await page.locator('.domain').first().waitFor()
    await page.evaluate(() => localStorage.clear())

    expect(atEnd).toBe(true)
    expect(paper).toBe('rgb(18, 19, 20)')
    expect(spoken).toBe('')
    // The program draws with the same elements, so nothing flashes.
    expect(await first.evaluate((element) => element.isConnected)).toBe(true)
    expect(await page.locator('.frame[aria-hidden], .burger[disabled]').count()).toBe(0)
  })

  test('has no frame where a key is asked for', async () => {
    const { page } = await stage.browser.open()
    const release = await hold(page)
    const opened = page.goto(`${stage.host.url}/console`)
    await page.locator('.frame').waitFor({ state: 'attached' })

    expect(await page.locator('.frame').isVisible()).toBe(false)
    release()
    await opened
    await page.getByLabel('Key', { exact: true }).waitFor()
    expect(await page.locator('#console > *').count()).toBe(1)
  })

  test('does not draw the way around again for what does not change it', async () => {
    const { page } = await signedIn('calm@example.com')
    await page.goto(`${stage.host.url}/console#/~acme/Deal`)
    await page.locator('tbody tr').first().waitFor()
    await page.locator('.side details', { hasText: 'Types without entries' }).waitFor()
    // Each way that is drawn writes an address.
    await page.evaluate(() => {
      const Native = URLSearchParams
      Object.assign(globalThis, { written: 0 })
      globalThis.URLSearchParams = class extends Native {
        constructor(...given: ConstructorParameters<typeof Native>) {
          super(...given)
          ;(globalThis as any).written++
        }
      }
    })

    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()

    expect(await page.evaluate(() => (globalThis as any).written)).toBe(0)
  })

  test('of a tenant asks in one request for all that waits for a person', async () => {
    const { page, times } = await signedIn('waits@example.com')
    const bodies: string[] = []
    page.on('request', (request) => bodies.push(request.postData() ?? ''))

    await page.goto(`${stage.host.url}/console#/~acme`)
    await page.locator('.domain').first().waitFor()
    await page.getByRole('heading', { name: 'Latest' }).waitFor()

    expect(['/~acme/asks', '/~acme/Changeset', '/~acme/Comment'].map(times)).toEqual([0, 0, 0])
    const waiting = bodies.filter((body) => body.includes('"/asks"'))
    expect(waiting).toHaveLength(1)
    expect(waiting[0]).toContain('"/Changeset"')
    expect(waiting[0]).toContain('"/Comment"')
  })

  test('of dashboards asks for them before its program is there, and asks once', async () => {
    await stage.host.request('PUT', '/~acme/schema/Dashboard', { name: 'string!', tiles: 'json', shared: 'boolean' })
    const tiles = [{ source: 'count', of: 'Deal' }]
    await stage.host.request('POST', '/~acme/Dashboard', { name: 'Asked early', tiles, shared: true })
    const { page, times } = await signedIn('tiles@example.com')
    const release = await hold(page)

    const opened = page.goto(`${stage.host.url}/console#/~acme/dashboards`)
    await expect.poll(() => times('/~acme/Dashboard')).toBe(1)
    release()
    await opened
    await page.locator('.tile-number').waitFor()

    expect(times('/~acme/Dashboard')).toBe(1)
  })

  test('of a list draws the rows in sight first and measures no columns on a telephone', async () => {
    const { page } = await signedIn('narrow@example.com')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.addInitScript(() => {
      const drawings: number[] = []
      Object.assign(globalThis, { drawings })
      // It is called after each task that draws.
      new MutationObserver(() => {
        const rows = document.querySelectorAll('tbody tr').length
        if (rows > 0 && rows !== drawings.at(-1)) drawings.push(rows)
      }).observe(document, { childList: true, subtree: true })
      const { get } = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'offsetWidth')!
      Object.assign(globalThis, { measured: 0 })
      Object.defineProperty(HTMLElement.prototype, 'offsetWidth', {
        get() {
          if (this.localName === 'th') (globalThis as any).measured++
          return get!.call(this)
        },
      })
    })

    await page.goto(`${stage.host.url}/console#/~acme/Deal`)
    await page.locator('tbody tr').nth(24).waitFor()
    expect(await page.evaluate(() => (globalThis as any).drawings)).toEqual([9, 18, 25])
    expect(await page.evaluate(() => (globalThis as any).measured)).toBe(0)
    await page.setViewportSize({ width: 1280, height: 844 })

    await expect.poll(() => page.evaluate(() => (globalThis as any).measured)).toBeGreaterThan(0)
    const side = (name: string) =>
      page
        .locator(`tbody .${name}`)
        .first()
        .evaluate((one) => one.clientWidth)
    const start = await page
      .locator('.table-box')
      .evaluate((box) => getComputedStyle(box).getPropertyValue('--frozen-0'))
    expect(Math.abs(Number.parseFloat(start) - (await side('select')))).toBeLessThan(2)
  })

  test('of a list does not load the pages that it does not show', async () => {
    const { page, asked } = await signedIn('late@example.com')

    await page.goto(`${stage.host.url}/console#/~acme/Deal`)
    await page.locator('tbody tr').first().waitFor()

    expect(asked.filter((path) => path.includes('/daily-'))).toEqual([])
  })

  test('forgets what was asked for without a session, so that a key gets its own answers', async () => {
    const { page } = await stage.browser.open()
    await page.context().clearCookies()
    await page.goto(`${stage.host.url}/console#/~acme`)
    await page.getByLabel('Key', { exact: true }).fill(await stage.host.key('acme', 'read:all'))
    await page.getByRole('button', { name: 'Open' }).click()

    await page.locator('.domain').first().waitFor()

    expect(await page.evaluate(() => (globalThis as { early?: Map<string, unknown> }).early?.size)).toBe(0)
  })
})
