import { describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

const make = async (type: string, fields: object) =>
  (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
const read = async (type: string, id: string) => await stage.host.request('GET', `/~acme/${type}/${id}`)

/** Loads the page again, as people do, and opens it with the same key. Returns the kinds of questions of the browser. */
async function reload(tab: Tab, key: string): Promise<string[]> {
  const asked: string[] = []
  tab.page.once('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.accept()
  })
  await tab.page.reload()
  await giveKey(tab, key)
  return asked
}

describe.skipIf(BROWSER === null)('nothing is lost in the console', () => {
  test('a link, the back button and a reload do not drop a row that is edited', async () => {
    const { $id } = await make('Contact', { name: 'Kept Row', title: 'Before' })
    const key = await stage.host.key('acme', 'admin:all')
    const tab = await stage.enter('Deal', { key })
    const { page } = tab
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByLabel('Search contacts').fill('Kept Row')
    await page.getByRole('link', { name: 'Kept Row' }).waitFor()
    await page
      .locator('tbody tr')
      .first()
      .dblclick({ position: { x: 200, y: 8 } })
    await page.locator('tr.editing').getByLabel('Name').fill('Kept Row, changed')
    const question = page.getByRole('dialog', { name: 'Discard your changes?' })

    await page
      .getByRole('link', { name: 'Tickets' })
      .or(page.getByRole('link', { name: 'Deals' }))
      .first()
      .click()
    await question.getByRole('button', { name: 'Keep editing' }).click()
    expect(page.url()).toContain('/Contact')
    await page.goBack()
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await expect.poll(() => page.url()).toContain('/Contact')
    expect(await page.locator('tr.editing').getByLabel('Name').inputValue()).toBe('Kept Row, changed')
    expect(await reload(tab, key)).toEqual(['beforeunload'])
    await expect.poll(() => page.locator('tr.editing').getByLabel('Name').inputValue()).toBe('Kept Row, changed')
    await page.locator('tr.editing').getByRole('button', { name: 'Save' }).click()

    await expect.poll(async () => (await read('Contact', $id)).body.name).toBe('Kept Row, changed')
    await page.goBack()
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
  })

  test('a discarded edit is gone, and the link leads on', async () => {
    await make('Contact', { name: 'Dropped Row' })
    const { page } = await stage.enter('Contact?text=Dropped')
    await page.getByRole('link', { name: 'Dropped Row' }).waitFor()
    await page
      .locator('tbody tr')
      .first()
      .dblclick({ position: { x: 200, y: 8 } })
    await page.locator('tr.editing').getByLabel('Name').fill('Never')

    await page.getByRole('link', { name: 'Deals' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Dropped Row' }).waitFor()

    expect(await page.locator('tr.editing').count()).toBe(0)
  })

  test('a note, a field and a new entity that are half written survive a reload', async () => {
    const { $id } = await make('Contact', { name: 'Kept Note', title: 'Clerk' })
    const key = await stage.host.key('acme', 'admin:all')
    const tab = await stage.enter(`Contact/${$id}`, { key })
    const { page } = tab
    await page.getByLabel('New note').fill('She prefers letters.')
    await page.getByRole('button', { name: 'Edit title' }).click()
    await page.getByLabel('Title', { exact: true }).fill('Director')

    await reload(tab, key)
    expect(await page.getByLabel('New note').inputValue()).toBe('She prefers letters.')
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Director')
    await page.keyboard.press('Control+s')
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByText('Note added.').waitFor()
    await page.goto(`${stage.host.url}/console#/~acme/Contact?new=1`)
    await page.getByRole('dialog').getByLabel('Name').fill('Half a contact')
    await reload(tab, key)
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Half a contact')
    await page.getByRole('button', { name: 'Create' }).click()

    await page.getByText('Half a contact created.').waitFor()
    expect((await read('Contact', $id)).body.title).toBe('Director')
  })

  test('a change is undone by the keyboard when its message is gone, and the undo is undone again', async () => {
    const { $id } = await make('Contact', { name: 'Late Undo' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('Late Undo deleted.').waitFor()
    await page.locator('.toast').getByRole('button', { name: 'Dismiss' }).click()
    await expect.poll(() => page.locator('.toast').count()).toBe(0)

    await page.keyboard.press('Control+z')
    await page.getByText('Undone: Late Undo deleted.').waitFor()
    expect((await read('Contact', $id)).status).toBe(200)
    await page.getByRole('button', { name: 'Redo' }).click()

    await expect.poll(async () => (await read('Contact', $id)).status).toBe(404)
  })

  test('the bin finds by name, restores what is selected, and what was deleted together', async () => {
    const ids = await Promise.all(['One', 'Two', 'Three'].map((name) => make('Contact', { name: `Binned ${name}` })))
    const there = async () =>
      (await Promise.all(ids.map(({ $id }) => read('Contact', $id)))).filter(({ status }) => status === 200).length
    const { page } = await stage.enter('Contact?text=Binned')
    await page.getByLabel('Select all rows of this page').check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await expect.poll(there).toBe(0)
    // They are not on the first page of the bin.
    const others = Array.from({ length: 51 }, (_, n) => ({
      method: 'POST',
      path: '/Lead',
      body: { name: `Other ${n}` },
    }))
    const made = await stage.host.request('POST', '/~acme/batch', { operations: others })
    const operations = made.body.results.map(({ body }: { body: { $id: string } }) => ({
      method: 'DELETE',
      path: `/Lead/${body.$id}`,
    }))
    await stage.host.request('POST', '/~acme/batch', { operations })

    await page.getByRole('link', { name: 'Bin', exact: true }).click()
    await page
      .getByRole('link', { name: /^Other / })
      .first()
      .waitFor()
    await page.getByLabel('Find in the bin').fill('binned tw')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('button', { name: 'Select all 1 shown' }).click()
    await page.getByRole('button', { name: 'Restore 1' }).click()
    await expect.poll(there).toBe(1)
    await page.getByLabel('Find in the bin').fill('binned')
    await page.getByRole('button', { name: 'Restore all deleted together' }).first().click()

    await expect.poll(there).toBe(3)
  })

  test('what was restored since the bin was read does not keep the others in it', async () => {
    const ids = await Promise.all(['One', 'Two', 'Three'].map((name) => make('Contact', { name: `Stale ${name}` })))
    for (const { $id } of ids) await stage.host.request('DELETE', `/~acme/Contact/${$id}`)
    const { page } = await stage.enter('Contact')
    await page.getByRole('link', { name: 'Bin', exact: true }).click()
    await page.getByLabel('Find in the bin').fill('stale')
    await page.getByRole('button', { name: 'Select all 3 shown' }).click()
    // The restores arrive only after another person has restored the first row of the list.
    let isFirst = true
    await page.route('**/restore*', async (route) => {
      if (isFirst) await stage.host.request('POST', `/~acme/Contact/${ids[2]!.$id}/restore`)
      isFirst = false
      await route.continue()
    })
    await page.getByRole('button', { name: 'Restore 3' }).click()

    const there = async () =>
      (await Promise.all(ids.map(({ $id }) => read('Contact', $id)))).map(({ status }) => status)
    await expect.poll(there).toEqual([200, 200, 200])
  })

  test('the history takes back a change with everything that belongs to it', async () => {
    const ids = await Promise.all(['a', 'b'].map((name) => make('Contact', { name: `Pair ${name}`, title: 'Old' })))
    const operations = ids.map(({ $id }) => ({ method: 'PUT', path: `/Contact/${$id}`, body: { title: 'New' } }))
    await stage.host.request('POST', '/~acme/batch', { operations }, { 'x-correlation-id': 'pair' })
    const { page } = await stage.enter(`Contact/${ids[0]!.$id}`)

    await page.getByRole('button', { name: 'Undo this change' }).first().click()
    await page.getByText('2 changes undone').waitFor()

    expect(await Promise.all(ids.map(async ({ $id }) => (await read('Contact', $id)).body.title))).toEqual([
      'Old',
      'Old',
    ])
  })

  test('the key r asks for a reason before it rejects, and what is typed is text', async () => {
    const { $id } = await make('Contact', { name: 'Proposed' })
    const agent = stage.host.as(await stage.host.key('acme', 'propose:crm'))
    const { body } = await agent('PUT', `/~acme/Contact/${$id}?propose=Rename`, { name: 'Renamed' })
    const { page } = await stage.enter(`changesets/${body.$id}`)
    await page.getByRole('heading', { name: 'Rename' }).waitFor()
    const state = async () => (await stage.host.request('GET', `/~acme/changesets/${body.$id}`)).body

    await page.keyboard.press('r')
    await page.getByRole('dialog', { name: 'Reject Rename?' }).waitFor()
    expect((await state()).state).toBe('Open')
    await page.keyboard.type('a bad name')
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()

    await expect.poll(async () => (await state()).state).toBe('Rejected')
    expect(JSON.stringify((await state()).comments)).toContain('a bad name')
  })

  test('a conflict names who changed the entity, and only fields that were changed', async () => {
    const { $id } = await make('Contact', { name: 'Two Editors', title: 'Clerk' })
    await make('Lead', { name: 'Of two editors', contact: $id })
    const other = await stage.host.key('acme', 'write:crm', { name: 'Colleague' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Mine')

    await stage.host.as(other)('PUT', `/~acme/Contact/${$id}`, { title: 'Theirs' })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('dialog', { name: 'changed while you edited' })
    await conflict.getByText('Theirs', { exact: true }).first().waitFor()

    await expect.poll(() => conflict.innerText()).toContain('Changed by Colleague')
    expect(await conflict.innerText()).not.toContain('They also changed')
  })

  test('a save without a connection says that it is not saved, and the message goes when the connection is back', async () => {
    const { $id } = await make('Contact', { name: 'Offline Edit' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Captain')
    await page.context().setOffline(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()

    const message = page.getByRole('dialog').getByText('Nothing was saved.')
    await message.waitFor()
    await page.context().setOffline(false)
    await message.waitFor({ state: 'detached' })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()

    await expect.poll(async () => (await read('Contact', $id)).body.title).toBe('Captain')
  })

  test('what is wrong with a field is said once', async () => {
    await make('Contact', { name: 'Said First', email: 'once@example.com' })
    const { $id } = await make('Contact', { name: 'Said Once', email: 'twice@example.com' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('button', { name: 'Edit email' }).click()
    await page.getByLabel('Email', { exact: true }).fill('once@example.com')
    await page.keyboard.press('Enter')
    await page.locator('.toast.bad').waitFor()

    const text = await page.locator('.toast.bad > span').innerText()
    const sentences = text.split(/(?:\w+: |[.;] )/).filter(Boolean)
    expect(sentences).toEqual([...new Set(sentences)])
  })

  test('a merge offers others only, and leads to what remains', async () => {
    const twin = await make('Contact', { name: 'Twin Kept' })
    const { $id } = await make('Contact', { name: 'Twin Dropped' })
    const { page } = await stage.enter(`Contact/${$id}`)
    await page.getByRole('heading', { name: 'Twin Dropped' }).waitFor()

    const merge = page.getByRole('button', { name: 'Merge', exact: true })
    if ((await merge.count()) === 0) await page.getByRole('button', { name: 'More actions' }).click()
    await merge
      .or(page.getByRole('menuitem', { name: 'Merge' }))
      .first()
      .click()
    await page.getByRole('dialog').getByRole('combobox').fill('Twin')
    await page.getByRole('option', { name: 'Twin Kept' }).waitFor()
    expect(await page.getByRole('option', { name: 'Twin Dropped' }).count()).toBe(0)
    await page.getByRole('option', { name: 'Twin Kept' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()

    await page.getByRole('heading', { name: 'Twin Kept' }).waitFor()
    expect(page.url()).toContain(twin.$id)
  })
})
