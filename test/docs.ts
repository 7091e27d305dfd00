import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findPython, runPython } from './client/python.ts'
import { COMMAND, HOME } from './prepare/command.ts'

const ROOT = join(import.meta.dirname, '..')
const MODULES = join(ROOT, 'test', '.tmp')
/** What the compiler knows of modules that have not changed: the packages, which the blocks import. */
const CHECKED = join(MODULES, 'checked')

/** A fenced block of code: `language` is the first word after the fence, `marks` are the others. */
export type Block = {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly marks: readonly string[]
  readonly code: string
}

/** The fenced blocks of a page of Markdown. */
export function readBlocks(page: string, markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: info, 2: code }) => {
    const [language = '', ...marks] = info!.trim().split(/\s+/)
    return { page, line: markdown.slice(0, index).split('\n').length, language, marks, code: code! }
  })
}

/** The errors of the compiler in TypeScript blocks, each compiled as a module of this repository; empty without errors. */
export function typeErrors(blocks: readonly Block[]): string {
  if (blocks.length === 0) return ''
  const folder = moduleFolder()
  try {
    const settings = {
      extends: '../../../tsconfig.base.json',
      compilerOptions: {
        moduleDetection: 'force',
        composite: false,
        incremental: true,
        tsBuildInfoFile: join(CHECKED, `${blocks[0]!.page.replaceAll('/', '-')}.tsbuildinfo`),
        noEmit: true,
        types: ['node'],
      },
      include: ['*.ts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    for (const { page, line, code } of blocks) {
      writeFileSync(join(folder, `${page.replaceAll(/[^A-Za-z0-9]/g, '-')}-line-${line}.ts`), code)
    }
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    return status === 0 ? '' : stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs a TypeScript block as a program in a new folder below `parent`; returns its errors, or an empty string. */
export function programErrors({ code }: Block, { url, rootKey }: Place, parent = MODULES): string {
  const folder = moduleFolder(parent)
  try {
    writeFileSync(join(folder, 'program.ts'), code)
    const env = { ...process.env, TILDE_URL: url, TILDE_KEY: rootKey }
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'program.ts')], { env, encoding: 'utf8' })
    return status === 0 ? '' : `exit ${status}\n${stderr}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs the Python blocks of one page as one program, with an installed client; returns its errors. */
export function pythonErrors(blocks: readonly Block[], { url, rootKey }: Place, installed: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-python-docs-'))
  try {
    writeFileSync(join(folder, 'program.py'), blocks.map(({ code }) => code).join('\n'))
    const env = { TILDE_URL: url, TILDE_KEY: rootKey }
    runPython(findPython(), [installed], ['program.py'], { cwd: folder, env })
    return ''
  } catch (reason) {
    return (reason as Error).message
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A new folder from which the packages and their tools are found by name. */
function moduleFolder(parent = MODULES): string {
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'docs-'))
}

/** A server of this repository on a free port, with its own data folder. */
export type Served = Place & { stop(): Promise<void> }
/** Where a server is, and the key of its operator. */
type Place = { readonly url: string; readonly rootKey: string }

/** Starts the server and waits for the line that names its URL. */
export async function serve(settings: { readonly [name: string]: string } = {}): Promise<Served> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-docs-'))
  const rootKey = `tb_${'docs'.repeat(10)}`
  const command = [COMMAND, 'serve', '--port', '0', '--data', data]
  const env = { ...process.env, ...settings, TILDE_ROOT_KEY: rootKey }
  const server = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = async () => {
    await end(server)
    rmSync(data, { recursive: true, force: true })
  }
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /https?:\/\/[^\s/]+/.exec(line)?.[0]
    if (url !== undefined) return { url, rootKey, stop }
    break
  }
  await stop()
  throw new Error('The first line of the server did not name its URL.')
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGTERM')
  await once(server, 'exit')
}

/** Runs the shell blocks of one page in one shell, in order; returns the errors, or an empty string. */
export function shellErrors(blocks: readonly Block[], { url, rootKey }: Place, packages = HOME): string {
  const home = mkdtempSync(join(tmpdir(), 'tildebase-curl-'))
  // Pages write files: not into the repository.
  for (const part of ['node_modules', 'docs']) symlinkSync(join(packages, part), join(home, part))
  // A curl that meets an error answer then fails, and the shell with it.
  writeFileSync(join(home, '.curlrc'), 'fail-with-body\n')
  // "npm test" has put the command of the sources into the path.
  const PATH = `${join(home, 'node_modules', '.bin')}:${process.env.PATH}`
  const env = { ...process.env, PATH, TILDE_URL: url, TILDE_ROOT_KEY: rootKey, TILDE_KEY: rootKey, CURL_HOME: home }
  // What a page that fails has left running would be waited for without end.
  const end = "trap '{ kill $(jobs -p) || :; } 2>/dev/null' EXIT"
  const script = [end, ...blocks.map(({ code }) => code)].join('\n')
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    env,
    cwd: home,
    encoding: 'utf8',
  })
  rmSync(home, { recursive: true })
  return status === 0 ? '' : `exit ${status}\n${stdout}\n${stderr}`
}
