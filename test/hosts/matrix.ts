// Runs what every host must do on every host, and prints one matrix: npm run hosts
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installTools } from '../prepare/tools.ts'

const FILES = [
  'test/hosts/hosts.test.ts',
  'test/hosts/contract.test.ts',
  'test/hosts/script.test.ts',
  'test/faults/crash.test.ts',
  'test/faults/automation.test.ts',
]
const MARKS: { readonly [status: string]: string } = { passed: 'yes', failed: 'NO' }

interface Assertion {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
}

installTools()
const folder = mkdtempSync(join(tmpdir(), 'tildebase-matrix-'))
const output = join(folder, 'results.json')
const vitest = join(import.meta.dirname, '..', '..', 'node_modules', 'vitest', 'vitest.mjs')
spawnSync(process.execPath, [vitest, 'run', ...FILES, '--reporter=json', `--outputFile=${output}`], {
  stdio: 'inherit',
})
const results: readonly { assertionResults: readonly Assertion[] }[] = JSON.parse(
  readFileSync(output, 'utf8'),
).testResults
rmSync(folder, { recursive: true })

const hosts = new Set<string>()
const rows = new Map<string, Map<string, string>>()
for (const { ancestorTitles, title, status } of results.flatMap(({ assertionResults }) => assertionResults)) {
  const on = ancestorTitles.find((name) => name.startsWith('on '))
  if (on === undefined) continue
  hosts.add(on)
  const row = [...ancestorTitles.filter((name) => name !== on), title].join(': ')
  rows.set(row, (rows.get(row) ?? new Map()).set(on, MARKS[status] ?? status))
}
const columns = [...hosts].toSorted()
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
process.stdout.write(line(['', ...columns]) + line(['---', ...columns.map(() => '---')]))
for (const [row, marks] of rows) process.stdout.write(line([row, ...columns.map((on) => marks.get(on) ?? '')]))
for (const on of columns) {
  const all = [...rows.values()].flatMap((marks) => marks.get(on) ?? [])
  process.stdout.write(`${on}: ${all.filter((mark) => mark === 'yes').length} of ${all.length}\n`)
  if (all.includes('NO')) process.exitCode = 1
}
