import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useFloating } from './floating.ts'
import { Icon, type IconName } from './icon.tsx'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly hint?: string
  readonly danger?: boolean
  readonly disabled?: boolean
  /** Given for an item that is on or off: the menu stays open when it is chosen. */
  readonly checked?: boolean
  /** Given for one of several choices: the menu closes when it is chosen. */
  readonly chosen?: boolean
  /** A line above the item, with a word for what follows. */
  readonly section?: string
  onSelect(): unknown
}

/** A button with a menu, by the menu button pattern of WAI-ARIA. */
export function Menu(props: {
  label: ComponentChildren
  /** The name of the button, where its label is a drawing. */
  name?: string
  class?: string
  icon?: IconName
  align?: 'start' | 'end'
  /** A function makes them when the menu opens: a list has a menu in each row. */
  items: readonly MenuItem[] | (() => readonly MenuItem[])
}) {
  const { items } = props
  const [open, setOpen] = useState<'first' | 'last' | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const close = (restore = true) => {
    setOpen(null)
    if (restore) button.current?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={props.class ?? ''}
        aria-haspopup="menu"
        aria-expanded={open !== null}
        aria-controls={open ? id : undefined}
        aria-label={props.name}
        title={props.name}
        onClick={() => setOpen(open ? null : 'first')}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          event.stopPropagation()
          setOpen(event.key === 'ArrowDown' ? 'first' : 'last')
        }}
      >
        {props.icon && <Icon name={props.icon} />}
        {props.icon ? <span class="button-label">{props.label}</span> : props.label}
      </button>
      {open && (
        <MenuList
          id={id}
          anchor={button}
          items={typeof items === 'function' ? items() : items}
          from={open}
          align={props.align ?? 'end'}
          name={props.name ?? (typeof props.label === 'string' ? props.label : 'Menu')}
          onClose={close}
        />
      )}
    </>
  )
}

function MenuList(props: {
  id: string
  anchor: { readonly current: HTMLElement | null }
  items: readonly MenuItem[]
  from: 'first' | 'last'
  align: 'start' | 'end'
  name: string
  onClose: (restore?: boolean) => void
}) {
  const { items, onClose } = props
  const body = useRef<HTMLDivElement>(null)
  const [leave] = useState(() => () => onClose(false))
  useFloating(props.anchor, body, props.align, leave)
  const focus = (at: number) => {
    const all = [...(body.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
    all.at(at < 0 ? -1 : at % all.length)?.focus()
  }
  useLayoutEffect(() => focus(props.from === 'first' ? 0 : -1), [])
  const choose = (item: MenuItem) => {
    if (item.disabled) return
    if (item.checked === undefined) onClose()
    item.onSelect()
  }
  const typed = useRef({ text: '', at: 0 })
  const press = (event: KeyboardEvent) => {
    const all = [...(body.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
    const here = all.indexOf(document.activeElement as HTMLElement)
    const moves: { readonly [key: string]: () => void } = {
      ArrowDown: () => focus(here + 1),
      ArrowUp: () => focus(here - 1),
      Home: () => focus(0),
      End: () => focus(-1),
      Escape: () => onClose(),
      Tab: () => onClose(),
    }
    const move = moves[event.key]
    // A menu keeps all keys to itself: those of the page below do nothing while it is open.
    event.stopPropagation()
    if (move) {
      if (event.key !== 'Tab') event.preventDefault()
      return move()
    }
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey || event.key === ' ') return
    const now = Date.now()
    typed.current = {
      text: (now - typed.current.at < 600 ? typed.current.text : '') + event.key.toLowerCase(),
      at: now,
    }
    const order = [...items.slice(here + 1), ...items.slice(0, here + 1)]
    const found = order.find(({ label }) => label.toLowerCase().startsWith(typed.current.text))
    if (found) focus(items.indexOf(found))
  }
  return (
    <div
      ref={body}
      id={props.id}
      class="menu"
      role="menu"
      aria-label={props.name}
      tabIndex={-1}
      popover="manual"
      onKeyDown={press}
    >
      {items.map((item) => (
        <>
          {item.section !== undefined && (
            <div class="menu-section" role="presentation" key={`section ${item.section}`}>
              {item.section}
            </div>
          )}
          <button
            key={item.label}
            type="button"
            {...roleOf(item)}
            aria-disabled={item.disabled}
            tabIndex={-1}
            class={item.danger ? 'danger' : ''}
            onClick={() => choose(item)}
          >
            {(item.checked ?? item.chosen) !== undefined && (
              <span class="tick">{(item.checked ?? item.chosen) && <Icon name="check" />}</span>
            )}
            {item.icon && <Icon name={item.icon} />}
            <span class="menu-label">{item.label}</span>
            {item.hint && <span class="menu-hint">{item.hint}</span>}
          </button>
        </>
      ))}
    </div>
  )
}

function roleOf({ checked, chosen }: MenuItem) {
  if (chosen !== undefined) return { role: 'menuitemradio', 'aria-checked': chosen } as const
  return checked === undefined
    ? ({ role: 'menuitem' } as const)
    : ({ role: 'menuitemcheckbox', 'aria-checked': checked } as const)
}
