import type { CDPSession, Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { person } from '../people/people.ts'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'
import { smallTargets } from './targets.ts'

const TELEPHONE = { width: 360, height: 740 }

interface Point {
  readonly x: number
  readonly y: number
}

const stage = useStage({ touch: true })
let fingers: CDPSession

const enter = async (path: string) => {
  const { page } = await stage.enter(path, { size: TELEPHONE })
  fingers = await page.context().newCDPSession(page)
  return page
}
const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => (await stage.host.request('GET', `/~acme/${type}/${id}`)).body

/** One finger on the glass, as the browser gets it from the screen. */
const press = (at: Point) => fingers.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
const lift = () => fingers.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
async function slide(from: Point, to: Point, steps = 5): Promise<void> {
  for (let step = 1; step <= steps; step++) {
    const part = (a: number, b: number) => Math.round(a + ((b - a) * step) / steps)
    const at = { x: part(from.x, to.x), y: part(from.y, to.y) }
    await fingers.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [at] })
  }
}
async function middleOf(place: Locator): Promise<Point> {
  await place.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await place.boundingBox())!
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) }
}

describe.skipIf(BROWSER === null)('on a touch screen, 360 pixels wide', () => {
  test('a card that is held and moved to the edge goes to a column out of sight, and its verb runs', async () => {
    const { $id } = await make('Deal', { name: 'Held deal', value: 100, currency: 'EUR' })
    const page = await enter('Deal?layout=board')
    const board = page.locator('.board')
    const lost = page.getByRole('region', { name: 'Lost', exact: true })
    const from = await middleOf(page.getByRole('listitem').filter({ hasText: 'Held deal' }))
    const edge = { x: TELEPHONE.width - 14, y: from.y }
    expect((await lost.boundingBox())!.x).toBeGreaterThan(TELEPHONE.width)

    await press(from)
    await page.locator('.card.dragged').waitFor()
    await slide(from, edge)
    await expect
      .poll(() => board.evaluate((box) => box.scrollWidth - box.clientWidth - box.scrollLeft))
      .toBeLessThanOrEqual(1)
    const { x, width } = (await lost.boundingBox())!
    await slide(edge, { x: Math.round(x + width / 2), y: from.y })
    await page.locator('.board-column.over[data-word=Lost]').waitFor()
    await lift()
    await page.getByRole('dialog').getByLabel('Lost reason').fill('Too late')
    await page.getByRole('dialog').getByRole('button', { name: /^Lose/ }).tap()

    await lost.getByText('Held deal').waitFor()
    expect(await read('Deal', $id)).toMatchObject({ stage: 'Lost', lostReason: 'Too late' })
    expect(await page.locator('.card.ghost').count()).toBe(0)
  })

  test('a finger that moves at once scrolls the board, and moves no card', async () => {
    const page = await enter('Deal?layout=board')
    const board = page.locator('.board')
    const from = await middleOf(page.locator('.card').first())
    const before = await page.locator('.card .title').allTextContents()
    // On a busy machine the finger could be late, and would hold the card: time passes slowly in this page.
    await page.evaluate(() => {
      const { setTimeout } = window
      window.setTimeout = ((run: () => void, ms = 0) => setTimeout(run, ms * 100)) as typeof setTimeout
    })

    await press(from)
    await slide(from, { x: from.x - 150, y: from.y })
    await lift()

    await expect.poll(() => board.evaluate((box) => box.scrollLeft)).toBeGreaterThan(0)
    expect(await page.locator('.card.dragged').count()).toBe(0)
    expect(await page.locator('.card .title').allTextContents()).toEqual(before)
  })

  test('a tap opens the menu of a row, a tap beside it closes it, and a tap on an item runs it', async () => {
    const { $id } = await make('Contact', { name: 'Aaa Tapped', stage: 'Lead' })
    const page = await enter('Contact?sort=name')
    const actions = page.getByRole('button', { name: 'Actions for Aaa Tapped' })

    await actions.tap()
    await page.getByRole('menuitem', { name: 'Qualify' }).waitFor()
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('heading', { level: 1 }).tap()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await actions.tap()
    await page.getByRole('menuitem', { name: 'Qualify' }).tap()

    await page.getByText('Aaa Tapped qualified.').waitFor()
    expect(await read('Contact', $id)).toMatchObject({ stage: 'Qualified' })
  })

  test('a row is edited from its menu, and Save is in sight', async () => {
    const { $id } = await make('Contact', { name: 'Aaa Edited' })
    const page = await enter('Contact?sort=name')

    await page.getByRole('button', { name: 'Actions for Aaa Edited' }).tap()
    await page.getByRole('menuitem', { name: 'Edit row' }).tap()
    await page.locator('tr.editing input').first().fill('Aaa Changed')
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('row').getByLabel('Email').fill('aaa@example.com')
    await page.getByRole('button', { name: 'Save' }).tap()

    await page.getByRole('link', { name: 'Aaa Changed' }).waitFor()
    expect(await read('Contact', $id)).toMatchObject({ name: 'Aaa Changed', email: 'aaa@example.com' })
  })

  test('the editor of a type shows all of a field', async () => {
    await stage.host.request('PUT', '/~acme/schema/Raft', {
      name: 'string!',
      length: 'number',
      status: 'Out | Home = Home',
    })
    const page = await enter('types/Raft')

    for (const name of ['Choices of status', 'Index of status', 'Default of status'])
      await expect
        .poll(async () => {
          const input = (await page.getByLabel(name).boundingBox())!
          const table = (await page.locator('.lines-table').boundingBox())!
          return input.x >= table.x && input.x + input.width <= table.x + table.width
        })
        .toBe(true)
  })

  test('the buttons of a long form are in sight, and entries without a day have the whole width', async () => {
    const page = await enter('roles')
    await page.getByRole('button', { name: 'New role' }).tap()
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save' })
    await save.waitFor()
    const { y, height } = (await save.boundingBox())!
    expect(y + height).toBeLessThan(page.viewportSize()!.height)
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).tap()

    await page.goto(`${stage.host.url}/console#/~acme/Deal?layout=calendar`)

    const list = page.getByRole('region', { name: 'Without expected close date' }).getByRole('list')
    await expect.poll(async () => (await list.boundingBox())?.width ?? 0).toBeGreaterThan(320)
  })

  test('a finger on the slider travels in time, and another leads back', async () => {
    const page = await enter('Deal')
    const slider = page.getByRole('slider', { name: 'Time' })
    const { x, y, width, height } = (await slider.boundingBox())!
    const right = { x: Math.round(x + width - 8), y: Math.round(y + height / 2) }
    const left = { x: Math.round(x + width / 3), y: right.y }

    await press(right)
    await slide(right, left)
    await lift()

    await page.getByText('You are in the past').waitFor()
    expect(page.url()).toContain('asOf=')
    expect(Number(await slider.inputValue())).toBeLessThan(600)
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('button', { name: 'Now', exact: true }).tap()
    await page.getByText('You are in the past').waitFor({ state: 'detached' })
  })

  test('taps near a box select rows, and what is done with them fits the screen', async () => {
    for (const n of [1, 2]) await make('Campaign', { name: `Aaa Selected ${n}` })
    const page = await enter('Campaign?sort=name')
    const cells = page.locator('tbody td.select')
    await cells.first().waitFor()

    for (const n of [0, 1]) {
      const { height } = (await cells.nth(n).boundingBox())!
      await cells.nth(n).tap({ position: { x: 5, y: height - 5 } })
    }
    await page.getByText('2 selected').waitFor()

    expect(await smallTargets(page)).toEqual([])
    const bar = (await page.locator('.bulk-bar').boundingBox())!
    expect(bar.x + bar.width).toBeLessThanOrEqual(TELEPHONE.width)
    await page.getByRole('button', { name: 'Delete' }).tap()
    await page.getByText('2 deleted.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).tap()
    await page.getByRole('link', { name: 'Aaa Selected 1' }).waitFor()
  })

  test('the menu of a card is level with its title, and the pencil of a field with its value', async () => {
    const { $id } = await make('Contact', { name: 'Level Person', email: 'a.long.address.of.a.person@example.com' })
    let page = await enter('Deal?layout=board')
    await page.locator('.card').first().waitFor()
    const cards = await page.locator('.card-head').evaluateAll((heads) =>
      heads.map((head) => {
        const title = document.createRange()
        title.selectNodeContents(head.querySelector('.title')!)
        const [line] = title.getClientRects()
        const dots = head.querySelector('button svg')!.getBoundingClientRect()
        return Math.abs(line!.top + line!.height / 2 - (dots.top + dots.height / 2))
      }),
    )
    page = await enter(`Contact/${$id}`)
    await page.locator('.edit-fact').first().waitFor()
    const pencils = await page.locator('.facts dd:has(.edit-fact)').evaluateAll((values) =>
      values.map((value) => {
        const [box, pencil] = [value, value.querySelector('.edit-fact')!].map((one) => one.getBoundingClientRect())
        return Math.abs(box!.top + box!.height / 2 - (pencil!.top + pencil!.height / 2))
      }),
    )
    const covered = await page.locator('.edit-fact').evaluateAll((buttons) =>
      buttons.flatMap((button) => {
        button.scrollIntoView({ block: 'center' })
        const { left, width, top, bottom } = button.getBoundingClientRect()
        const isFree = [top + 1, bottom - 1].every((y) =>
          button.contains(document.elementFromPoint(left + width / 2, y)),
        )
        return isFree ? [] : [button.getAttribute('aria-label')]
      }),
    )

    expect(cards.length).toBeGreaterThan(0)
    expect(cards.filter((apart) => apart > 1)).toEqual([])
    expect(pencils.length).toBeGreaterThan(1)
    expect(pencils.filter((apart) => apart > 1)).toEqual([])
    expect(covered).toEqual([])
  })

  test('longer words of German leave the page as wide as the screen, and a title on one line', async () => {
    const { $id } = await make('Contact', { name: 'Changed twice' })
    await stage.host.request('PUT', `/~acme/Contact/${$id}`, { title: 'Director' })
    await make('Lead', { name: 'Asked for a demo', contact: $id })
    const { page } = await stage.browser.open(TELEPHONE)
    await page.addInitScript(() => localStorage.setItem('tildebase.preferences', '{"language":"de"}'))
    await page.goto(`${stage.host.url}/console#/~acme/Contact/${$id}`)
    await page.locator('.key-box input[type=password]').fill(await stage.host.key('acme', 'admin:all'))
    await page.locator('.key-box button.primary').tap()
    await page.locator('.moment-actions button').nth(2).waitFor()

    const beyond = await page.locator('main').evaluate((main) => main.scrollWidth - main.clientWidth)
    await page.goto(`${stage.host.url}/console#/~acme/Deal`)
    await page.getByText('insgesamt').waitFor()
    await page.evaluate(() => localStorage.removeItem('tildebase.preferences'))
    expect(beyond).toBe(0)
    expect((await page.locator('main h1').boundingBox())!.height).toBeLessThan(32)
  })

  test('the counts of the first page are apart from the names of the types', async () => {
    const page = await enter('')
    await page.getByRole('link', { name: /^Contacts \d+$/ }).waitFor()

    const apart = await page.locator('.domain a').evaluateAll((links) =>
      links.map((link) => {
        const name = document.createRange()
        name.selectNodeContents(link.firstChild!)
        return link.lastElementChild!.getBoundingClientRect().left - name.getBoundingClientRect().right
      }),
    )

    expect(apart.length).toBeGreaterThan(10)
    expect(apart.filter((pixels) => pixels < 8)).toEqual([])
  })

  test('a list begins in the upper part of the screen, also in the past, with its tools in one row', async () => {
    const page = await enter('Deal')
    const first = page.locator('tbody tr').first()
    await first.waitFor()
    expect((await first.boundingBox())!.y).toBeLessThan(300)
    const rows = await page
      .locator('main .toolbar > :not(.search-box, .spring)')
      .evaluateAll((all) =>
        all.filter((one) => one.getClientRects().length > 0).map((one) => one.getBoundingClientRect().top),
      )
    expect(new Set(rows.map((top) => Math.round(top / 10))).size).toBe(1)
    expect(await page.locator('main .toolbar, .top').getByText('Ctrl K').count()).toBe(0)

    const then = new Date(Date.now() - 30 * 86_400_000).toISOString()
    await page.goto(`${stage.host.url}/console#/~acme/Contact?asOf=${then}`)
    await page.getByText('You are in the past').waitFor()
    await page.locator('tbody .title', { hasText: 'Ada Byron' }).or(first).first().waitFor()
    expect((await first.boundingBox())!.y).toBeLessThan(390)
  })

  test('people are cards with their roles and buttons in sight', async () => {
    await person(stage.host, 'acme', { name: 'Card Person', email: 'card.person@example.com', role: 'Member' })
    const page = await enter('people')
    const row = page.locator('tbody tr', { hasText: 'Card Person' })
    for (const what of [row.getByRole('combobox'), row.getByRole('button', { name: 'Suspend' })]) {
      const { x, width } = (await what.boundingBox())!
      expect(x + width).toBeLessThanOrEqual(TELEPHONE.width)
      expect(width).toBeGreaterThan(60)
    }
  })

  test('the links of the menu have their icons beside their words', async () => {
    const page = await enter('')
    await page.getByRole('button', { name: 'Menu', exact: true }).tap()
    await page.locator('#side').getByRole('link', { name: 'Bin' }).waitFor()

    const apart = await page.locator('#side a:has(svg)').evaluateAll((links) =>
      links
        .filter((link) => link.checkVisibility() && link.textContent!.trim() !== '')
        .map((link) => {
          const words = document.createRange()
          words.selectNodeContents(link.lastChild!)
          const [text, icon] = [words, link.querySelector('svg')!].map((one) => one.getBoundingClientRect())
          return {
            down: Math.abs(text!.top + text!.height / 2 - icon!.top - icon!.height / 2),
            gap: text!.left - icon!.right,
          }
        }),
    )

    expect(apart.length).toBeGreaterThan(4)
    expect(apart.filter(({ down, gap }) => down > 1.5 || gap < 4)).toEqual([])
  })

  test('the buttons of an entity are one row, and those at the top do not overlap', async () => {
    const { body } = await stage.host.request('POST', '/~acme/Contact', { name: 'Rowena', stage: 'Qualified' })
    const { page } = await stage.enter(`Contact/${body.$id}`, { size: TELEPHONE })
    const buttons = page.locator('main .head .actions > button')
    await page.getByRole('button', { name: 'More actions' }).waitFor()
    const tops = await buttons.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
    const boxes = await page.locator('.top button:visible').evaluateAll((all) =>
      all.map((one) => {
        const { left, right } = one.querySelector('svg, span')?.getBoundingClientRect() ?? one.getBoundingClientRect()
        return { left, right }
      }),
    )

    expect(tops.length).toBeGreaterThan(3)
    expect(new Set(tops.map((top) => Math.round(top / 10))).size).toBe(1)
    for (const [at, { right }] of boxes.slice(0, -1).entries()) expect(boxes[at + 1]!.left - right).toBeGreaterThan(8)
  })

  test('the buttons of an entity are one row in German, too', async () => {
    const { body } = await stage.host.request('POST', '/~acme/Contact', { name: 'Reihe', stage: 'Qualified' })
    const { page } = await stage.browser.open(TELEPHONE)
    await page.addInitScript(() => localStorage.setItem('tildebase.preferences', '{"language":"de"}'))
    await page.goto(`${stage.host.url}/console#/~acme/Contact/${body.$id}`)
    await page.locator('.key-box input[type=password]').fill(await stage.host.key('acme', 'admin:all'))
    await page.locator('.key-box button.primary').click()
    const buttons = page.locator('main .head .actions > button')
    await page.getByRole('button', { name: 'Zuweisen' }).waitFor()
    const tops = await buttons.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
    await page.evaluate(() => localStorage.clear())

    expect(tops.length).toBeGreaterThan(3)
    expect(new Set(tops.map((top) => Math.round(top / 10))).size).toBe(1)
  })

  test('the menu of the pages opens, leads to a page, and closes with a tap beside it', async () => {
    const page = await enter('Deal')

    await page.getByRole('button', { name: 'Menu', exact: true }).tap()
    expect(await smallTargets(page)).toEqual([])
    await page.touchscreen.tap(TELEPHONE.width - 20, 400)
    await expect.poll(() => page.locator('#side').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu', exact: true }).tap()
    await page.locator('#side').getByRole('link', { name: 'Bin' }).tap()

    await page.getByRole('heading', { name: 'Bin', level: 1 }).waitFor()
    expect(await page.locator('#side').isVisible()).toBe(false)
  })
})
