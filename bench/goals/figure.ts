import { quantile } from '../hosts/server.ts'

/** A goal: a rate that must be reached, or a time or size that must not be exceeded. */
interface Goal {
  readonly text: string
  readonly unit: string
  readonly atLeast?: number
  readonly atMost?: number
}

/** Prints what was measured next to its goal, as a row of the table in the docs. */
export function print({ text, unit, atLeast, atMost }: Goal, value: number, more = ''): void {
  const isMet = atLeast !== undefined ? value >= atLeast : value <= atMost!
  const bound = atLeast !== undefined ? `≥ ${amount(atLeast)}` : `≤ ${amount(atMost!)}`
  console.log(`| ${text} | ${bound} ${unit} | ${amount(value)} ${unit} | ${isMet ? 'met' : 'missed'} | ${more} |`)
}

/** The middle of some values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function amount(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
}
