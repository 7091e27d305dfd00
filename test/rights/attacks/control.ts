// Removes one check at a time from a copy of the engine and runs the generator on it: each must be found.
// Slow, and not part of the tests: npm run attacks:control -- [part of the name of a check]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REMOVALS } from './removals.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ENGINE = 'packages/tenant/src'

const folder = copyOf()
let missed = 0
const chosen = REMOVALS.filter(({ check }) => check.includes(process.argv[2] ?? ''))
for (const { check, file, from, to, attacks, test } of chosen) {
  const path = join(folder, ENGINE, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} does not contain: ${from}`)
  writeFileSync(path, text.replace(from, to))
  const { status, stdout } = spawnSync('npx', ['vitest', 'run', test, '-t', attacks], { cwd: folder, encoding: 'utf8' })
  writeFileSync(path, text)
  const found = [...stdout.matchAll(/^failed: .* > (.*)$/gm)].map(([, text]) =>
    text!.split(' reaches')[0]!.slice(0, 80),
  )
  if (status === 0 || found.length === 0) missed++
  console.log(`${found.length > 0 ? 'found ' : 'MISSED'}  ${check}: ${found.join('; ') || stdout.slice(-300)}`)
}
rmSync(folder, { recursive: true })
console.log(`${chosen.length - missed} of ${chosen.length} removed checks were found.`)
process.exitCode = missed === 0 ? 0 : 1

/** A copy of the sources that resolves its own packages. */
function copyOf(): string {
  const copy = mkdtempSync(join(tmpdir(), 'tildebase-control-'))
  const isSource = (path: string) => !/\/(?:node_modules|\.git)(?:\/|$)/.test(path.slice(ROOT.length))
  cpSync(ROOT, copy, { recursive: true, filter: isSource })
  mkdirSync(join(copy, 'node_modules/@tildebase'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@tildebase') symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name))
  }
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@tildebase', name))
  }
  return copy
}
