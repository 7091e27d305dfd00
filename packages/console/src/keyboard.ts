import { useEffect, useState } from 'preact/hooks'

export type Keys = { readonly [key: string]: (event: KeyboardEvent) => void }

interface Layer {
  readonly keys: { current: Keys }
  /** A layer that hides those below it, as a dialog does. */
  readonly modal: boolean
}

const layers: Layer[] = []

/** The keys a part listens to while it is on the page. What opened last hears first; `mod+s` is Ctrl+S or ⌘S. */
export function useKeys(keys: Keys, modal = false): void {
  // Taken up while it is drawn and not after: a dialog is drawn before the form in it, whose keys lie above its own.
  const [layer] = useState(() => {
    const made: Layer = { keys: { current: keys }, modal }
    layers.push(made)
    return made
  })
  layer.keys.current = keys
  useEffect(() => () => void layers.splice(layers.indexOf(layer), 1), [layer])
}

document.addEventListener('keydown', (event) => {
  const name = `${event.ctrlKey || event.metaKey ? 'mod+' : ''}${event.key}`
  // While somebody types, letters are letters.
  if (isTyping(event.target) && name !== 'mod+s' && name !== 'mod+Enter' && name !== 'Escape') return
  if (event.altKey || event.isComposing) return
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
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}
