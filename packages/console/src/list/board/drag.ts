/** What happens while something is dragged. Places are those of the window. */
export interface Drag {
  onStart(): void
  onMove(x: number, y: number): void
  /** The drag ended over this element, or was given up. */
  onEnd(over: Element | null): void
}

/** A finger that rests this long takes the card; one that moves earlier scrolls. */
const HOLD_MS = 300
/** A mouse that moves less clicks. */
const SLACK = 6
/** This near to the edge of the box, the box scrolls: the nearer, the faster. */
const EDGE = 44
/** Pixels in a millisecond at the edge. It depends on the time and not on the frames, of which a slow device draws few. */
const SCROLL_SPEED = 0.9
/** A frame that took longer moves no further than this, so that no column is jumped over. */
const LONGEST_FRAME_MS = 100

let current: { readonly pointer: number; isMoving: boolean } | null = null

/** Whether a finger moves a card now, so that it must not scroll too. */
export function isDragging(): boolean {
  return current?.isMoving === true
}

/** Follows a pointer that was pressed: with a mouse from its first move on, with a finger after a short hold. Esc gives it up. */
export function followDrag(down: PointerEvent, box: () => HTMLElement | null, drag: Drag): void {
  if (current || down.button !== 0 || !down.isPrimary) return
  if ((down.target as Element).closest('button, input, [role=menu]')) return
  const mine = { pointer: down.pointerId, isMoving: false }
  const isTouch = down.pointerType === 'touch'
  const listening = new AbortController()
  const { signal } = listening
  let at = { x: down.clientX, y: down.clientY }
  let frame = 0
  let drawnAt = 0
  current = mine

  const start = () => {
    mine.isMoving = true
    drag.onStart()
    drag.onMove(at.x, at.y)
    drawnAt = performance.now()
    frame = requestAnimationFrame(scroll)
  }
  const hold = isTouch ? setTimeout(start, HOLD_MS) : undefined
  const scroll = (now: number) => {
    const scrolled = box()
    if (scrolled) {
      const way = wayAt(at.x, scrolled.getBoundingClientRect())
      const passed = Math.min(Math.max(0, now - drawnAt), LONGEST_FRAME_MS)
      // Whole pixels: a browser may drop the rest of each step.
      scrolled.scrollLeft += Math.sign(way) * Math.ceil(Math.abs(way) * SCROLL_SPEED * passed)
      if (way !== 0) drag.onMove(at.x, at.y)
    }
    drawnAt = now
    frame = requestAnimationFrame(scroll)
  }
  const end = (over: Element | null) => {
    clearTimeout(hold)
    cancelAnimationFrame(frame)
    listening.abort()
    current = null
    if (!mine.isMoving) return
    skipClick()
    drag.onEnd(over)
  }

  const onMine = (run: (event: PointerEvent) => void) => (event: PointerEvent) =>
    event.pointerId === mine.pointer && run(event)
  const move = onMine(({ clientX, clientY }) => {
    const isFar = Math.hypot(clientX - down.clientX, clientY - down.clientY) > SLACK
    if (!mine.isMoving && isTouch && isFar) return end(null)
    at = { x: clientX, y: clientY }
    if (!mine.isMoving && !isTouch && isFar) start()
    if (mine.isMoving) drag.onMove(clientX, clientY)
  })
  window.addEventListener('pointermove', move, { signal })
  window.addEventListener(
    'pointerup',
    onMine(({ clientX, clientY }) => end(document.elementFromPoint(clientX, clientY))),
    { signal },
  )
  window.addEventListener(
    'pointercancel',
    onMine(() => end(null)),
    { signal },
  )
  // A finger that rests on a link would open the menu of the link.
  window.addEventListener('contextmenu', (event) => isTouch && event.preventDefault(), { signal })
  const giveUp = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !mine.isMoving) return
    event.preventDefault()
    event.stopPropagation()
    end(null)
  }
  window.addEventListener('keydown', giveUp, { signal, capture: true })
}

/** How fast a pointer at `x` scrolls the box, and to which side: from -1 to 1. */
function wayAt(x: number, { left, right }: DOMRect): number {
  const depth = Math.max(x - (right - EDGE), 0) - Math.max(left + EDGE - x, 0)
  return Math.max(-1, Math.min(1, depth / EDGE))
}

/** The click that follows a drop on the same link is not meant to open it. */
function skipClick(): void {
  const skip = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener('click', skip, { capture: true, once: true })
  setTimeout(() => window.removeEventListener('click', skip, { capture: true }))
}
