import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { pretty } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { sentenceOf } from './notes.tsx'

/** A window over the page. Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; wide?: boolean; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
    // Whoever opened it came to write, not to close it.
    dialog.current?.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus()
  }, [])
  useKeys({ Escape: props.onClose }, true)
  return (
    <dialog
      ref={dialog}
      class={props.wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => event.preventDefault()}
    >
      <header>
        <h2 id={id}>{props.title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={props.onClose}>
          ×
        </button>
      </header>
      {props.children}
    </dialog>
  )
}

/** The head of a page: what it is, what it is for, what can be done. */
export function Head(props: { title: ComponentChildren; about?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header class="head">
      <div class="head-title">
        <h1>{props.title}</h1>
        {props.about !== undefined && <p class="about">{props.about}</p>}
      </div>
      <div class="actions">{props.children}</div>
    </header>
  )
}

/** A place that scrolls on its own, and can be scrolled from the keyboard. */
export function Scroll(props: { label: string; class?: string; busy?: boolean; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the arrow keys cannot reach what is out of sight
    <section class={`scroll ${props.class ?? ''}`} aria-label={props.label} aria-busy={props.busy} tabIndex={0}>
      {props.children}
    </section>
  )
}

/** What went wrong, where it went wrong. */
export function Trouble({ error }: { error: Error | null }) {
  if (!error) return null
  return (
    <p class="trouble" role="alert">
      {sentenceOf(error)}
    </p>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

/** A text that people take along, with the button that takes it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false)
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => undefined,
    )
  return (
    <div class="copyable">
      <Scroll label={label} class="json">
        <pre>{text}</pre>
      </Scroll>
      <button type="button" onClick={copy}>
        {done ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

/** JSON to read. */
export function JsonText({ value, label }: { value: unknown; label: string }) {
  return (
    <Scroll label={label} class="json">
      <pre>{pretty(value)}</pre>
    </Scroll>
  )
}

/** A labelled input of any sort. */
export function Labelled(props: {
  label: ComponentChildren
  for: string
  hint?: ComponentChildren
  error?: string | undefined
  children: ComponentChildren
}) {
  return (
    <div class={`labelled${props.error ? ' wrong' : ''}`}>
      <label for={props.for}>{props.label}</label>
      {props.children}
      {props.hint !== undefined && <small class="hint">{props.hint}</small>}
      {props.error && <small class="error">{props.error}</small>}
    </div>
  )
}

/** A button that is busy while its work runs. */
export function Act(props: {
  onRun: () => Promise<unknown>
  class?: string
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
      disabled={busy || props.disabled}
      aria-busy={busy}
      onClick={run}
    >
      {props.children}
    </button>
  )
}
