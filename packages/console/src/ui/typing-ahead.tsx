import { useLayoutEffect } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'

let typed = ''

/** Keeps what is typed while a window loads that was asked for: it is no shortcut of the page below. */
export function TypingAhead({ onClose }: { onClose: () => void }) {
  useKeys({ Escape: onClose }, true)
  useLayoutEffect(() => {
    typed = ''
    document.addEventListener('keydown', keep, true)
    return () => {
      document.removeEventListener('keydown', keep, true)
      // The window that is there now has taken it, or has no use for it.
      setTimeout(takeTyped)
    }
  }, [])
  return null
}

/** What was typed while the window loaded. */
export function takeTyped(): string {
  const text = typed
  typed = ''
  return text
}

function keep(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (event.key.length === 1) typed += event.key
  else if (event.key === 'Backspace') typed = typed.slice(0, -1)
  else if (event.key !== 'Enter') return
  event.preventDefault()
  event.stopPropagation()
}
