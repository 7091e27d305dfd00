// Runs what every host must do on every host, and prints one matrix: npm run hosts [-- scenarios contract faults | file…].
// "npm run hosts -- workerd file…" runs files of the contract on that host only.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { installTools } from '../prepare/tools.ts'
import { CONTRACT } from './contract-files.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const VITEST = join(REPOSITORY, 'node_modules', 'vitest', 'vitest.mjs')

/** Tests that start every host: a group of each is called "on …". */
const SELF = {
  scenarios: ['test/hosts/hosts.test.ts', 'test/hosts/contract.test.ts', 'test/hosts/script.test.ts'],
  faults: ['test/faults/crash.test.ts', 'test/faults/automation.test.ts'],
}
/** What a test says that needs something which a host does not have by design. */
const NOT_APPLICABLE = /workerd has no /

interface Assertion {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

interface FileResult {
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

const rows = new Map<string, Map<string, Count>>()
const failures: string[] = []

installTools()
const words = process.argv.slice(2)
const parts = words.filter((word) => word === 'contract' || word in SELF)
const files = words.filter((word) => word.includes('/'))
const hosts = ['Node', 'workerd'].filter((host) => !words.some(isHost) || words.includes(host))
const runsAll = words.every(isHost)
for (const [part, list] of Object.entries(SELF)) {
  if (!runsAll && !parts.includes(part)) continue
  for (const file of vitest(list, {})) countSelf(file)
}
const contract = files.length > 0 ? files : runsAll || parts.includes('contract') ? CONTRACT : []
if (contract.length > 0) {
  for (const host of hosts) for (const file of vitest(contract, { TILDE_TEST_HOST: host })) countContract(file, host)
}
print()

function isHost(word: string): boolean {
  return word === 'Node' || word === 'workerd'
}

function vitest(list: readonly string[], env: Record<string, string>): FileResult[] {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-matrix-'))
  const output = join(folder, 'results.json')
  try {
    const args = [VITEST, 'run', ...list, '--reporter=json', `--outputFile=${output}`]
    spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } })
    return JSON.parse(readFileSync(output, 'utf8')).testResults
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function countSelf(file: FileResult): void {
  for (const one of resultsOf(file)) {
    const on = one.ancestorTitles.find((title) => title.startsWith('on '))
    if (on !== undefined) count(relative(REPOSITORY, file.name), on.slice('on '.length), one)
  }
}

function countContract(file: FileResult, on: string): void {
  const row = relative(REPOSITORY, file.name)
  const results = resultsOf(file)
  for (const one of results) count(row, on, one)
  // A file that failed before its first test.
  if (results.length === 0)
    count(row, on, { ancestorTitles: [], title: 'start', status: 'failed', failureMessages: [file.message] })
}

/** The tests of a file. One that was not run, because what comes before it failed, counts as failed. */
function resultsOf({ message, assertionResults }: FileResult): Assertion[] {
  return assertionResults.map((one) =>
    one.status === 'passed' || one.status === 'failed'
      ? one
      : { ...one, status: 'failed', failureMessages: [`It was not run. ${message}`] },
  )
}

function count(row: string, on: string, { ancestorTitles, title, status, failureMessages }: Assertion): void {
  const counts = rows.get(row) ?? new Map<string, Count>()
  rows.set(row, counts)
  const sum = counts.get(on) ?? { passed: 0, all: 0, absent: 0 }
  counts.set(on, sum)
  if (status === 'failed' && failureMessages.some((text) => NOT_APPLICABLE.test(text))) sum.absent++
  else {
    sum.all++
    if (status === 'passed') sum.passed++
    else
      failures.push(
        `${on}: ${row}: ${[...ancestorTitles, title].join(': ')}\n    ${failureMessages[0]?.split('\n')[0]}`,
      )
  }
}

function print(): void {
  const columns = [...new Set([...rows.values()].flatMap((counts) => [...counts.keys()]))].toSorted()
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const totals = new Map<string, Count>(columns.map((on) => [on, { passed: 0, all: 0, absent: 0 }]))
  process.stdout.write(line(['tests', ...columns]) + line(['---', ...columns.map(() => '---')]))
  for (const [row, counts] of rows) {
    process.stdout.write(line([`\`${row}\``, ...columns.map((on) => text(counts.get(on)))]))
    for (const [on, { passed, all, absent }] of counts) {
      const total = totals.get(on)!
      total.passed += passed
      total.all += all
      total.absent += absent
    }
  }
  process.stdout.write(line(['all', ...columns.map((on) => text(totals.get(on)))]))
  if (failures.length === 0) return
  process.stdout.write(`\n${failures.join('\n')}\n`)
  process.exitCode = 1
}

function text(sum: Count | undefined): string {
  if (sum === undefined) return ''
  const { passed, all, absent } = sum
  return `${passed} of ${all}${absent > 0 ? ` (${absent} not applicable)` : ''}`
}
