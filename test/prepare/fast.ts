// What "npm run test:fast" runs: the tests that need no socket, no browser and no other program.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installTools } from './tools.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FILES = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']
/** What a test imports that takes long, or more than this process. */
const OUTSIDE =
  /\b(?:testHost|startHost|Receiver|openStage|WorkerPool|openScript|Miniflare)\b|node:(?:child_process|http|net)'/

installTools()
const files = globSync(FILES, { cwd: ROOT, exclude: (name) => name === 'node_modules' })
const fast = files.filter((file) => !OUTSIDE.test(readFileSync(join(ROOT, file), 'utf8')))
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
// Fewer runs of each property: enough to see a mistake, seconds instead of minutes.
const env = { TILDE_RUNS: '2000', TILDE_SYNC_RUNS: '50', TILDE_BULK_RUNS: '20', TILDE_FUZZ: '50', ...process.env }
const child = spawn(process.execPath, [vitest, 'run', ...fast, ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: 'inherit',
  env,
})
child.on('exit', (status) => process.exit(status ?? 1))
