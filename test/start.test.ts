import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const REPOSITORY = join(import.meta.dirname, '..')
const COMMAND = join(REPOSITORY, 'packages', 'cli', 'bin')

// Makes a Node believe that it is an old one. It is not inherited: the Node that is started next knows its own age.
const OLD = `--import=data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })",
)}`

const MAIN = `
  const [word] = process.argv.slice(2) as string[]
  process.on('SIGTERM', () => process.exit(7))
  console.log('main', word, process.versions.node.split('.')[0])
  if (word === 'wait') setInterval(() => {}, 1_000)
  else process.exitCode = 5
`

const PINNED = `node_modules/node-${process.platform}-${process.arch}/bin/node`

/** The oldest Node of the packages, which is too old for the sources. */
const OLD_NODE = join(REPOSITORY, `test/node_modules/node-22-${process.platform}-${process.arch}/bin/node`)
const PROGRAM = `
  const said: string[] = [process.versions.node, process.execArgv.join(), ...process.argv.slice(2), process.env.PATH!]
  console.log(said.join(' '))
`

let folder: string
const major = process.versions.node.split('.')[0]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-start-'))
  put('cli/package.json', '{"type":"module","imports":{"#main":"./src/main.ts"}}')
  put('cli/src/main.ts', MAIN)
  cpSync(COMMAND, join(folder, 'cli/bin'), { recursive: true })
})

afterEach(() => rmSync(folder, { recursive: true }))

test('the command runs its program on a Node that is new enough', async () => {
  expect(await outcome(tilde([], 'serve'))).toEqual({ code: 5, out: `main serve ${major}\n`, err: '' })
})

test('on an old Node the command continues with the pinned one and ends as it ends', async () => {
  pinNode()

  expect(await outcome(tilde([OLD], 'serve'))).toEqual({ code: 5, out: `main serve ${major}\n`, err: '' })
})

test('on an old Node without a pinned one the command says what to do', async () => {
  const { code, out, err } = await outcome(tilde([OLD], 'serve'))

  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^tilde needs Node 24.2 or newer, and this is .*\. Install a newer Node .*\n$/)
})

test('a pinned Node that does not run on the machine is named', async () => {
  put(PINNED, '#!/bin/sh\nexit 127\n')
  chmodSync(join(folder, PINNED), 0o755)

  const { code, err } = await outcome(tilde([OLD], 'serve'))

  expect(code).toBe(2)
  expect(err).toContain(`${join(folder, PINNED)} does not run on this machine. Install a newer Node`)
})

test('a signal to the command reaches the Node it continues with', async () => {
  pinNode()
  const child = tilde([OLD], 'wait')
  await once(child.stdout!, 'data')

  child.kill('SIGTERM')

  expect((await outcome(child)).code).toBe(7)
})

describe.skipIf(!existsSync(OLD_NODE))('on an old Node the launcher of the repository runs a program', () => {
  const { node } = process.versions

  test('with the pinned Node, which is then first in the path', async () => {
    pinNode()

    const { code, out } = await outcome(launch({}, '--no-warnings', 'program.ts', 'word'))

    expect([code, out]).toEqual([0, `${node} --no-warnings word ${dirname(join(folder, PINNED))}:/bin\n`])
  })

  test('with the Node of npm, if that is new enough', async () => {
    const { code, out } = await outcome(launch({ npm_node_execpath: process.execPath }, 'program.ts'))

    expect([code, out]).toEqual([0, `${node}  /bin\n`])
  })

  test('or says that nothing is installed yet', async () => {
    const { code, err } = await outcome(launch({}, 'program.ts'))

    expect([code, err]).toEqual([2, 'Run "npm ci" first. It installs what this needs, also a newer Node.\n'])
  })

  test('or says what to install', async () => {
    put('node_modules/other/package.json', '{}')
    const { code, err } = await outcome(launch({}, 'program.ts'))

    expect(code).toBe(2)
    expect(err).toMatch(
      /^This needs Node 24.2 or newer. This is v22.*, and npm did not install the pinned one\.\nInstall/,
    )
  })
})

test('every script of the repository that runs Node goes through the launcher', () => {
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
  const commands = Object.values<string>(scripts).flatMap((script) => script.split(' && '))

  expect(commands.filter((command) => /\bnode (?!build\/node\.js)|vitest run/.test(command))).toEqual([])
})

test('no dependency of the repository has an install script', () => {
  const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'))
  const found = Object.entries<{ hasInstallScript?: boolean }>(packages).filter(([, one]) => one.hasInstallScript)

  // The package itself has one: "prepare" builds the console.
  expect(found.map(([name]) => name).filter((name) => name !== '')).toEqual([])
})

function tilde(options: readonly string[], word: string): ChildProcess {
  return spawn(process.execPath, [...options, join(folder, 'cli/bin/tilde.js'), word])
}

async function outcome(child: ChildProcess): Promise<{ code: number; out: string; err: string }> {
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
  return { code, out, err }
}

function pinNode(): void {
  mkdirSync(dirname(join(folder, PINNED)), { recursive: true })
  symlinkSync(process.execPath, join(folder, PINNED))
}

/** Starts a program through the launcher of the repository, copied into one that has only this program. */
function launch(env: { readonly [name: string]: string }, ...args: string[]): ChildProcess {
  cpSync(join(REPOSITORY, 'build/node.js'), join(folder, 'build/node.js'))
  cpSync(COMMAND, join(folder, 'packages/cli/bin'), { recursive: true })
  put('package.json', '{"type":"module"}')
  put('program.ts', PROGRAM)
  return spawn(OLD_NODE, [join(folder, 'build/node.js'), ...args], { cwd: folder, env: { PATH: '/bin', ...env } })
}

function put(file: string, content: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), content)
}
