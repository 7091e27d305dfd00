import type { Tab } from './browser.ts'

/** What people use all the time has room for a finger; the rest at least as much as WCAG 2.2 asks for. */
const MAIN = 44
const LEAST = 24

/** The controls in sight that are too small for a finger, with their sizes. */
export async function smallTargets(page: Tab['page']): Promise<string[]> {
  return page.evaluate(
    ({ main, least }) => {
      const controls = 'a[href], button, input, select, textarea, summary, [role=option], [role^=menuitem]'
      const mains = [
        '.primary',
        '[role^=menuitem]',
        '[role=option]',
        '.top button',
        '.side a',
        '.toolbar button',
        '.pager button',
        '.bulk-bar button',
        '.row-actions button',
        '.card button',
        '.toast button',
        'dialog footer button',
        'td.select label',
      ].join()
      const isShown = (element: Element, { width, height, left, top }: DOMRect) =>
        width > 1 &&
        height > 1 &&
        element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
        element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
      // A link within a sentence has the height of its line.
      const isInline = (element: Element) =>
        element.matches('a') && [...element.parentElement!.childNodes].some((node) => node.nodeType === 3)
      return [...document.querySelectorAll(controls)].flatMap((control) => {
        const target = control.closest('label') ?? control
        const box = target.getBoundingClientRect()
        if (!isShown(target, box) || isInline(control)) return []
        const need = target.matches(mains) ? main : least
        // Half a pixel is lost where lines are drawn.
        if (box.width >= need - 0.5 && box.height >= need - 0.5) return []
        const name = control.getAttribute('aria-label') ?? control.textContent ?? control.tagName
        return [`${name.trim().slice(0, 40)} (${control.className}): ${box.width} × ${box.height}, not ${need}`]
      })
    },
    { main: MAIN, least: LEAST },
  )
}
