import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMAND } from '../prepare/command.ts'
import { verifies } from '../verifies.ts'
import { COMPILED } from './tilde.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
/** Below the repository, so that the packages are found. */
const HOME = join(REPOSITORY, '.tmp', `project-${process.pid}`)
const FLEET = join(HOME, 'fleet')
const run = promisify(execFile)
const env = (more: { [name: string]: string } = {}) => ({
  PATH: process.env.PATH,
  HOME,
  ...COMPILED,
  ...more,
})
const node = (args: string[], more?: { [name: string]: string }) =>
  run(process.execPath, args, { cwd: FLEET, env: env(more), encoding: 'utf8' })

let dev: ChildProcess
let said = ''
let url: string
const children: ChildProcess[] = []

beforeAll(async () => {
  rmSync(HOME, { recursive: true, force: true })
  mkdirSync(HOME, { recursive: true })
  await run(process.execPath, [COMMAND, 'init', 'fleet'], { cwd: HOME, env: env() })
  dev = started([COMMAND, 'dev', '--port', '0'], (text) => (said += text))
  await until(() => said.includes('Watching tilde'))
  url = /listens on (\S+)/.exec(said)![1]!
}, 120_000)
afterAll(async () => {
  for (const child of children.filter(({ exitCode }) => exitCode === null)) {
    child.kill()
    await once(child, 'exit')
  }
  rmSync(HOME, { recursive: true, force: true })
})

function started(args: string[], hear: (text: string) => void, more?: { [name: string]: string }): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: FLEET, env: env(more), stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', hear)
  children.push(child)
  return child
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (await holds()) return
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`It did not come to pass. The server said:\n${said}`)
}

async function schema(): Promise<any> {
  const key = readFileSync(join(FLEET, 'data', 'root.key'), 'utf8').trim()
  return (await fetch(`${url}/~dev/schema/Ship`, { headers: { authorization: `Bearer ${key}` } })).json()
}

verifies(
  'schema.create',
  'a new project type-checks, passes its test, and has data and a page after its scripts',
  async () => {
    const compiled = await node([join(REPOSITORY, 'node_modules/typescript/bin/tsc'), '-p', '.']).catch(
      (reason) => reason,
    )
    const tested = await node(['--test'])
    const first = await node(['seed.ts'], { TILDE_URL: url })
    const second = await node(['seed.ts'], { TILDE_URL: url })
    let page = ''
    started(['app.ts'], (text) => (page += text), { TILDE_URL: url, PORT: '0' })
    await until(() => page.includes('http://'))

    // The sources of the packages need options of their own; test/packages compiles against the published ones.
    expect(compiled.stdout.split('\n').filter((line: string) => /^[a-z]/.test(line))).toEqual([])
    expect(tested.stdout).toMatch(/pass 1\b/)
    expect(first.stdout).toBe('Beagle is Afloat.\nEndeavour is Afloat.\n2 ships\n')
    expect(second.stdout).toBe('2 ships\n')
    expect(said).toContain('+ create type Ship')
    const shown = await schema()
    expect(Object.keys(shown.fields)).toContain('registration')
  },
)

test('a change of a file is pushed at once; a fault and a loss are shown, and change nothing', async () => {
  const file = join(FLEET, 'tilde', 'types', 'ship.ts')
  const text = readFileSync(file, 'utf8')
  // As many editors do it.
  const replaceFile = (content: string) => {
    writeFileSync(`${file}.new`, content)
    renameSync(`${file}.new`, file)
  }
  replaceFile(text.replace("launchedAt: 'datetime'", "launchedAt: 'datetime',\n  home: 'string'"))
  await until(async () => 'home' in (await schema()).fields)
  await until(() => readFileSync(join(FLEET, 'tilde', 'tilde.d.ts'), 'utf8').includes('readonly home'))

  const folder = join(FLEET, 'tilde', 'more', 'types')
  mkdirSync(folder, { recursive: true })
  const port = (field: string) =>
    `import { noun } from '@tildebase/nouns'\nexport const Port = noun('Port', { ${field}: 'string' })\n`
  writeFileSync(join(folder, 'port.ts'), port('name'))
  await until(() => said.includes('+ create type Port'))
  writeFileSync(join(folder, 'port.ts'), port('title'))
  await until(() => said.includes('+ title: string'))

  writeFileSync(file, 'export const Ship = noun(')
  await until(() => said.includes('tilde/types/ship.ts:'))
  // All ships have a length.
  replaceFile(text.replace("  length: 'number',\n", ''))
  await until(() => said.includes('something would be lost'))

  expect(Object.keys((await schema()).fields)).toEqual(expect.arrayContaining(['home', 'length']))
  expect(dev.exitCode).toBeNull()
})
