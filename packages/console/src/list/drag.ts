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
/** This near to the edge of the box, the box scrolls. */
const EDGE = 44
const SCROLL_STEP = 10

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
  current = mine

  const start = () => {
    mine.isMoving = true
    drag.onStart()
    drag.onMove(at.x, at.y)
    frame = requestAnimationFrame(scroll)
  }
  const hold = isTouch ? setTimeout(start, HOLD_MS) : undefined
  const scroll = () => {
    const edges = box()?.getBoundingClientRect()
    if (edges) {
      const way = at.x < edges.left + EDGE ? -1 : at.x > edges.right - EDGE ? 1 : 0
      box()!.scrollLeft += way * SCROLL_STEP
      if (way !== 0) drag.onMove(at.x, at.y)
    }
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

/** The click that follows a drop on the same link is not meant to open it. */
function skipClick(): void {
  const skip = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener('click', skip, { capture: true, once: true })
  setTimeout(() => window.removeEventListener('click', skip, { capture: true }))
}
