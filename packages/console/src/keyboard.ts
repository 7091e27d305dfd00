import { useLayoutEffect, useState } from 'preact/hooks'

export type Keys = { readonly [key: string]: (event: KeyboardEvent) => void }

interface Layer {
  readonly keys: { current: Keys }
  /** A layer that hides those below it, as a dialog does. */
  readonly modal: boolean
}

const layers: Layer[] = []

/** Keys that work in text fields too. */
const ALWAYS = new Set(['mod+s', 'mod+Enter', 'mod+k', 'Escape'])

/** The keys that a component listens to while it is on the page. The newest hears first; `mod+s` is Ctrl+S or ⌘S. */
export function useKeys(keys: Keys, modal = false): void {
  // Registered while it renders and not after: a dialog renders before the form in it, whose keys go first.
  const [layer] = useState(() => {
    const made: Layer = { keys: { current: keys }, modal }
    layers.push(made)
    return made
  })
  layer.keys.current = keys
  // Not after the paint: a component that leaves before it would keep its keys, and a dialog would block all others.
  useLayoutEffect(() => () => void layers.splice(layers.indexOf(layer), 1), [layer])
}

document.addEventListener('keydown', (event) => {
  const name = `${event.ctrlKey || event.metaKey ? 'mod+' : ''}${event.key}`
  // In a text field, letters are text.
  if (isTyping(event.composedPath()[0] ?? null) && !ALWAYS.has(name)) return
  if (event.altKey || event.isComposing || event.defaultPrevented) return
  for (const { keys, modal } of [...layers].reverse()) {
    const run = keys.current[name]
    if (run) {
      event.preventDefault()
      return run(event)
    }
    if (modal) {
      if (name === 'mod+s') event.preventDefault()
      return
    }
  }
})

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'range'].includes(target.type)
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}
