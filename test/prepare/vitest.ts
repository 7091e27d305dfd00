import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '..', '..')
/** Each program and thread that a test starts finds its code compiled here. */
const COMPILED = join(ROOT, '.tmp', 'compiled')
/** Loads what most tests load. */
const LOAD = ['packages/server/src/index.ts', 'test/console/browser.ts']
  .map((file) => `await import(${JSON.stringify(pathToFileURL(join(ROOT, file)))})`)
  .join('\n')

/** Runs vitest, and ends as it ends. */
export function runVitest(args: readonly string[], env: { readonly [name: string]: string | undefined }): void {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const ownEnv = { NODE_COMPILE_CACHE: COMPILED, ...env }
  // In a new clone each of the first processes would compile all of it, side by side: they write the cache when they end.
  if (!existsSync(COMPILED)) spawnSync(process.execPath, ['--input-type=module', '--eval', LOAD], { env: ownEnv })
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: ownEnv,
  })
  child.on('exit', (status) => process.exit(status ?? 1))
}
