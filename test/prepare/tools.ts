import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..')
const STAMP = join(FOLDER, 'node_modules', '.installed')

/** Installs the tools of the tests that `npm ci` leaves out, unless these very versions are there. */
export function installTools(): 'found' | 'installed' {
  const lock = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return 'found'
  // Their install scripts only check or warm up what npm has unpacked.
  const options = ['--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund']
  // A registry that is busy answers the second time.
  if (!npm('ci', ...options) && !npm('ci', ...options)) throw new Error('npm ci failed in the folder test.')
  writeFileSync(STAMP, lock)
  return 'installed'
}

function npm(...args: string[]): boolean {
  return (
    spawnSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
      .status === 0
  )
}

if (import.meta.main && installTools() === 'installed')
  console.log('The tools of the checks are installed in test/node_modules.')
