import { existsSync, readFileSync } from 'node:fs'
import type { RoundReport } from './round.ts'

/** The rounds of one fault, added up. */
interface Line {
  rounds: number
  acknowledged: number
  gap: number
  violations: number
  unknown: number
  unacknowledged: number
}

/** Adds up rounds by fault. */
export class Summary {
  readonly #lines = new Map<string, Line>()
  readonly #strange = new Map<string, number>()

  /** The summary of a file of rounds. */
  static of(file: string): Summary {
    const summary = new Summary()
    for (const report of reportsIn(file)) summary.add(report)
    return summary
  }

  add(report: RoundReport): void {
    for (const name of [report.fault, 'all']) {
      const line = this.#line(name)
      line.rounds++
      line.acknowledged += report.acknowledged
      line.gap = Math.max(line.gap, report.gap)
      line.violations += report.violations.length
      line.unknown += report.unknown
      line.unacknowledged += report.unacknowledged
    }
    for (const [answer, count] of Object.entries(report.strange))
      this.#strange.set(answer, (this.#strange.get(answer) ?? 0) + count)
  }

  get violations(): number {
    return this.#line('all').violations
  }

  /** A table in Markdown, one line per fault, all rounds last. */
  table(): string {
    const faults = [...this.#lines.keys()].filter((name) => name !== 'all').toSorted()
    const rows = [...faults, 'all'].map((name) => {
      const line = this.#line(name)
      const cells = [
        name,
        line.rounds,
        line.acknowledged.toLocaleString('en'),
        `${(line.gap / 1_000).toFixed(1)} s`,
        line.violations,
        `${line.unknown.toLocaleString('en')} (${line.unacknowledged.toLocaleString('en')})`,
      ]
      return `| ${cells.join(' | ')} |`
    })
    const head = '| fault | rounds | acknowledged writes | longest gap | violations | unknown (of these, written) |'
    return [head, '|---|---|---|---|---|---|', ...rows].join('\n')
  }

  /** Answers that the documentation of a cluster does not lead clients to expect. */
  strange(): string {
    return [...this.#strange].map(([answer, count]) => `${count} times: ${answer}`).join('\n')
  }

  #line(name: string): Line {
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const line = { rounds: 0, acknowledged: 0, gap: 0, violations: 0, unknown: 0, unacknowledged: 0 }
    this.#lines.set(name, line)
    return line
  }
}

/** How often each fault is in a file of rounds, which need not be there. */
export function usesOf(file: string): Map<string, number> {
  const uses = new Map<string, number>()
  for (const { fault } of existsSync(file) ? reportsIn(file) : []) uses.set(fault, (uses.get(fault) ?? 0) + 1)
  return uses
}

function reportsIn(file: string): RoundReport[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
