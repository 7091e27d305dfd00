import { signal } from '@preact/signals'
import { Problem } from '@tildebase/client'
import { ClosedError } from './service/service.ts'

export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
  readonly action: ToastAction | null
}

interface ToastAction {
  readonly label: string
  run(): unknown
}

const MOST = 4
const SECOND = 1_000

export const toasts = signal<readonly Toast[]>([])
let lastId = 0

/** Shows a short message. One with an action stays longer, so that there is time to use it. */
export function say(
  text: string,
  { tone = 'good', action = null }: Partial<Pick<Toast, 'tone' | 'action'>> = {},
): void {
  lastId += 1
  const id = lastId
  // The newest comes first, because people usually undo the last change.
  toasts.value = [{ id, text, tone, action }, ...toasts.value].slice(0, MOST)
  setTimeout(() => dismiss(id), (action ? 12 : tone === 'good' ? 4 : 9) * SECOND)
}

/** Shows why something failed. */
export function sayError(reason: unknown): void {
  if (reason instanceof ClosedError) return
  say(sentenceOf(reason), { tone: 'bad' })
}

/** Runs the action of the newest message that has one. */
export function runNewestAction(): void {
  const newest = toasts.value.find(({ action }) => action !== null)
  if (!newest) return
  dismiss(newest.id)
  newest.action?.run()
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** A failure as a sentence for people. */
export function sentenceOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  const own = reason instanceof Problem ? SENTENCES[reason.code] : undefined
  if (own) return own
  const more = issuesOf(reason).map(({ field, message }) => (field ? `${field}: ${message}` : message))
  // The service's message already names the issues of a short list.
  return more.every((text) => reason.message.includes(text)) ? reason.message : `${reason.message} ${more.join('; ')}`
}

/** The faults of single fields that a failure names. */
export function issuesOf(reason: unknown): readonly { readonly field?: string; readonly message: string }[] {
  if (!(reason instanceof Problem)) return []
  const { details, field } = reason.about
  if (Array.isArray(details)) return details as { field?: string; message: string }[]
  return field ? [{ field, message: reason.message }] : []
}

const SENTENCES: { readonly [code: string]: string } = {
  unreachable: 'The server cannot be reached. Your changes are kept here; try again in a moment.',
  unauthorized: 'This key is not valid here. Check that you copied all of it, and that it was not revoked.',
  version_mismatch: 'This was changed by someone else in the meantime.',
}
