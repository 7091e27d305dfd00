import type { Tab } from './browser.ts'

/** The states that colours are checked in. */
const STATES = ['rest', 'hover', 'focus-visible', 'active'] as const

/** How often a page is checked that changes during the check. */
const MOST_TRIES = 5

/** Texts whose computed colour is too close to the colour behind them, as WCAG AA counts it, in every state. */
export async function faintTexts(page: Tab['page'], states: readonly string[] = STATES, tries = 1): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  try {
    return await faintIn(page, session, states)
  } catch (reason) {
    if (tries >= MOST_TRIES || !String(reason).includes('Could not find node')) throw reason
  } finally {
    await session.detach()
  }
  return faintTexts(page, states, tries + 1)
}

type Session = Awaited<ReturnType<ReturnType<Tab['page']['context']>['newCDPSession']>>

async function faintIn(page: Tab['page'], session: Session, states: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument', { depth: 0 })
  const { nodeIds } = await session.send('DOM.querySelectorAll', {
    nodeId: root.nodeId,
    selector: 'button, a, input, select, textarea, summary, tr, label, [role=option]',
  })
  for (const state of states) {
    const forcedPseudoClasses = state === 'rest' ? [] : [state]
    await Promise.all(nodeIds.map((nodeId) => session.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses })))
    for (const text of await page.evaluate(faint)) found.add(`${state}: ${text}`)
  }
  await Promise.all(nodeIds.map((nodeId) => session.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [] })))
  return [...found]
}

/** Runs in the page: the texts that can hardly be read. */
function faint(): string[] {
  type Colour = [number, number, number, number]
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
  const known = new Map<string, Colour>()
  const colourOf = (text: string): Colour => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = text
      canvas.fillRect(0, 0, 1, 1)
      const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data
      known.set(text, [r, g, b, a / 255])
    }
    return known.get(text)!
  }
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (at: 0 | 1 | 2) => top[at] * top[3] + below[at] * (1 - top[3])
    return [mix(0), mix(1), mix(2), 1]
  }
  const luminance = ([r, g, b]: Colour) => {
    const [x, y, z] = [r, g, b].map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * x! + 0.7152 * y! + 0.0722 * z!
  }
  const backOf = (element: Element): Colour => {
    const layers: Colour[] = []
    for (let at: Element | null = element; at; at = at.parentElement) {
      const colour = colourOf(getComputedStyle(at).backgroundColor)
      if (colour[3] > 0) layers.push(colour)
      if (colour[3] === 1) break
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1] as Colour)
  }
  const modal = document.querySelector('dialog[open]')
  const texts: string[] = []
  for (const element of document.querySelectorAll<HTMLElement>('body *')) {
    // Behind a modal window everything is dimmed on purpose.
    if (modal && !modal.contains(element) && !element.closest('.menu')) continue
    const isField = element instanceof HTMLInputElement || element instanceof HTMLSelectElement
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim())
    if (!own && !(isField && element.value !== '')) continue
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    if (element.closest('.unseen, svg') || element.getBoundingClientRect().width < 2) continue
    const style = getComputedStyle(element)
    const back = backOf(element)
    const front = over(colourOf(style.color), back)
    if (colourOf(style.color)[3] === 0) continue
    const [high, low] = [luminance(front), luminance(back)].sort((a, b) => b - a)
    const ratio = (high! + 0.05) / (low! + 0.05)
    const size = Number.parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) {
      const words = (element.textContent?.trim() || (element as HTMLInputElement).value).slice(0, 40)
      texts.push(`${ratio.toFixed(2)} ${element.tagName.toLowerCase()}.${element.className} “${words}”`)
    }
  }
  return texts
}
