import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { useFloating } from './floating.ts'

export interface Option {
  readonly value: string
  readonly label: string
  readonly hint?: string | undefined
}

/** A text field with a list of suggestions, by the combobox pattern of WAI-ARIA (list autocomplete, manual selection). */
export function Combobox(props: {
  id?: string | undefined
  label?: string | undefined
  /** What the field shows while the list is closed. */
  text: string
  options: readonly Option[]
  loading?: boolean
  placeholder?: string
  required?: boolean | undefined
  invalid?: boolean
  autofocus?: boolean
  onInput: (text: string) => void
  onSelect: (option: Option) => void
  /** Called when the text was cleared and the field was left. */
  onClear?: () => void
}) {
  const { options, onSelect } = props
  const [open, setOpen] = useState(false)
  const [typed, setTyped] = useState<string | null>(null)
  const [active, setActive] = useState(-1)
  // Enter came before the options for what is typed: it chooses when they are there.
  const isAwaited = useRef(false)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  const current = Math.min(active, options.length - 1)
  const show = () => {
    if (!open) props.onInput(typed ?? '')
    setOpen(true)
  }
  const close = () => {
    isAwaited.current = false
    setOpen(false)
    setActive(-1)
  }
  const choose = (option: Option) => {
    onSelect(option)
    setTyped(null)
    close()
  }
  const chooseFirst = () => {
    isAwaited.current = props.loading === true
    if (!props.loading && options.length > 0) choose(options[0]!)
  }
  useLayoutEffect(() => {
    if (isAwaited.current) chooseFirst()
  }, [props.loading])
  const leave = () => {
    if (typed === '') props.onClear?.()
    setTyped(null)
    close()
  }
  const press = (event: KeyboardEvent) => {
    const last = options.length - 1
    const act: { readonly [key: string]: () => void } = {
      ArrowDown: () => (open ? setActive(current >= last ? 0 : current + 1) : show()),
      ArrowUp: () => (open ? setActive(current <= 0 ? last : current - 1) : show()),
      ...(open && {
        Escape: () => {
          setTyped(null)
          close()
        },
        ...(current >= 0 && { Enter: () => choose(options[current]!) }),
        ...(current < 0 && typed && { Enter: chooseFirst }),
      }),
    }
    const run = act[event.key]
    if (!run) return
    event.preventDefault()
    event.stopPropagation()
    run()
  }
  return (
    <>
      <input
        ref={input}
        id={props.id}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-label={props.label}
        aria-expanded={open}
        aria-controls={open ? list : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && current >= 0 ? `${list}-${current}` : undefined}
        aria-invalid={props.invalid || undefined}
        required={props.required}
        placeholder={props.placeholder}
        value={typed ?? props.text}
        onFocus={(event) => event.currentTarget.select()}
        onClick={show}
        onInput={(event) => {
          isAwaited.current = false
          setTyped(event.currentTarget.value)
          setActive(-1)
          setOpen(true)
          props.onInput(event.currentTarget.value)
        }}
        onKeyDown={press}
        onBlur={leave}
      />
      {open && (
        <Suggestions
          id={list}
          anchor={input}
          options={options}
          active={current}
          loading={props.loading ?? false}
          onChoose={choose}
          onLeave={close}
        />
      )}
    </>
  )
}

function Suggestions(props: {
  id: string
  anchor: { readonly current: HTMLElement | null }
  options: readonly Option[]
  active: number
  loading: boolean
  onChoose: (option: Option) => void
  onLeave: () => void
}) {
  const body = useRef<HTMLDivElement>(null)
  const [leave] = useState(() => props.onLeave)
  useFloating(props.anchor, body, 'start', leave, true)
  useEffect(() => {
    body.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [props.active])
  return (
    <div class="menu suggestions" popover="manual" ref={body}>
      <div role="listbox" id={props.id} aria-label={t('Suggestions')}>
        {props.options.map((option, at) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
          <div
            key={option.value}
            id={`${props.id}-${at}`}
            role="option"
            class="option"
            aria-selected={at === props.active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => props.onChoose(option)}
          >
            <span class="menu-label">{option.label}</span>
            {option.hint && <span class="menu-hint">{option.hint}</span>}
          </div>
        ))}
      </div>
      {props.options.length === 0 && (
        <p class="menu-empty" role="status">
          {props.loading ? t('Searching…') : t('Nothing found')}
        </p>
      )}
    </div>
  )
}
