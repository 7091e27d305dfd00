// Lays out the packages and lets two judges look at each: publint at the manifest, attw at how its types are found.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { stageAll } from './stage.ts'

const BINARIES = join(import.meta.dirname, '..', 'test', 'node_modules')
const PUBLINT = join(BINARIES, 'publint', 'src', 'cli.js')
const ATTW = join(BINARIES, '@arethetypeswrong', 'cli', 'dist', 'index.js')

const folders = await stageAll()
const faulty = folders.filter((folder) => !isSound(folder))
if (faulty.length > 0) process.exitCode = 1
else console.log(`publint and attw: ${folders.length} packages are ready to publish.`)

function isSound(folder: string): boolean {
  const judges = [
    [PUBLINT, '--strict', folder],
    ...(hasTypes(folder) ? [[ATTW, '--pack', folder, '--profile', 'esm-only', '--no-emoji']] : []),
  ]
  return judges.every(([judge, ...args]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [judge!, ...args], { encoding: 'utf8' })
    if (status !== 0) console.error(`${basename(folder)}\n${stdout}${stderr}`)
    return status === 0
  })
}

/** Commands and files for browsers have nothing to import. */
function hasTypes(folder: string): boolean {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return JSON.stringify(exports).includes('"types":')
}
