// What "npm run test:fast" runs: the tests that need no socket, no browser and no other program.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SLOW, THREADS } from './lanes.ts'
import { installTools } from './tools.ts'
import { runVitest } from './vitest.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FILES = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']
/** What needs more than this process, in a test or in a helper of it. */
const OUTSIDE =
  /\b(?:testHost|Receiver|WorkerPool|openScript)\b|from '(?:node:(?:child_process|http|net)|playwright-core)'/
/** It has both: `testApp` in this process, and `testHost` on a socket. */
const HOST = join(ROOT, 'test', 'host.ts')

installTools()
const inFolders = (patterns: readonly string[]) =>
  globSync(patterns, { cwd: ROOT, exclude: (name) => name === 'node_modules' })
const long = new Set(inFolders([...SLOW, ...THREADS]))
const fast = inFolders(FILES).filter((file) => !long.has(file) && isInside(join(ROOT, file)))
// Fewer runs of each property: enough to see a mistake, seconds instead of minutes.
const env = {
  TILDE_RUNS: '50',
  TILDE_SYNC_RUNS: '50',
  TILDE_BULK_RUNS: '20',
  TILDE_CHANGESET_RUNS: '20',
  TILDE_CLUSTER_HISTORIES: '400',
  TILDE_FUZZ: '50',
  TILDE_POWER_RUNS: '2',
  TILDE_SEEDS: '10',
  ...process.env,
}
runVitest([...fast, ...process.argv.slice(2)], env)

/** Whether a test and the helpers next to it stay in this process. */
function isInside(path: string): boolean {
  const text = readFileSync(path, 'utf8')
  const helpers = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, target]) => join(dirname(path), target!))
  return !OUTSIDE.test(text) && helpers.filter((one) => isHelper(one) && one !== HOST).every(isInside)
}

function isHelper(path: string): boolean {
  return path.startsWith(join(ROOT, 'test/')) && path.endsWith('.ts')
}
