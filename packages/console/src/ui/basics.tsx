import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { place } from '../place.ts'
import { t } from '../texts/text.ts'
import { issuesOf } from '../toast.ts'
import { Icon, type IconName } from './icon.tsx'
import { TypeIcon } from './type-icon.tsx'

/** The head of a page: what it is, what it is for, and what can be done. */
export function Head(props: {
  title: ComponentChildren
  /** The type that the page is about. */
  type?: string
  about?: ComponentChildren
  children?: ComponentChildren
}) {
  const title = useRef<HTMLHeadingElement>(null)
  // Tabs of the browser and its history are found by what they show.
  useLayoutEffect(() => {
    document.title = `${title.current?.textContent} · ~${place.value.tenant} · Tildebase`
  })
  return (
    <header class="head">
      <div class="head-title">
        <h1 ref={title}>
          {props.type && <TypeIcon type={props.type} />}
          {/* A name has the direction of its own words; the drawing stays where lines begin. */}
          <span dir="auto">{props.title}</span>
        </h1>
        {props.about !== undefined && <p class="about">{props.about}</p>}
      </div>
      <div class="actions">{props.children}</div>
    </header>
  )
}

/** A region that scrolls on its own, also with the keyboard. */
export function Scroll(props: { label: string; class?: string; busy?: boolean; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the arrow keys cannot reach what is out of sight
    <section class={`scroll ${props.class ?? ''}`} aria-label={props.label} aria-busy={props.busy} tabIndex={0}>
      {props.children}
    </section>
  )
}

/** In the place of a value that is not there: a dash, which is read out as a word. */
export function Empty() {
  return (
    <span class="none" role="img" aria-label={t('empty')}>
      —
    </span>
  )
}

/** Why the service refused what a form gave. */
export const Refusal = createContext<Error | null>(null)

/** A labelled input of any sort. */
export function Labelled(props: {
  label: ComponentChildren
  for: string
  /** The name by which the service knows the input. */
  field?: string | undefined
  hint?: ComponentChildren
  error?: string | undefined
  /** The id of the message that says elsewhere why it was refused. */
  refusedBy?: string | undefined
  wide?: boolean
  children: ComponentChildren
}) {
  const issues = issuesOf(useContext(Refusal))
  const error = props.error ?? issues.find(({ field }) => field !== undefined && field === props.field)?.message
  return (
    <div class={`labelled${error ? ' wrong' : ''}${props.wide ? ' wide' : ''}`}>
      <label for={props.for}>{props.label}</label>
      {props.children}
      <InputNotes for={props.for} hint={props.hint} error={error} refusedBy={props.refusedBy} />
    </div>
  )
}

/** What an input is for, and why it was refused. The input is described by both, for those who hear it. */
export function InputNotes(props: {
  for: string
  hint?: ComponentChildren
  error?: string | undefined
  refusedBy?: string | undefined
}) {
  const { for: id, hint, error } = props
  const reason = error ? `${id}-error` : props.refusedBy
  const notes = [...(reason ? [reason] : []), ...(hint === undefined ? [] : [`${id}-hint`])].join(' ')
  // After each drawing: the code of some inputs comes later.
  useLayoutEffect(() => {
    const input = document.getElementById(id)
    set(input, 'aria-describedby', notes)
    if (input?.matches('input, select, textarea')) set(input, 'aria-invalid', reason ? 'true' : '')
  })
  return (
    <>
      {hint !== undefined && (
        <small class="hint" id={`${id}-hint`}>
          {hint}
        </small>
      )}
      {error && (
        <small class="error" id={`${id}-error`}>
          {error}
        </small>
      )}
    </>
  )
}

function set(element: HTMLElement | null, name: string, value: string): void {
  if (value === '') element?.removeAttribute(name)
  else element?.setAttribute(name, value)
}

/** Moves the focus to the first input that was refused. */
export function useFocusOnRefused(form: { readonly current: HTMLElement | null }, error: Error | null): void {
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
}

/** A button that is busy while its work runs. */
export function Act(props: {
  onRun: () => Promise<unknown>
  class?: string
  icon?: IconName
  disabled?: boolean
  title?: string
  children: ComponentChildren
}) {
  const [busy, setBusy] = useState(false)
  const run = () => {
    setBusy(true)
    void props.onRun().finally(() => setBusy(false))
  }
  return (
    <button
      type="button"
      class={props.class ?? ''}
      title={props.title}
      disabled={props.disabled}
      aria-disabled={busy || undefined}
      aria-busy={busy}
      // Not disabled while it is busy: a disabled button loses the focus.
      onClick={() => busy || run()}
    >
      {props.icon && <Icon name={props.icon} />}
      {props.children}
    </button>
  )
}

/** Two or more ways to look at the same thing. */
export function Tabs<T extends string>(props: {
  label: string
  value: T
  options: readonly { readonly value: T; readonly label: string; readonly icon?: IconName }[]
  onChange: (value: T) => void
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced with each button
    <div class="tabs" role="group" aria-label={props.label}>
      {props.options.map(({ value, label, icon }) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {icon && <Icon name={icon} />}
          {icon ? <span class="button-label">{label}</span> : label}
        </button>
      ))}
    </div>
  )
}
