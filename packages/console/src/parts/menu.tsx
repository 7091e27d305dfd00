import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'

/** A button that opens a list of choices. It closes when one is made, or when people turn elsewhere. */
export function Menu(props: {
  label: ComponentChildren
  name?: string
  quiet?: boolean
  stays?: boolean
  children: ComponentChildren
}) {
  const [open, setOpen] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  return (
    <div class="menu" ref={menu}>
      <button
        type="button"
        class={props.quiet ? 'quiet' : ''}
        aria-expanded={open}
        aria-label={props.name}
        onClick={() => setOpen(!open)}
      >
        {props.label}
      </button>
      {open && (
        <Choices anchor={menu} stays={props.stays ?? false} onClose={() => setOpen(false)}>
          {props.children}
        </Choices>
      )}
    </div>
  )
}

function Choices(props: {
  anchor: { current: HTMLElement | null }
  stays: boolean
  onClose: () => void
  children: ComponentChildren
}) {
  const { anchor, stays, onClose } = props
  const body = useRef<HTMLDivElement>(null)
  useKeys({ Escape: onClose })
  useEffect(() => {
    place(anchor.current!, body.current!)
    const elsewhere = (event: Event) => {
      const inside = anchor.current?.contains(event.target as Node)
      if (!inside || (!stays && body.current?.contains(event.target as Node))) setTimeout(onClose)
    }
    const scrolled = (event: Event) => event.target !== body.current && onClose()
    document.addEventListener('click', elsewhere)
    document.addEventListener('scroll', scrolled, true)
    return () => {
      document.removeEventListener('click', elsewhere)
      document.removeEventListener('scroll', scrolled, true)
    }
  }, [anchor, stays, onClose])
  return (
    <div class="menu-body" ref={body}>
      {props.children}
    </div>
  )
}

/** Below its button, or above where there is no room; out of every box that scrolls. */
function place(anchor: HTMLElement, body: HTMLElement): void {
  const at = anchor.getBoundingClientRect()
  const below = at.bottom + 6
  const fits = below + body.offsetHeight <= window.innerHeight
  body.style.top = `${fits ? below : Math.max(8, at.top - 6 - body.offsetHeight)}px`
  body.style.left = `${Math.max(8, Math.min(at.right - body.offsetWidth, window.innerWidth - body.offsetWidth - 8))}px`
}
