const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What the operator decides about deliveries. */
export interface WebhookOptions {
  /** The waits before the retries of one delivery, in milliseconds. */
  readonly retries: readonly number[]
  readonly timeoutMs: number
  /** Whether http is allowed beside https. The host's guard against private addresses is lifted with it. */
  readonly insecure: boolean
  /** How long records of finished deliveries are kept. */
  readonly keepMs: number
}

export const WEBHOOK_DEFAULTS: WebhookOptions = {
  retries: [30 * SECOND, 2 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR],
  timeoutMs: 10 * SECOND,
  insecure: false,
  keepMs: 30 * DAY,
}

/** When to try again after `failures` failed tries, or null once the retries are used up. */
export function nextTry(retries: readonly number[], failures: number, now: number): number | null {
  const wait = retries[failures - 1]
  return wait === undefined ? null : now + wait
}
