// What "npm run test:fast" runs: the tests that need no socket, no browser and no other program.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installTools } from './tools.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FILES = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']
/** What needs more than this process, in a test or in a helper of it. */
const OUTSIDE =
  /\b(?:testHost|Receiver|WorkerPool|openScript)\b|from '(?:node:(?:child_process|http|net)|playwright-core)'/
/** It has both: `testApp` in this process, and `testHost` on a socket. */
const HOST = join(ROOT, 'test', 'host.ts')
/** Large by its nature: memory is measured over a long import. */
const LARGE = ['test/bulk/memory.test.ts']

installTools()
const files = globSync(FILES, { cwd: ROOT, exclude: (name) => name === 'node_modules' })
const fast = files.filter((file) => !LARGE.includes(file) && isInside(join(ROOT, file)))
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
// Fewer runs of each property: enough to see a mistake, seconds instead of minutes.
const env = { TILDE_RUNS: '2000', TILDE_SYNC_RUNS: '50', TILDE_BULK_RUNS: '20', TILDE_FUZZ: '50', ...process.env }
const child = spawn(process.execPath, [vitest, 'run', ...fast, ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: 'inherit',
  env,
})
child.on('exit', (status) => process.exit(status ?? 1))

/** Whether a test and the helpers next to it stay in this process. */
function isInside(path: string): boolean {
  const text = readFileSync(path, 'utf8')
  const helpers = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, target]) => join(dirname(path), target!))
  return !OUTSIDE.test(text) && helpers.filter((one) => isHelper(one) && one !== HOST).every(isInside)
}

function isHelper(path: string): boolean {
  return path.startsWith(join(ROOT, 'test/')) && path.endsWith('.ts')
}
