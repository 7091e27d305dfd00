import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { stageAll } from '../../build/stage.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const TOOLS = join(REPOSITORY, 'test', 'node_modules')
export const ROOT_KEY = 'root-key-of-the-tests-of-the-packages'

/** The compilers that users have. */
export const COMPILERS = {
  'TypeScript 5.9': join(TOOLS, 'typescript-5', 'bin', 'tsc'),
  'TypeScript 7': join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc'),
}

const WINDOWS = process.platform === 'win32'

/** The Nodes of this machine that the packages say to run on, and one that the caller names. */
export const NODES: readonly string[] = [
  ...(process.env.TILDE_TEST_NODE ? [process.env.TILDE_TEST_NODE] : []),
  ...['22', '26'].map((major) => join(TOOLS, `node-${major}-${process.platform}-${process.arch}`, 'bin', 'node')),
  process.execPath,
  // Node 26 does not run where libatomic1 is missing.
].filter((path) => spawnSync(path, ['--version']).status === 0)

/** Packs every package as it would be published. */
export async function pack(): Promise<{ readonly tarballs: readonly string[]; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-packed-'))
  await compile()
  const packages = await stageAll(join(folder, 'packages'))
  await run('npm', ['pack', '--silent', '--pack-destination', folder, ...packages], { cwd: folder })
  const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  return {
    tarballs: tarballs.map((file) => join(folder, file)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Compiles the packages, where their sources have changed. */
export async function compile(): Promise<void> {
  const projects = ['nouns', 'tenant', 'client', 'server', 'cli'].map((name) => join(REPOSITORY, 'packages', name))
  await run(process.execPath, [COMPILERS['TypeScript 7'], '-b', ...projects], { cwd: REPOSITORY })
}

/** An empty folder outside of the repository, with tarballs installed into it. */
export async function install(tarballs: readonly string[], files: { readonly [name: string]: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-installed-'))
  const all = { 'package.json': '{"private":true,"type":"module"}', ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  await run('npm', ['install', '--loglevel=error', '--no-audit', '--no-fund', ...tarballs], { cwd: folder })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** How a program is run: in which folder, with which Node first in its path, and with which variables beside. */
interface Way {
  readonly cwd: string
  readonly node?: string
  readonly env?: { readonly [name: string]: string }
}

/** Runs a program to its end and gives what it printed; throws with all it said when it fails. */
export async function run(program: string, args: readonly string[], way: Way) {
  const options = { cwd: way.cwd, env: environment(way), maxBuffer: 1e8, shell: WINDOWS && /^np[mx]$/.test(program) }
  const { stdout, stderr } = await promisify(execFile)(program, args, options).catch((reason) => {
    throw new Error(`${program} ${args.join(' ')}: ${reason.stdout}${reason.stderr}`, { cause: reason })
  })
  return { out: String(stdout), err: String(stderr) }
}

/** Starts `npx tildebase` on a free port, with a Node of choice, its own data folder and these variables. */
export async function serve(folder: string, node: string, more: { readonly [name: string]: string } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-data-'))
  const words = ['--no-install', 'tildebase', '--port', '0', '--data', data]
  const env = environment({ cwd: folder, node, env: { TILDE_ROOT_KEY: ROOT_KEY, ...more } })
  const child = spawn('npx', words, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !WINDOWS,
    shell: WINDOWS,
  })
  const said = { err: '' }
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const url = await firstUrl(child, said)
  return {
    url,
    said,
    async stop() {
      const gone = once(child, 'exit')
      // npx does not pass signals on in every version: the whole group gets it.
      if (WINDOWS) execFile('taskkill', ['/pid', String(child.pid), '/T', '/F'])
      else process.kill(-child.pid!, 'SIGTERM')
      await gone
      rmSync(data, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function firstUrl(child: ChildProcess, said: { readonly err: string }): Promise<string> {
  return new Promise((done, failed) => {
    let out = ''
    child.stdout!.on('data', (chunk) => {
      out += chunk
      const found = /http:\/\/\S+/.exec(out)
      if (found) done(found[0])
    })
    child.once('exit', (code) => failed(new Error(`npx ended with ${code}: ${said.err}`)))
  })
}

/** The bytes of a folder on disk. */
export function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

function environment({ node = process.execPath, env = {} }: Way): NodeJS.ProcessEnv {
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`
  return { ...process.env, PATH, XDG_CACHE_HOME: join(tmpdir(), 'tildebase-cache'), ...env }
}
