// What "npm test" runs: prepares what the tests need, says so in one line, and hands its arguments to vitest.
// "--slow" names all the tests that it leaves out.
import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { joinPackages } from './joined.ts'
import { SLOW } from './lanes.ts'
import { memoryFolder } from './memory.ts'
import { findPrograms } from './programs.ts'
import { installTools } from './tools.ts'
import { runVitest } from './vitest.ts'

const tools = installTools()
const { line, missing, env } = findPrograms()
console.log(tools === 'installed' ? `${line} Their tools are installed in test/node_modules.` : line)
const isSlow = process.argv.includes('--slow')
if (missing.length > 0) {
  const effect = isSlow ? 'The slow tests need them.' : 'Their tests are skipped.'
  console.error(`Not installed: ${missing.join(', ')}. ${effect} On Debian: sudo apt-get install ${missing.join(' ')}`)
  if (isSlow) process.exit(1)
}
const words = process.argv.slice(2).flatMap((word) => (word === '--slow' ? slowTests() : [word]))
// Tests that are named may be those of full disks and of losses of power, and long runs write more than the memory holds.
const folder = words.every((word) => word.startsWith('-')) ? memoryFolder() : null
if (folder !== null) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const given = { TILDE_COMMAND: await joinPackages(), ...(folder !== null && { TMPDIR: folder }) }
runVitest(words, { ...process.env, ...env, ...given })

function slowTests(): string[] {
  const files = globSync([...SLOW], { cwd: join(import.meta.dirname, '..', '..') })
  return files.filter((file) => file.endsWith('.test.ts'))
}
