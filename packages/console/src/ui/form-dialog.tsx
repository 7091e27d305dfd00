import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useUnsaved } from '../drafts.ts'
import { useKeys } from '../keyboard.ts'
import { t } from '../texts/text.ts'
import { issuesOf } from '../toast.ts'
import { Refusal, useFocusOnRefused } from './basics.tsx'
import { confirmDiscard, Dialog, LeaveGuard } from './dialog.tsx'
import { TextField } from './inputs.tsx'
import { Copyable } from './json-text.tsx'
import { Failure } from './states.tsx'
import { takeTyped } from './typing-ahead.tsx'

interface FormProps {
  readonly submit: string
  /** Resolves when the form is done; a thrown Problem is shown in the form. */
  readonly onSubmit: () => Promise<unknown>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A form in a window. What was typed is not dropped without a question. */
export function FormDialog({ title, size, ...form }: FormProps & { title: string; size?: 'wide' | 'narrow' }) {
  return (
    <Dialog title={title} onClose={form.onClose} {...(size && { size })}>
      <Form {...form} />
    </Dialog>
  )
}

function Form({ submit, onSubmit, onClose, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  // No state: Escape may come before the next drawing.
  const isTouched = useRef(false)
  const [isUnsaved, setUnsaved] = useState(false)
  const [busy, setBusy] = useState(false)
  // What is being saved is not lost by the page that comes next.
  useUnsaved(isUnsaved && !busy)
  const [error, setError] = useState<Error | null>(null)
  useFocusOnRefused(form, error)
  const unsaid = useUnsaid(form, error)
  const save = async () => {
    if (busy || !form.current?.reportValidity()) return
    setBusy(true)
    setError(null)
    await onSubmit().catch(setError)
    setBusy(false)
  }
  const leave = async () => {
    // It closes when it is saved, and can be left when it is not.
    if (busy) return
    if (!isTouched.current || (await confirmDiscard())) onClose()
  }
  const guard = useContext(LeaveGuard)
  // With the drawing and not after it: Escape may come in between.
  useLayoutEffect(() => {
    if (guard) guard.current = () => void leave()
  })
  useKeys({ 'mod+s': () => void save() })
  return (
    <form
      ref={form}
      onInput={() => {
        isTouched.current = true
        setUnsaved(true)
      }}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Refusal.Provider value={error}>{children}</Refusal.Provider>
      <Failure error={unsaid} />
      <footer>
        <button type="submit" class="primary" aria-busy={busy}>
          {submit}
        </button>
        <button type="button" onClick={() => void leave()}>
          {t('Cancel')}
        </button>
      </footer>
    </form>
  )
}

/** Asks for the name of something new. */
export function NameDialog(props: {
  title: string
  submit: string
  onName: (name: string) => Promise<unknown>
  onClose: () => void
  children?: ComponentChildren
}) {
  // The window may have been loaded while people typed.
  const [name, setName] = useState(takeTyped)
  return (
    <FormDialog
      title={props.title}
      size="narrow"
      submit={props.submit}
      onSubmit={() => props.onName(name.trim())}
      onClose={props.onClose}
    >
      <TextField label={t('Name')} field="name" required value={name} onChange={setName} />
      {props.children}
    </FormDialog>
  )
}

/** A secret that is shown once. */
export function SecretDialog(props: {
  title: string
  about: string
  label: string
  secret: string
  onClose: () => void
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.about}</p>
      <Copyable text={props.secret} label={props.label} />
    </Dialog>
  )
}

/** What was refused, unless the inputs of the form say all of it themselves. */
export function useUnsaid(form: { readonly current: HTMLElement | null }, error: Error | null): Error | null {
  const [unsaid, setUnsaid] = useState<Error | null>(null)
  // Inputs are drawn after the form that holds them.
  useEffect(() => {
    const notes = [...(form.current?.querySelectorAll('small.error') ?? [])].map((note) => note.textContent)
    const issues = issuesOf(error)
    setUnsaid(issues.length > 0 && issues.every(({ message }) => notes.includes(message)) ? null : error)
  }, [error])
  return unsaid === error ? error : null
}
