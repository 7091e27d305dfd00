import { describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

/** A key, a text for the field that has the focus, or a click. */
type Step = string | { readonly input: string } | { readonly click: string }

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body

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

/** Holds the writes to an address until they are released. */
async function hold(page: Tab['page'], address: string): Promise<{ release(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (route.request().method() !== 'GET') await promise
    await route.continue()
  })
  return { release: resolve }
}

describe.skipIf(BROWSER === null)('input that comes before an answer', () => {
  test('is in a list that was asked for before it', async () => {
    const { page, faults } = await stage.browser.open()
    // Without the stream nothing else tells of the change.
    await page.route(/\/events/, (route) => route.abort())
    await page.goto(`${stage.host.url}/console#/~acme/settings`)
    await giveKey({ page }, await stage.host.key('acme', 'admin:all'))
    const { promise, resolve } = Promise.withResolvers<void>()
    let isFirst = true
    await page.route('**/~acme/Campaign?*', async (route) => {
      if (!isFirst) return route.continue()
      isFirst = false
      const response = await route.fetch()
      await promise
      await route.fulfill({ response })
    })
    await page.goto(`${stage.host.url}/console#/~acme/Campaign`)
    await page.getByRole('button', { name: 'New campaign' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Quick campaign')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByText('Quick campaign created.').waitFor()
    resolve()

    await page.getByRole('link', { name: 'Quick campaign' }).waitFor()
    faults.length = 0
  })

  test('a list shows what others write without a pause, and does not stay busy', async () => {
    const write = async (number: number) =>
      stage.host.request('POST', '/~rush/Deal', { name: `Deal ${number}`, value: number, currency: 'eur' })
    await write(1)
    const { page } = await stage.browser.open()
    let noticed = 0
    let last = 1
    let isWriting = false
    // The sums at the foot are asked for with every change that the page learns of.
    page.on('request', (request) => {
      if (request.url().includes('/~rush/Deal/aggregate')) noticed += 1
    })
    await page.route('**/~rush/Deal?*', async (route) => {
      const before = noticed
      await expect.poll(() => !isWriting || noticed > before + 2).toBe(true)
      await route.continue()
    })
    await page.goto(`${stage.host.url}/console#/~rush/Deal?sort=-$createdAt`)
    await giveKey({ page }, await stage.host.key('rush', 'admin:all'))
    await page.getByRole('link', { name: 'Deal 1', exact: true }).waitFor()
    await page.locator('tfoot').waitFor()

    isWriting = true
    const writing = (async () => {
      while (isWriting) await write(++last)
    })()
    try {
      await page.getByRole('link', { name: 'Deal 1', exact: true }).waitFor({ state: 'detached' })
      await expect.poll(() => page.locator('.scroll[aria-busy=true]').count()).toBe(0)
    } finally {
      isWriting = false
      await writing
    }

    await page.getByRole('link', { name: `Deal ${last}`, exact: true }).waitFor()
  })

  test('the page may be left while a row or a note is being saved, and it is saved once', async () => {
    const { $id } = await make('Contact', { name: 'Slow Row' })
    const { page } = await stage.enter('Contact?text=Slow')
    await page.getByRole('link', { name: 'Slow Row' }).waitFor()
    await page
      .locator('tbody tr')
      .first()
      .dblclick({ position: { x: 200, y: 8 } })
    await page.locator('tr.editing').getByLabel('Name').fill('Slow Row, saved')
    const held = await hold(page, `**/~acme/Contact/${$id}`)
    await page.locator('tr.editing').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Deals' }).click()
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
    held.release()
    await expect.poll(async () => (await read('Contact', $id)).name).toBe('Slow Row, saved')

    await page.goto(`${stage.host.url}/console#/~acme/Contact/${$id}`)
    const notes = await hold(page, '**/~acme/Comment')
    await page.getByLabel('New note').fill('Once.')
    await page.getByLabel('New note').press('Control+Enter')
    await page.getByLabel('New note').press('Control+Enter')
    await page.getByRole('link', { name: 'Deals' }).click()
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
    notes.release()
    await page.getByText('Note added.').waitFor()
    await page.goBack()
    await page.locator('.comments').getByText('Once.').waitFor()

    expect(await page.locator('.comments li').count()).toBe(1)
    expect(await page.getByLabel('New note').inputValue()).toBe('')
  })

  test('Escape asks nothing while a row, a field or a form is being saved', async () => {
    const { $id } = await make('Contact', { name: 'Busy Row' })
    const { page } = await stage.enter('Contact?text=Busy')
    const question = page.getByRole('dialog', { name: 'Discard your changes?' })
    const address = `**/~acme/Contact/${$id}`
    const escapeWhileHeld = async (held: string, save: () => Promise<void>) => {
      const { release } = await hold(page, held)
      await save()
      await page.getByText('Saving…').waitFor()
      await page.keyboard.press('Escape')
      expect(await question.count()).toBe(0)
      release()
    }
    await page.getByRole('link', { name: 'Busy Row' }).waitFor()

    await page
      .locator('tbody tr')
      .first()
      .dblclick({ position: { x: 200, y: 8 } })
    await page.locator('tr.editing').getByLabel('Name').fill('Busy Row, saved')
    await escapeWhileHeld(address, () => page.locator('tr.editing').getByRole('button', { name: 'Save' }).click())
    await page.getByText('Busy Row, saved saved.').waitFor()
    await page.locator('tr.editing').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Busy Row, saved' }).click()
    await page.getByRole('button', { name: 'Edit name' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Busy Field')
    await escapeWhileHeld(address, () => page.keyboard.press('Enter'))
    await page.getByRole('heading', { name: 'Busy Field' }).waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Name required').fill('Busy Form')
    await escapeWhileHeld(address, () => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click())
    await page.getByRole('heading', { name: 'Busy Form' }).waitFor()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)

    expect(await read('Contact', $id)).toMatchObject({ name: 'Busy Form', $version: 4 })
  })

  test('another row can be edited while one is being saved, and stays open when it is', async () => {
    const { $id } = await make('Contact', { name: 'Overlap One' })
    await make('Contact', { name: 'Overlap Two' })
    const { page } = await stage.enter('Contact?text=Overlap&sort=name')
    const edited = page.locator('tr.editing').getByLabel('Name')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
    const edit = (row: number) =>
      page
        .locator('tbody tr')
        .nth(row)
        .dblclick({ position: { x: 200, y: 8 } })

    await edit(0)
    await edited.fill('Overlap 1')
    const held = await hold(page, `**/~acme/Contact/${$id}`)
    await page.locator('tr.editing').getByRole('button', { name: 'Save' }).click()
    await edit(1)
    await expect.poll(() => edited.inputValue()).toBe('Overlap Two')
    held.release()
    await page.getByText('Overlap 1 saved.').waitFor()

    expect(await edited.inputValue()).toBe('Overlap Two')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('changes that follow each other faster than they are saved ask nothing, and the last one counts', async () => {
    const { $id } = await make('Activity', { subject: 'Moved twice', dueAt: '2026-04-08T09:30:00.000Z' })
    const { page } = await stage.enter('Activity?layout=calendar&month=2026-04')
    const waiting: (() => void)[] = []
    let isHeld = true
    await page.route(`**/~acme/Activity/${$id}`, async (route) => {
      if (isHeld && route.request().method() === 'PUT') await new Promise<void>((done) => waiting.push(done))
      await route.continue()
    })
    const dueAt = async () => (await read('Activity', $id)).dueAt

    await page.getByRole('link', { name: 'Moved twice' }).focus()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => waiting.length).toBe(2)
    isHeld = false
    waiting[0]!()
    await expect.poll(dueAt).toBe('2026-04-15T09:30:00.000Z')
    waiting[1]!()

    await expect.poll(dueAt).toBe('2026-04-09T09:30:00.000Z')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('tiles that are moved while another change of the dashboard is being saved stay where they are', async () => {
    const { page } = await stage.enter('dashboards')
    await page.getByRole('button', { name: 'New dashboard' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Arranged')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Arranged', level: 1 }).waitFor()
    const titles = () => page.locator('.tile h2').allTextContents()
    await expect.poll(titles).toEqual(['Deals by stage', 'Pipeline', 'MRR'])
    const move = async () => {
      await page.getByRole('button', { name: 'Actions for MRR' }).click()
      await page.getByRole('menuitem', { name: 'Move left' }).click()
    }

    const held = await hold(page, '**/~acme/Dashboard/*')
    await move()
    await page.getByText('Saving…').waitFor()
    await move()
    held.release()
    const saved = async () =>
      (await stage.host.request('GET', '/~acme/Dashboard?name=Arranged')).body.results[0].tiles.map(
        ({ source, of }: { source: string; of: string }) => `${source} ${of}`,
      )
    await expect.poll(saved).toEqual(['metric mrr', 'count Deal', 'metric pipeline'])
    await page.getByText('Saving…').waitFor({ state: 'detached' })

    expect(await titles()).toEqual(['MRR', 'Deals by stage', 'Pipeline'])
    expect(await page.locator('.toast.bad').count()).toBe(0)
  })
})
