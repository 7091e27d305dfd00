const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)$/

/** How long a step can wait: ten years. */
export const LONGEST_STEP = 3_660 * 86_400_000

/** Milliseconds of `30s`, or of a number of seconds; null when it is neither, or longer than `longest`. */
export function durationOf(value: unknown, longest: number): number | null {
  const [, amount, unit] = typeof value === 'string' ? (DURATION.exec(value) ?? []) : []
  const ms = amount !== undefined ? Number(amount) * UNITS[unit!]! : typeof value === 'number' ? value * 1_000 : -1
  return ms >= 0 && ms <= longest ? ms : null
}
