import type { Locator, Page } from 'playwright-core'

/** How a person uses a page: with a mouse, with the keys alone, or with a finger. */
export type Manner = 'mouse' | 'keyboard' | 'touch'

export interface Hands {
  /** Presses a button, opens a link, ticks a box. */
  press(what: Locator): Promise<void>
  write(field: Locator, text: string): Promise<void>
  /** Chooses an option of a list of choices by its words. */
  choose(field: Locator, words: string): Promise<void>
  /** Opens a page by the menu at the side; the keys use the search. */
  open(name: string): Promise<void>
}

const MOST_STEPS = 250

/** The hands of a person on a page. With the keyboard nothing is focused by the test itself: Tab leads there. */
export function handsOn(page: Page, manner: Manner): Hands {
  const reach = async (what: Locator) => {
    await what.waitFor()
    const isItem = await what.evaluate((element) => element.role?.startsWith('menuitem'))
    for (let step = 0; step < MOST_STEPS; step++) {
      if (await what.evaluate((element) => element === document.activeElement)) return
      await page.keyboard.press(isItem ? 'ArrowDown' : 'Tab')
    }
    throw new Error(`The focus did not reach ${what}.`)
  }
  const isBox = (what: Locator) => what.evaluate((element) => element.matches('[type=checkbox], [type=radio]'))
  const hands: Hands = {
    async press(what) {
      if (manner === 'mouse') return what.click()
      if (manner === 'touch') return what.tap()
      await reach(what)
      await page.keyboard.press((await isBox(what)) ? 'Space' : 'Enter')
    },
    async write(field, text) {
      if (manner === 'keyboard') await reach(field)
      else await hands.press(field)
      await page.keyboard.press('Control+a')
      await page.keyboard.type(text)
    },
    async choose(field, words) {
      if (manner !== 'keyboard') return void (await field.selectOption({ label: words }))
      await reach(field)
      await page.keyboard.type(words)
    },
    async open(name) {
      if (manner === 'keyboard') {
        await page.keyboard.press('Control+k')
        const box = page.getByRole('combobox', { name: 'Search and commands' })
        await box.waitFor()
        await page.keyboard.type(name)
        await page
          .getByRole('option', { name: new RegExp(`^${name}`) })
          .first()
          .waitFor()
        return page.keyboard.press('Enter')
      }
      if (manner === 'touch') await page.getByRole('button', { name: 'Menu', exact: true }).tap()
      const link = page.locator('.side a', { hasText: new RegExp(`^${name}$`) }).first()
      const isFolded = !(await link.isVisible())
      if (isFolded)
        await hands.press(
          page
            .locator('.side details', { has: page.locator('a', { hasText: new RegExp(`^${name}$`) }) })
            .locator('summary'),
        )
      await hands.press(link)
    },
  }
  return hands
}
