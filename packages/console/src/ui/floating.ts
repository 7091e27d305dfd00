import { useLayoutEffect } from 'preact/hooks'

const GAP = 4
const MARGIN = 8

/** Shows an element in the browser's top layer next to its anchor, and calls `onLeave` when people turn elsewhere. */
export function useFloating(
  anchor: { readonly current: HTMLElement | null },
  floating: { readonly current: HTMLElement | null },
  align: 'start' | 'end',
  onLeave: () => void,
  matchWidth = false,
): void {
  // Before the next key is read: it belongs to what is shown.
  useLayoutEffect(() => {
    const body = floating.current
    const base = anchor.current
    if (!body || !base) return
    body.showPopover()
    const place = () => position(base, body, align, matchWidth)
    const elsewhere = (event: Event) => {
      const target = event.target as Node
      if (!base.contains(target) && !body.contains(target)) onLeave()
    }
    const scrolled = (event: Event) => {
      if (!body.contains(event.target as Node)) place()
    }
    place()
    const sizes = new ResizeObserver(place)
    sizes.observe(body)
    document.addEventListener('pointerdown', elsewhere, true)
    document.addEventListener('scroll', scrolled, true)
    window.addEventListener('resize', place)
    return () => {
      sizes.disconnect()
      document.removeEventListener('pointerdown', elsewhere, true)
      document.removeEventListener('scroll', scrolled, true)
      window.removeEventListener('resize', place)
      if (body.matches(':popover-open')) body.hidePopover()
    }
  }, [anchor, floating, align, onLeave, matchWidth])
}

/** Below its anchor, or above where there is no room. */
function position(base: HTMLElement, body: HTMLElement, align: 'start' | 'end', matchWidth: boolean): void {
  const at = base.getBoundingClientRect()
  if (matchWidth) body.style.minWidth = `${at.width}px`
  const below = at.bottom + GAP
  const fits = below + body.offsetHeight <= window.innerHeight - MARGIN
  const top = fits ? below : Math.max(MARGIN, at.top - GAP - body.offsetHeight)
  const wanted = align === 'start' ? at.left : at.right - body.offsetWidth
  const left = Math.max(MARGIN, Math.min(wanted, window.innerWidth - body.offsetWidth - MARGIN))
  body.style.top = `${top}px`
  body.style.left = `${left}px`
}
