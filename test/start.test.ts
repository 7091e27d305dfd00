import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'

const COMMAND = join(import.meta.dirname, '..', 'packages', 'cli', 'bin', 'tilde.js')

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

let folder: string
const major = process.versions.node.split('.')[0]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-start-'))
  put('cli/package.json', '{"type":"module","imports":{"#main":"./src/main.ts"}}')
  put('cli/src/main.ts', MAIN)
  cpSync(COMMAND, join(folder, 'cli/bin/tilde.js'))
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
  expect(err).toMatch(/^tilde needs Node 24.0 or newer, and this is .*\. Run "npm ci" .*\n$/)
})

test('a signal to the command reaches the Node it continues with', async () => {
  pinNode()
  const child = tilde([OLD], 'wait')
  await once(child.stdout!, 'data')

  child.kill('SIGTERM')

  expect((await outcome(child)).code).toBe(7)
})

function tilde(options: readonly string[], word: string): ChildProcess {
  return spawn(process.execPath, [...options, join(folder, 'cli/bin/tilde.js'), word])
}

async function outcome(child: ChildProcess): Promise<{ code: number; out: string; err: string }> {
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
  return { code, out, err }
}

function pinNode(): void {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'))
}

function put(file: string, content: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), content)
}
