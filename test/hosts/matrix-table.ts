import { relative } from 'node:path'

/** What vitest reports of a test. */
interface Assertion {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

/** What vitest reports of a file. */
export interface FileResult {
  readonly name: string
  readonly message: string
  readonly assertionResults: readonly Assertion[]
}

interface Count {
  passed: number
  all: number
  /** Tests of what this host does not have by design. */
  absent: number
}

/** The message of a test that needs something which a host does not have by design: see `needs` in test/host.ts. */
const NOT_APPLICABLE = /workerd has no [^\n]*/

/** How many tests of each part pass on each host. */
export class Matrix {
  readonly #rows = new Map<string, Map<string, Count>>()
  readonly #repository: string
  readonly failures: string[] = []
  readonly #absent = new Set<string>()

  constructor(repository: string) {
    this.#repository = repository
  }

  /** Counts the tests of a file that was run on a host, or on those that its titles name. */
  add(part: string, host: string, { name, message, assertionResults }: FileResult): void {
    const file = relative(this.#repository, name)
    for (const one of assertionResults) {
      const on = host === 'title' ? hostOf(one) : host
      if (on !== undefined) this.#count(part, on, file, message, one)
    }
    if (assertionResults.length === 0) this.addLost(part, host, `${file}: ${message || 'no test was run'}`)
  }

  /** Counts a failure of tests that left no result. */
  addLost(part: string, host: string, message: string): void {
    this.#sum(part, host === 'title' ? 'Node' : host).all++
    this.failures.push(`${part} on ${host}: ${message}`)
  }

  /** The results of a part, in one line. */
  line(part: string): string {
    return [...(this.#rows.get(part) ?? [])].map(([on, sum]) => `${on} ${cell(sum)}`).join(', ')
  }

  /** The table, then the tests that do not apply to a host, then the failures. */
  text(): string {
    const columns = [...new Set([...this.#rows.values()].flatMap((counts) => [...counts.keys()]))].toSorted()
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
    const rows = [...this.#rows].map(([part, counts]) =>
      line([`\`${part}\``, ...columns.map((on) => cell(counts.get(on)))]),
    )
    const totals = columns.map((on) => cell(total([...this.#rows.values()].flatMap((counts) => counts.get(on) ?? []))))
    return [
      line(['part', ...columns]),
      line(['---', ...columns.map(() => '---')]),
      ...rows,
      line(['all', ...totals]),
      ...[...this.#absent].toSorted().map((text) => `\nNot applicable: ${text}`),
      ...this.failures.map((text) => `\nFailed: ${text}`),
      '\n',
    ].join('')
  }

  #count(part: string, on: string, file: string, message: string, test: Assertion): void {
    const sum = this.#sum(part, on)
    const title = [file, ...test.ancestorTitles, test.title].join(': ')
    // A test that was not run, because its preparation failed, counts as failed.
    const reason = test.status === 'failed' ? test.failureMessages.join('\n') : `It was not run. ${message}`
    const absent = NOT_APPLICABLE.exec(reason)?.[0]
    if (test.status === 'passed') sum.passed++
    else if (absent === undefined) this.failures.push(`${part} on ${on}: ${title}\n    ${reason.split('\n')[0]}`)
    else {
      sum.absent++
      this.#absent.add(`${title}: ${absent}`)
      return
    }
    sum.all++
  }

  #sum(part: string, on: string): Count {
    const counts = this.#rows.get(part) ?? new Map<string, Count>()
    this.#rows.set(part, counts)
    const sum = counts.get(on) ?? { passed: 0, all: 0, absent: 0 }
    counts.set(on, sum)
    return sum
  }
}

/** The host that the title of a group names. */
function hostOf({ ancestorTitles }: Assertion): string | undefined {
  return ancestorTitles.find((title) => title.startsWith('on '))?.slice('on '.length)
}

function total(counts: readonly Count[]): Count {
  const add = (key: keyof Count) => counts.reduce((sum, count) => sum + count[key], 0)
  return { passed: add('passed'), all: add('all'), absent: add('absent') }
}

function cell(sum: Count | undefined): string {
  if (sum === undefined) return ''
  const { passed, all, absent } = sum
  return `${passed} of ${all}${absent > 0 ? ` (${absent} not applicable)` : ''}`
}
