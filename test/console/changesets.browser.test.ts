import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

const at = (path: string) => `/~acme${path}`
const contact = async (fields: object) =>
  (await stage.host.request('POST', at('/Contact'), { name: 'Ada', ...fields })).body.$id as string
const read = async (path: string) => (await stage.host.request('GET', at(path))).body

/** Proposes updates as an agent would, and returns the changeset. */
async function propose(title: string, bodies: readonly (readonly [id: string, body: object])[]) {
  const agent = stage.host.as(await stage.host.key('acme', 'propose:crm'))
  const operations = bodies.map(([id, body]) => ({ method: 'PUT', path: `/Contact/${id}`, body }))
  return (await agent('POST', at(`/batch?propose=${encodeURIComponent(title)}&reason=Because`), { operations })).body
}

describe.skipIf(BROWSER === null)('changesets in the console', () => {
  test('the inbox leads to a review, with names of relations, and an approval that can be undone', async () => {
    const organization = (await stage.host.request('POST', at('/Organization'), { name: 'Analytical Ltd' })).body.$id
    const id = await contact({ name: 'Ada Lovelace', title: 'Countess' })
    await propose('New titles', [[id, { title: 'Lady', organization }]])
    const { page } = await stage.enter('changesets')

    await page.getByRole('link', { name: 'New titles' }).click()
    await page.getByRole('heading', { name: 'New titles' }).waitFor()
    await page.getByText('Because', { exact: true }).waitFor()
    await page.locator('.review-entity', { hasText: 'Ada Lovelace' }).waitFor()
    await page.locator('.review-change ins', { hasText: 'Analytical Ltd' }).waitFor()
    expect(await page.locator('.review-change del').first().innerText()).toBe('Countess')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('1 change approved.').waitFor()
    expect((await read(`/Contact/${id}`)).title).toBe('Lady')

    await page.getByRole('main').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone: 1 change approved.').waitFor()
    expect((await read(`/Contact/${id}`)).title).toBe('Countess')
  })

  test('what its author adds while a person decides is not approved', async () => {
    const id = await contact({ name: 'Ada', title: 'Countess' })
    const agent = stage.host.as(await stage.host.key('acme', 'propose:crm'))
    const add = async (title: string, into: string) =>
      (await agent('PUT', at(`/Contact/${id}?propose=${encodeURIComponent(into)}`), { title })).body.$id as string
    const changeset = await add('Lady', 'A harmless title')
    const { page } = await stage.enter(`changesets/${changeset}`)
    await page.locator('.review-change ins', { hasText: 'Lady' }).waitFor()
    await page.route(
      '**/approve',
      async (route) => {
        await add('Owner of all', changeset)
        await route.continue()
      },
      { times: 1 },
    )

    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.locator('.review-change ins', { hasText: 'Owner of all' }).waitFor()

    expect((await read(`/changesets/${changeset}`)).state).toBe('Open')
    expect((await read(`/Contact/${id}`)).title).toBe('Countess')
  })

  test('all operations can be read in full before they are approved', async () => {
    const words = `${'harmless '.repeat(100)}pay Eve`
    const ids = await Promise.all(Array.from({ length: 21 }, (_, i) => contact({ name: `Ada ${i}` })))
    const { $id } = await propose(
      'Many words',
      ids.map((id, i) => [id, { title: i === 20 ? words : 'Countess' }]),
    )
    const { page } = await stage.enter(`changesets/${$id}`)

    await page.getByText('Changes as data').click()

    expect(await page.getByRole('region', { name: 'All changes' }).innerText()).toContain('harmless pay Eve')
  })

  test('a long value of a line is shown whole on request, before and after', async () => {
    const id = await contact({ name: 'Ada', title: `${'old '.repeat(40)}end` })
    const { $id } = await propose('Long words', [[id, { title: `${'new '.repeat(150)}pay Eve` }]])
    const { page } = await stage.enter(`changesets/${$id}`)

    await page.getByRole('button', { name: 'Show title whole' }).click()

    const dialog = page.getByRole('dialog', { name: 'Title' })
    expect(await dialog.locator('ins').innerText()).toMatch(/new pay Eve$/)
    expect(await dialog.locator('del').innerText()).toMatch(/old end$/)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('a review shows which metrics, counts and sums would change', async () => {
    const deal = (await stage.host.request('POST', at('/Deal'), { name: 'Roof', value: 7_000, currency: 'eur' })).body
    const agent = stage.host.as(await stage.host.key('acme', 'propose:crm'))
    const { body } = await agent('POST', at(`/Deal/${deal.$id}/win?propose=Won`))
    const won = (await read('/Metric/deals_won')).value
    const { page } = await stage.enter(`changesets/${body.$id}`)

    const effect = page.getByRole('region', { name: 'Effect on metrics' })
    const shown = async (label: string) =>
      (
        await effect
          .locator('div', { has: page.getByText(label, { exact: true }) })
          .locator('dd')
          .innerText()
      ).split(/\s+/)
    await effect.getByText('Deals: Won').waitFor()

    expect(await shown('Deals won')).toEqual([`${won}`, '→', `${won + 1}`, '+1'])
    expect(await shown('Deals: Prospecting')).toContain('−1')
    expect(await shown('Pipeline')).toContain('−€7,000')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('1 change approved.').waitFor()
    await effect.waitFor({ state: 'detached' })
    expect((await read('/Metric/deals_won')).value).toBe(won + 1)
  })

  test('conflicts are decided one by one', async () => {
    const [a, b, c] = [await contact({ title: '1' }), await contact({ title: '1' }), await contact({ title: '1' })]
    const { $id } = await propose('Clashing', [
      [a, { title: '2' }],
      [b, { title: '2' }],
      [c, { title: '2' }],
    ])
    for (const id of [a, b]) await stage.host.request('PUT', at(`/Contact/${id}`), { title: '3' })
    const { page } = await stage.enter(`changesets/${$id}`)

    await page.getByRole('heading', { name: '2 conflicts' }).waitFor()
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true)
    await page.getByRole('group', { name: /^1/ }).getByLabel('Take the proposal').check()
    await page.getByRole('button', { name: 'Apply choices' }).click()
    await page.getByRole('heading', { name: '2 conflicts' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('2 changes approved.').waitFor()

    expect([(await read(`/Contact/${a}`)).title, (await read(`/Contact/${b}`)).title]).toEqual(['2', '3'])
    expect((await read(`/Contact/${c}`)).title).toBe('2')
  })

  test('of an update only the field in conflict is left as it is, and of another verb all', async () => {
    const id = await contact({ title: '1', phone: '1', source: '1' })
    const { $id } = await propose('Fields', [[id, { title: '2', phone: '2', source: '2' }]])
    const agent = stage.host.as(await stage.host.key('acme', 'propose:crm'))
    const { body: verb } = await agent('POST', at(`/Contact/${id}/qualify?propose=Verb`))
    await stage.host.request('PUT', at(`/Contact/${id}`), { title: '3', phone: '3', stage: 'Churned' })
    const { page } = await stage.enter(`changesets/${$id}`)
    const conflict = (words: RegExp) => page.getByRole('group', { name: words })

    await page.getByRole('heading', { name: '2 conflicts' }).waitFor()
    await conflict(/Phone was changed/)
      .getByLabel('Take the proposal')
      .check()
    expect(
      await conflict(/Title was changed/)
        .getByLabel('Leave what is there')
        .isChecked(),
    ).toBe(true)
    await page.getByRole('button', { name: 'Apply choices' }).click()
    await page.locator('.review-change', { hasText: 'Title' }).waitFor({ state: 'detached' })
    expect(await page.locator('.review-change').count()).toBe(2)
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('1 change approved.').waitFor()

    expect(await read(`/Contact/${id}`)).toMatchObject({ title: '3', phone: '2', source: '2' })
    await page.goto(`${stage.host.url}/console#/~acme/changesets/${verb.$id}`)
    await page.getByRole('heading', { name: '1 conflict' }).waitFor()
    expect(await page.getByLabel('Leave out this change').isChecked()).toBe(true)
  })

  test('the keyboard alone moves, chooses, comments and approves in part', async () => {
    const ids = [await contact({}), await contact({}), await contact({})]
    const { $id } = await propose(
      'By keyboard',
      ids.map((id) => [id, { title: 'typed' }] as const),
    )
    const { page } = await stage.enter(`changesets/${$id}`)
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()

    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Approve 2 of 3' }).waitFor()
    await page.keyboard.press('c')
    await page.keyboard.type('The second one stays.')
    await page.getByRole('button', { name: 'Comment' }).click()
    await page.locator('.talk', { hasText: 'The second one stays.' }).waitFor()
    await page.locator('h1').click()
    await page.keyboard.press('a')
    await page.getByText('2 changes approved.').waitFor()

    const titles = await Promise.all(ids.map(async (id) => (await read(`/Contact/${id}`)).title ?? null))
    expect(titles).toEqual(['typed', null, 'typed'])
    await page.getByText('2 of 3 changes were approved.').waitFor()
    await page.getByText('Left out', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Proposals' }).waitFor()
  })

  test.each([
    ['the key twice', ['a', 'a']],
    ['the key and the button', ['a', 'click']],
    ['the button and the key', ['click', 'a']],
    ['the key and the key of a rejection', ['a', 'r']],
  ])('a decision is made once: %s', async (_, [first, second]) => {
    const id = await contact({ title: '1' })
    const { $id } = await propose('Decided once', [[id, { title: '2' }]])
    const { page } = await stage.browser.open()
    const button = page.getByRole('button', { name: 'Approve', exact: true })
    const act = (how: string) => (how === 'click' ? button.click() : page.keyboard.press(how))
    const sent: string[] = []
    const answered = Promise.withResolvers<void>()
    const reading = Promise.withResolvers<void>()
    // The answer waits, and then what the page reads after it: a decision is made once until it is seen.
    await page.route(`**/changesets/${$id}/*`, async (route) => {
      if (route.request().method() === 'POST') {
        sent.push(route.request().url())
        await answered.promise
      }
      await route.continue()
    })
    await page.route(`**/changesets/${$id}`, async (route) => {
      if (sent.length > 0) await reading.promise
      await route.continue()
    })
    await page.goto(`${stage.host.url}/console#/~acme/changesets/${$id}`)
    await giveKey({ page }, await stage.host.key('acme', 'admin:all'))
    await button.waitFor()

    await act(first!)
    await expect.poll(() => sent.length).toBe(1)
    await act(second!)
    answered.resolve()
    await page.getByText('1 change approved.').waitFor()
    await act(second!)
    const asked = await page.getByRole('dialog').count()
    reading.resolve()
    await page.locator('.state', { hasText: 'Approved' }).waitFor()

    expect(asked).toBe(0)
    expect(sent).toHaveLength(1)
    expect(await page.locator('.toast.bad').count()).toBe(0)
  })

  test('an author sees that a review is pending, and can withdraw', async () => {
    const id = await contact({})
    const key = await stage.host.key('acme', 'write:crm')
    const { body } = await stage.host.as(key)('PUT', at(`/Contact/${id}?propose=My+own`), { title: 'own' })
    const { page } = await stage.enter(`changesets/${body.$id}`, { key })

    await page.getByText('You proposed this').waitFor()
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
    await page.locator('.state', { hasText: 'Rejected' }).waitFor()
  })

  test('in the past a changeset is what it was then, and cannot be decided', async () => {
    const id = await contact({})
    const { $id } = await propose('Decided later', [[id, { title: 'x' }]])
    const open = new Date().toISOString()
    await new Promise((done) => setTimeout(done, 20))
    await stage.host.request('POST', at(`/changesets/${$id}/approve`))

    const { page } = await stage.enter(`changesets/${$id}?asOf=${open}`)
    await page.getByRole('heading', { name: 'Decided later' }).waitFor()
    await page.locator('main .state', { hasText: 'Open' }).waitFor()
    expect(await page.getByRole('button', { name: /Approve|Reject|Comment/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'All proposals' }).click()
    await page.getByRole('link', { name: 'Decided later' }).waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('link', { name: 'Decided later' }).waitFor({ state: 'detached' })
  })

  test('a thousand changes draw only the lines in sight, and the last one is found', async () => {
    const operations = Array.from({ length: 1_000 }, (_, at) => ({
      type: 'Contact',
      verb: 'create',
      data: { name: `Person ${at}`, title: `Title ${at}` },
    }))
    const { body } = await stage.host.request('POST', at('/changesets'), { title: 'A thousand', operations })
    const { page } = await stage.enter(`changesets/${body.$id}`)
    const list = page.getByRole('region', { name: 'Changes' })
    await list.locator('.review-operation').first().waitFor()

    const drawn = await list.locator('.review-line').count()
    await list.evaluate((box) => box.scrollTo({ top: box.scrollHeight }))
    await list.locator('ins', { hasText: 'Person 999' }).waitFor()
    await page.getByLabel('Find in the changes').fill('Person 500')
    await list.locator('ins', { hasText: 'Person 500' }).waitFor()

    expect(drawn).toBeLessThan(100)
    await expect.poll(() => list.locator('.review-operation').count()).toBe(1)
  })
})
