// Runs the tests of every host on every host, and prints one matrix: npm run hosts [-- part… | file… | Node | workerd].
// "npm run hosts -- rest workerd" runs one part on one host. It takes about an hour without arguments.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { installTools } from '../prepare/tools.ts'
import { type FileResult, Matrix } from './matrix-table.ts'
import { choose, type Part } from './parts.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const VITEST = join(REPOSITORY, 'node_modules', 'vitest', 'vitest.mjs')
/** What the tests and hosts print, for each part. */
const LOGS = join(REPOSITORY, '.tmp', 'hosts')
/** A part that takes longer is ended and counts as failed; the others are run. */
const LONGEST_MS = 30 * 60_000
const GRACE_MS = 10_000
/** What is waited for may take long on a busy machine. */
const PATIENCE = ['--testTimeout=600000', '--hookTimeout=600000']

installTools()
mkdirSync(LOGS, { recursive: true })
const { parts, hosts } = choose(process.argv.slice(2))
const matrix = new Matrix(REPOSITORY)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
for (const part of parts) {
  for (const host of part.on === 'host' ? hosts : [part.on]) await runPart(part, host)
}
process.stdout.write(`\n${date()}, ${availableParallelism()} cores, load average ${loadavg()[1]!.toFixed(0)}\n\n`)
process.stdout.write(matrix.text())
process.exit(matrix.failures.length === 0 ? 0 : 1)

async function runPart(part: Part, host: string): Promise<void> {
  const began = Date.now()
  const log = join(LOGS, `${part.name.replaceAll('/', '-')}-${host}.log`)
  try {
    const env = part.on === 'host' ? { TILDE_TEST_HOST: host } : {}
    for (const file of await vitest(part.files, env, log)) matrix.add(part.name, host, file)
  } catch (reason) {
    matrix.addLost(part.name, host, `${reason instanceof Error ? reason.message : reason} (${log})`)
  }
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(`${part.name} on ${host}: ${matrix.line(part.name)} (${seconds} s)\n`)
}

/** Runs files in a group of processes, and returns their report. The group is ended with all that its tests left behind. */
async function vitest(
  files: readonly string[],
  env: Record<string, string>,
  log: string,
): Promise<readonly FileResult[]> {
  const output = `${log}.json`
  rmSync(output, { force: true })
  const reports = ['--reporter=json', '--reporter=default', `--outputFile.json=${output}`]
  const out = openSync(log, 'w')
  const child = spawn(process.execPath, [VITEST, 'run', ...files, ...reports, ...PATIENCE], {
    cwd: REPOSITORY,
    stdio: ['ignore', out, out],
    env: { ...process.env, ...env },
    detached: true,
  })
  const end = () => endGroup(child.pid!)
  process.once('exit', end)
  await Promise.race([once(child, 'exit'), reported(output)])
  process.off('exit', end)
  end()
  closeSync(out)
  const report = reportIn(output)
  if (report === null) throw new Error('The tests ended without a report.')
  return report
}

/** Waits until a report is complete and its processes had time to end, or until the part takes too long. */
async function reported(output: string): Promise<void> {
  for (const end = Date.now() + LONGEST_MS; Date.now() < end && reportIn(output) === null; ) await pause(1_000)
  await pause(GRACE_MS)
}

function reportIn(output: string): readonly FileResult[] | null {
  try {
    return JSON.parse(readFileSync(output, 'utf8')).testResults
  } catch {
    return null
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

function date(): string {
  return new Date().toISOString().slice(0, 10)
}
