// What "npm test" runs: prepares what the tests need, says so in one line, and hands its arguments to vitest.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { findPrograms } from './programs.ts'
import { installTools } from './tools.ts'

const tools = installTools()
const { line, missing, env } = findPrograms()
console.log(tools === 'installed' ? `${line} Their tools are installed in test/node_modules.` : line)
if (missing.length > 0) {
  console.error(
    `Missing: ${missing.join(', ')}. Install them, for example with: sudo apt-get install ${missing.join(' ')}`,
  )
  process.exit(1)
}
const vitest = join(import.meta.dirname, '..', '..', 'node_modules', 'vitest', 'vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...env },
})
child.on('exit', (status) => process.exit(status ?? 1))
