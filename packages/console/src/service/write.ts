import { signal } from '@preact/signals'
import { Problem } from '@tildebase/client'
import { say, sayError } from '../toast.ts'
import { invalidate } from './cache.ts'
import { request } from './service.ts'

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

/** Says what was done, with a button that takes it back. */
export function sayDone(text: string, correlation: string): void {
  say(text, { action: { label: 'Undo', run: () => undo(correlation) } })
}

/** Takes back everything that shares a correlation, in one transaction. */
export async function undo(correlation: string): Promise<void> {
  pending.value += 1
  try {
    const { undone, kept } = await request<{ undone: number; kept: readonly unknown[] }>(
      'POST',
      `/undo/${encodeURIComponent(correlation)}`,
    )
    invalidate(new Set(['*']))
    if (kept.length === 0) say(undone === 1 ? 'Undone.' : `${undone} changes undone.`)
    else say(`${undone} undone. ${kept.length} changed again in the meantime and stay as they are.`, { tone: 'bad' })
  } catch (reason) {
    sayError(reason)
  } finally {
    pending.value -= 1
  }
}

/** Whether a change was refused because the entity has a newer version. */
export function isConflict(reason: unknown): boolean {
  return reason instanceof Problem && reason.code === 'version_mismatch'
}

export function newCorrelation(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
