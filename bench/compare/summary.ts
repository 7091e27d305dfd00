import type { Operation } from './contender.ts'
import type { Reading } from './wrk.ts'

/** The readings of an operation by the name of the contender. */
export type Readings = ReadonlyMap<string, readonly Reading[]>

const LABELS: { readonly [operation in Operation]: string } = {
  get: 'get by id',
  list: 'list of 25 with an indexed filter and total',
  create: 'create',
  update: 'update',
  verb: 'verb',
  asOf: 'the same list as of an earlier moment',
  text: '`$text` of two words that occur in a fifth of the rows each, total',
  batch: 'batch of 100 creates',
}

/** The medians of all operations as the tables of docs/notes/figures.md. */
export function summary(names: readonly string[], measured: ReadonlyMap<Operation, Readings>): string {
  const table = (title: string, pick: (reading: Reading) => number) => {
    const lines = [...measured].map(([operation, readings]) => {
      const cells = names.map((name) => {
        const value = median((readings.get(name) ?? []).map(pick))
        return Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en')
      })
      return [LABELS[operation], ...cells]
    })
    return [[title, ...names], names.concat('').map(() => '---'), ...lines]
      .map((line) => `| ${line.join(' | ')} |`)
      .join('\n')
  }
  return [
    table('per second', ({ perSecond }) => perSecond),
    table('99th percentile, ms', ({ p99 }) => p99),
    table('CPU time per request, µs', ({ cpuPerRequest }) => cpuPerRequest * 1_000),
  ].join('\n\n')
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}
