import { Problem } from '@tildebase/nouns'

const FIRST_WAIT = 100
const LONGEST_WAIT = 10_000
const LONGEST_PATIENCE = 60_000

/** Codes of 503 answers for which a retry does not help. */
const HOPELESS = new Set(['layout_too_new'])

/** A failed attempt: no connection, or a refusal. */
export type Failure =
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly status: number; readonly code: string; readonly retryAfter: string | null }

/** The wait before the next attempt, in milliseconds; null if a retry does not help. */
export function nextWait(failure: Failure, failures: number, chance: () => number = Math.random): number | null {
  // Full jitter, so that clients that failed together do not retry together.
  const wait = chance() * backOff(failures)
  if (failure.kind === 'lost') return wait
  if (failure.status !== 429 && failure.status !== 503) return null
  if (HOPELESS.has(failure.code)) return null
  const told = toldWait(failure.retryAfter)
  if (told === null) return wait
  return told > LONGEST_PATIENCE ? null : told + wait
}

/** Whether a failure is temporary: no connection, a busy or restarting service, an interrupted answer. */
export function isTemporary(reason: unknown): boolean {
  if (reason instanceof Problem)
    return reason.code === 'unreachable' || [429, 503].includes(Number(reason.about.status))
  return reason instanceof TypeError
}

/** The longest wait after this number of failures. */
export function backOff(failures: number): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(failures, 20))
}

/** Waits, unless the signal ends it first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const stop = () => {
      clearTimeout(timer)
      failed(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      done()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Retry-After in milliseconds: a number of seconds, or a date. */
function toldWait(header: string | null): number | null {
  if (header === null || header.trim() === '') return null
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
