import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Lists the benches and runs one: `npm run bench -- query`. Without a name it compares with others. */
const [name = 'compare', ...rest] = process.argv.slice(2)
const benches = new Map(
  readdirSync(import.meta.dirname)
    .filter((file) => file !== 'index.ts')
    .map((file) => [file.replace(/\.ts$/, ''), join(import.meta.dirname, file)] as const)
    .map(([bench, path]) => [bench, path.endsWith('.ts') ? path : join(path, 'index.ts')] as const)
    .filter(([, path]) => existsSync(path)),
)

const program = benches.get(name)
if (process.argv.length === 2 || program === undefined) {
  for (const [bench, path] of benches) console.log(`${bench.padEnd(10)} ${aboutOf(path)}`)
  console.log()
}
if (program === undefined) {
  console.error(`There is no bench ${name}.`)
  process.exitCode = 1
} else {
  const child = spawn(process.execPath, [program, ...rest], { stdio: 'inherit' })
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}

/** The first sentence about a bench in its file. */
function aboutOf(path: string): string {
  const text = /\/\*\*\s*(?:\*\s*)?([\s\S]*?)\*\//.exec(readFileSync(path, 'utf8'))?.[1] ?? ''
  return text
    .replace(/\s*\n\s*\*?\s*/g, ' ')
    .split(/\. |\.$/)[0]!
    .trim()
}
