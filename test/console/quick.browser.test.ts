import { describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

/** A key, a text for the field that has the focus, or a click. */
type Step = string | { readonly input: string } | { readonly click: string }

/**
 * Input that comes faster than the screen is drawn: the console renders in microtasks, and nothing is painted before the next
 * task. Returns what has the focus then; what happens after the paint has happened when it returns.
 */
async function quickly(page: Tab['page'], steps: readonly Step[]): Promise<string | null> {
  return page.evaluate(async (steps) => {
    for (const step of steps) {
      const target = document.activeElement ?? document.body
      if (typeof step === 'string') {
        const isMod = step.startsWith('mod+')
        const key = isMod ? step.slice('mod+'.length) : step
        const about = { key, ctrlKey: isMod, bubbles: true, cancelable: true, composed: true }
        target.dispatchEvent(new KeyboardEvent('keydown', about))
      } else if ('input' in step) {
        ;(target as HTMLInputElement).value = step.input
        target.dispatchEvent(new InputEvent('input', { bubbles: true }))
      } else document.querySelector<HTMLElement>(step.click)!.click()
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    }
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    const focused = document.activeElement
    for (let n = 0; n < 3; n++) await frame()
    if (focused !== document.activeElement) return 'the focus moved after the paint'
    return focused?.getAttribute('type') ?? focused?.tagName.toLowerCase() ?? null
  }, steps)
}

describe.skipIf(BROWSER === null)('input that comes before the next paint', () => {
  const list = async (path = 'Contact') => {
    const { page } = await stage.enter(path)
    await page.locator('tbody tr.active').waitFor()
    return page
  }
  const asks = (page: Tab['page']) => page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor()

  test('finds the keys of the page again after a window that opened and closed', async () => {
    const page = await list()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    expect(await quickly(page, ['?', 'Escape', '/'])).toBe('search')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('is not dropped without a question by a window', async () => {
    const { page } = await stage.enter('keys')
    await page.getByRole('button', { name: 'New key' }).waitFor()

    await quickly(page, [{ click: '.head button.primary' }, { input: 'Robot' }, 'Escape'])

    await asks(page)
  })

  test('is not dropped without a question by an edited row', async () => {
    const page = await list()

    await quickly(page, ['e', { input: 'Another name' }, 'Escape'])

    await asks(page)
  })

  test('keeps the focus that a key gave after the edit of a row', async () => {
    const page = await list()

    expect(await quickly(page, ['e', 'Escape', '/'])).toBe('search')
  })

  test('keeps the focus that a key gave after the edit of a field', async () => {
    const page = await list()
    await page.keyboard.press('Enter')
    await page.locator('.edit-fact').first().waitFor()

    expect(await quickly(page, [{ click: '.edit-fact' }, 'Escape', 't'])).toBe('range')
  })

  test('opens the row that is active, and leads back to it', async () => {
    const page = await list()
    const third = (await page.locator('tbody .title').nth(2).textContent())!

    await quickly(page, ['j', 'j', 'Enter'])
    await page.getByRole('heading', { name: third, level: 1 }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('tr.active', { hasText: third }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: third, level: 1 }).waitFor()
    await quickly(page, ['Escape', 'Enter'])

    await page.getByRole('heading', { name: third, level: 1 }).waitFor()
  })

  test('keeps the focus that a key gave on another page', async () => {
    const page = await list()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'History' }).waitFor()

    expect(await quickly(page, ['Escape', '/'])).toBe('search')
  })

  test('goes into the form that a command opens', async () => {
    const page = await list()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await quickly(page, ['mod+k', { input: 'new contact' }, 'Enter', { input: 'Ned' }])

    expect(await page.getByRole('dialog', { name: 'New contact' }).getByLabel('Name required').inputValue()).toBe('Ned')
  })

  test('waits for a window that loads, and starts no command of the page below', async () => {
    let arrive = () => {}
    const way = new Promise<void>((done) => {
      arrive = done
    })
    const page = await list()
    await page.route(/assets\/palette/, async (route) => {
      await way
      await route.continue()
    })

    await page.keyboard.press('Control+k')
    await page.keyboard.type('new e')
    arrive()

    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    expect(await page.getByRole('combobox', { name: 'Search and commands' }).inputValue()).toBe('new e')
    expect(await page.locator('tr.editing').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(1)
  })

  test('chooses nothing that was found for other words', async () => {
    const page = await list()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('kath')
    await page.getByRole('option', { name: 'Katherine Coleman' }).first().waitFor()

    await quickly(page, [{ input: 'lumen' }, 'Enter'])

    await page.getByRole('option', { name: 'Lumen Energy' }).first().waitFor()
    expect(page.url()).toMatch(/\/~acme\/Contact$/)
  })

  test('chooses the relation that is written, and creates no second one', async () => {
    const count = async () => (await stage.host.request('GET', '/~acme/Organization/count')).body.count
    const before = await count()
    const page = await list('Deal')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    await page.getByLabel('Field', { exact: true }).selectOption('organization')
    const picker = page.getByRole('combobox', { name: 'Value' })
    await picker.click()
    await page.locator('.suggestions .option').first().waitFor()

    await quickly(page, [{ input: 'Lumen Energy' }, 'Enter'])

    await expect.poll(() => page.getByTestId('query-json').textContent()).toContain('organization_')
    expect(await picker.inputValue()).toBe('Lumen Energy')
    expect(await count()).toBe(before)
  })
})
