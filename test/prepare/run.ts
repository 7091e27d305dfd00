// What "npm test" runs: prepares what the tests need, says so in one line, and hands its arguments to vitest.
import { findPrograms } from './programs.ts'
import { installTools } from './tools.ts'
import { runVitest } from './vitest.ts'

const tools = installTools()
const { line, missing, env } = findPrograms()
console.log(tools === 'installed' ? `${line} Their tools are installed in test/node_modules.` : line)
if (missing.length > 0) {
  console.error(
    `Missing: ${missing.join(', ')}. Install them, for example with: sudo apt-get install ${missing.join(' ')}`,
  )
  process.exit(1)
}
runVitest(process.argv.slice(2), { ...process.env, ...env })
