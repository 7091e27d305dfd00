import { signal } from '@preact/signals'
import { Problem } from '@tildebase/client'
import { ClosedError } from './service/service.ts'
import { t } from './texts/text.ts'
import { answerText, labelOf } from './values/format.ts'

export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
  readonly action: ToastAction | null
}

interface ToastAction {
  readonly label: string
  /** What it is about: a message whose action was run elsewhere goes away. */
  readonly about?: string
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

/** Removes the messages that said that the server cannot be reached, once it is. */
export function forgetLost(): void {
  toasts.value = toasts.value.filter(({ text }) => text !== SENTENCES.unreachable)
}

/** Removes the message whose action is about this. */
export function dismissAction(about: string): void {
  toasts.value = toasts.value.filter(({ action }) => action?.about !== about)
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** A failure as a sentence for people. */
export function sentenceOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  const own = reason instanceof Problem ? SENTENCES[reason.code] : undefined
  if (own) return own
  const said = reason instanceof Problem ? answerText(reason.message, reason.code) : reason.message
  const isSaid = (message: string) => said.includes(message) || said.includes(answerText(message))
  // The service's message already names the issues of a short list.
  const more = statedIssues(reason).filter(({ message }) => !isSaid(message))
  const words = more.map(({ field, message }) => `${field ? `${labelOf(field)}: ` : ''}${answerText(message)}`)
  return [said, ...words].join(' ')
}

interface Issue {
  readonly field?: string
  readonly message: string
}

/** The faults of single fields that a failure names, in the reader's language. */
export function issuesOf(reason: unknown): readonly Issue[] {
  return statedIssues(reason).map((one) => ({ ...one, message: answerText(one.message) }))
}

/** The same faults in the words of the service. */
function statedIssues(reason: unknown): readonly Issue[] {
  if (!(reason instanceof Problem)) return []
  const { details, field } = reason.about
  if (Array.isArray(details)) return details as readonly Issue[]
  return field ? [{ field, message: reason.message }] : []
}

const SENTENCES: { readonly [code: string]: string } = {
  unreachable: t(
    'The server cannot be reached. Nothing was saved. Your input stays here; save again when the connection is back.',
  ),
  unauthorized: t('This key is not valid here. Check that you copied all of it, and that it was not revoked.'),
  version_mismatch: t('This was changed by someone else in the meantime.'),
}
