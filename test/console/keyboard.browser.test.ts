import { beforeEach, describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()
let tab: Tab

describe.skipIf(BROWSER === null)('the console without a mouse', () => {
  beforeEach(async () => {
    tab = await stage.browser.open()
  })

  const keys = async (...names: string[]) => {
    for (const name of names) await tab.page.keyboard.press(name)
  }
  const type = (text: string) => tab.page.keyboard.type(text)
  /** Presses Tab until the focus is on what is asked for. */
  const tabTo = async (name: string | RegExp, most = 60, key = 'Tab') => {
    for (let step = 0; step < most; step++) {
      const label = await tab.page.evaluate(() => {
        const at = document.activeElement as HTMLElement | null
        const own =
          at?.getAttribute('aria-label') ??
          (at?.id ? document.querySelector(`label[for="${at.id}"]`)?.textContent : null)
        return (own ?? at?.textContent ?? '').trim()
      })
      if (typeof name === 'string' ? label.startsWith(name) : name.test(label)) return
      await keys(key)
    }
    throw new Error(`The focus did not reach ${name}.`)
  }
  const command = async (words: string) => {
    await keys('Control+k')
    await tab.page.getByRole('combobox', { name: 'Search and commands' }).waitFor()
    await type(words)
  }

  test('a day of work runs from the keyboard alone', { timeout: 240_000 }, async () => {
    const { page } = tab
    await page.goto(`${stage.host.url}/console#/~acme`)
    await page.getByLabel('Key', { exact: true }).waitFor()

    // Open the tenant.
    await type(await stage.host.key('acme', 'admin:all'))
    await keys('Enter')
    await page.getByRole('heading', { name: '~acme' }).waitFor()

    // Create a contact with a relation.
    await command('new contact')
    await keys('Enter')
    await page.getByRole('dialog', { name: 'New contact' }).waitFor()
    await type('Keyboard Only')
    await keys('Tab')
    await type('lumen')
    await page.getByRole('option', { name: 'Lumen Energy' }).waitFor()
    await keys('ArrowDown', 'Enter', 'Control+s')
    await page.getByText('Keyboard Only created.').waitFor()

    // Find it, edit a field, leave a note, run a verb and undo it.
    await command('keyboard only')
    await page.getByRole('option', { name: /^Keyboard Only/ }).waitFor()
    await keys('Enter')
    await page.getByRole('heading', { name: 'Keyboard Only', level: 1 }).waitFor()
    await tabTo('Edit name')
    await keys('Enter', 'Control+a')
    await type('Keyboard Alone')
    await keys('Enter')
    await page.getByRole('heading', { name: 'Keyboard Alone', level: 1 }).waitFor()
    await tabTo('New note')
    await type('Written without a mouse')
    await keys('Control+Enter')
    await page.locator('.comments li', { hasText: 'Written without a mouse' }).waitFor()
    await page.locator('main').press('Home')
    await command('contacts')
    await keys('Enter')
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()

    // Filter, select two rows, and run a verb on both.
    await page.locator('tbody tr').first().waitFor()
    await keys('/')
    await type('keyboard')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await keys('Escape', 'x')
    await page.getByText('1 selected').waitFor()
    await tabTo('Run an action')
    await keys('Enter')
    await page.getByRole('menuitem', { name: 'Qualify' }).waitFor()
    await keys('q', 'Enter')
    await page.getByText('1 qualified.').waitFor()
    await keys('Control+z')
    await page
      .getByText(/undone/i)
      .first()
      .waitFor()

    // Edit a row, group the list, and look at the past.
    await command('deals')
    await keys('Enter')
    await page.getByRole('heading', { name: 'Deals', level: 1 }).waitFor()
    await page.locator('tbody tr').first().waitFor()
    await keys('j', 'e')
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await keys('Control+a')
    await type('Typed name')
    await keys('Enter')
    await page.getByText('Typed name saved.').waitFor()
    await tabTo('Group', 60, 'Shift+Tab')
    await keys('ArrowDown')
    await page.getByRole('menuitemradio', { name: 'Stage' }).waitFor()
    await keys('s', 'Enter')
    await page.locator('.group-head').first().waitFor()
    await keys('t', 'PageDown', 'PageDown')
    await page.getByText('You are in the past').waitFor()
    await keys('End')
    await page.getByText('You are in the past').waitFor({ state: 'detached' })

    // Move a card on the board from its menu.
    await tabTo('Board')
    await keys('Enter')
    await page.locator('.card').first().waitFor()
    await tabTo(/^Actions for Field Notes renewal|^Actions for Juniper Labs renewal/, 120)
    await keys('Enter')
    await page.getByRole('menuitem', { name: 'Proposal' }).waitFor()
    await keys('p', 'Enter')
    await page.getByText(/advanced\./).waitFor()

    const { body } = await stage.host.request('GET', '/~acme/Contact?name=Keyboard Alone&include=organization')
    expect(body.results).toMatchObject([{ stage: 'Lead', organization: { name: 'Lumen Energy' } }])
  })
})
