import { spawn } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
/** Each program and thread that a test starts finds its code compiled here. */
const COMPILED = join(ROOT, '.tmp', 'compiled')

/** Runs vitest, and ends as it ends. */
export function runVitest(args: readonly string[], env: { readonly [name: string]: string | undefined }): void {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: COMPILED, ...env },
  })
  child.on('exit', (status) => process.exit(status ?? 1))
}
