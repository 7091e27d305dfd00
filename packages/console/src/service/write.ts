import { signal } from '@preact/signals'
import { Problem, type UndoAnswer } from '@tildebase/client'
import { t } from '../texts/text.ts'
import { dismissAction, say, sayError } from '../toast.ts'
import { numberText } from '../values/format.ts'
import { invalidate } from './cache.ts'
import { request } from './service.ts'
import { session } from './session.ts'

const MOST_UNDOS = 100

/** How many writes are on their way. */
export const pending = signal(0)

/** One change to the tenant. */
export interface Write {
  readonly method?: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** The version that was read: another one is refused with `version_mismatch`. */
  readonly version?: number | undefined
  /** The type that changes. */
  readonly type: string
}

export interface Written<T> {
  readonly value: T
  /** What `undo` takes back. */
  readonly correlation: string
}

/** Sends a change. All answers that depend on its type are asked for again. */
export async function write<T>(change: Write, correlation = newCorrelation()): Promise<Written<T>> {
  pending.value += 1
  try {
    const value = await request<T>(change.method ?? 'POST', change.path, {
      body: change.body,
      headers: {
        'x-correlation-id': correlation,
        'if-match': change.version === undefined ? undefined : `"${change.version}"`,
      },
    })
    invalidate(new Set([change.type]))
    return { value, correlation }
  } catch (reason) {
    // What the page shows is old: it is asked for again.
    if (isConflict(reason)) invalidate(new Set([change.type]))
    throw reason
  } finally {
    pending.value -= 1
  }
}

/** What people did in this tab and can take back, the newest last. The messages go; this stays. */
let done: readonly { readonly text: string; readonly correlation: string }[] = []

/** Says what was done, with a button that takes it back. */
export function sayDone(text: string, correlation: string, tone: 'good' | 'bad' = 'good'): void {
  done = [...done, { text, correlation }].slice(-MOST_UNDOS)
  say(text, { tone, action: { label: t('Undo'), about: correlation, run: () => undo(correlation) } })
}

/** Takes back the last change of this tab, however long ago it was. */
export function undoNewest(): void {
  const newest = done.at(-1)
  if (newest) void undo(newest.correlation)
}

/** Takes back everything that shares a correlation, in one transaction. False when it was refused. */
export async function undo(correlation: string, saysWhy = true): Promise<boolean> {
  const text = done.find((one) => one.correlation === correlation)?.text
  done = done.filter((one) => one.correlation !== correlation)
  dismissAction(correlation)
  pending.value += 1
  try {
    const answer = await request<Partial<UndoAnswer> & Pick<UndoAnswer, 'correlation' | 'kept'>>(
      'POST',
      `/undo/${encodeURIComponent(correlation)}`,
    )
    invalidate(new Set(['*']))
    const { undone, kept } = answer
    if (undone === undefined) {
      // A long undo continues as a task of the service.
      say(t('It is being undone. That takes a moment.'))
      return true
    }
    const count = undone === 1 ? t('Undone') : t('{} changes undone', numberText(undone))
    const stayed =
      kept.length === 0 ? '' : ` ${t('{} tracked events stay, because they happened.', numberText(kept.length))}`
    say(`${text === undefined ? `${count}.` : `${count}: ${text}`}${stayed}`, {
      action: { label: t('Redo'), run: () => undo(answer.correlation) },
    })
    return true
  } catch (reason) {
    if (saysWhy) sayError(reason)
    return false
  } finally {
    pending.value -= 1
  }
}

/** Whether a change was refused because the entity has a newer version. */
export function isConflict(reason: unknown): boolean {
  return reason instanceof Problem && reason.code === 'version_mismatch'
}

/** What the correlations of this tab begin with. */
const TAB = `console-${randomHex(6)}`

export function newCorrelation(): string {
  return `${TAB}${randomHex(6)}`
}

/** Whether a change was made in this tab. */
export function isOwn(correlation: string | null | undefined): boolean {
  return correlation?.startsWith(TAB) === true
}

function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
}

// What was done in one tenant is not undone in another.
session.subscribe(() => {
  done = []
})
