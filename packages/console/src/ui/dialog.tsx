import { signal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { t } from '../texts/text.ts'
import { Icon } from './icon.tsx'

/** How a form inside a dialog is left: it may ask first. */
export const LeaveGuard = createContext<{ current: (() => void) | null } | null>(null)

/** A window over the page. Escape closes it, and the focus returns to where it was. */
export function Dialog(props: {
  title: string
  onClose: () => void
  size?: 'wide' | 'narrow' | 'viewer'
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const guard = useRef<(() => void) | null>(null)
  const close = () => (guard.current ?? props.onClose)()
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // People open a form to write, and not to close it.
    dialog.current?.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus()
    return () => {
      dialog.current?.close()
      const target = before instanceof HTMLElement && before.isConnected && before !== document.body ? before : null
      ;(target ?? document.getElementById('main'))?.focus()
    }
  }, [])
  useKeys({ Escape: close }, true)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by the keyboard
    <dialog
      ref={dialog}
      class={props.size ?? ''}
      aria-labelledby={id}
      onCancel={(event) => event.preventDefault()}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id}>{props.title}</h2>
          <button type="button" class="quiet icon-only" aria-label={t('Close')} onClick={close}>
            <Icon name="close" />
          </button>
        </div>
        <LeaveGuard.Provider value={guard}>{props.children}</LeaveGuard.Provider>
      </div>
    </dialog>
  )
}

interface Question {
  readonly title: string
  readonly text: string
  readonly yes: string
  readonly no: string
  answer(yes: boolean): void
}

const question = signal<Question | null>(null)

/** Asks before something is lost. */
export function confirm(title: string, text: string, yes: string, no = t('Cancel')): Promise<boolean> {
  return new Promise((done) => {
    question.value = {
      title,
      text,
      yes,
      no,
      answer(answer) {
        question.value = null
        done(answer)
      },
    }
  })
}

/** Asks whether unsaved changes may be dropped. */
export function confirmDiscard(): Promise<boolean> {
  return confirm(
    t('Discard your changes?'),
    t('What you changed here is not saved yet.'),
    t('Discard'),
    t('Keep editing'),
  )
}

/** The window of `confirm`. */
export function ConfirmDialog() {
  const asked = question.value
  const stay = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => stay.current?.focus(), [asked])
  if (!asked) return null
  return (
    <Dialog title={asked.title} size="narrow" onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <footer>
        <button ref={stay} type="button" class="primary" onClick={() => asked.answer(false)}>
          {asked.no}
        </button>
        <button type="button" class="danger" onClick={() => asked.answer(true)}>
          {asked.yes}
        </button>
      </footer>
    </Dialog>
  )
}
