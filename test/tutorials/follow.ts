import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { type Block, readBlocks, type Served } from '../docs.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** What a reader has who has followed a page to its last block, which starts a development server. */
export interface Followed {
  /** The folder in which the reader is at the end. */
  readonly folder: string
  /** Where the development server is. */
  readonly url: string
  /** What the commands before it have printed. */
  readonly said: string
  /** Runs a further command in the same terminal; throws with all that it printed when it fails. */
  run(command: string, env?: { readonly [name: string]: string }): Promise<string>
  stop(): Promise<void>
}

/** Follows a page from top to bottom in one terminal, in an empty folder next to a server: writes its files and runs its commands. */
export async function follow(
  page: string,
  server: Served,
  env: { readonly [name: string]: string | undefined },
): Promise<Followed> {
  const home = mkdtempSync(join(tmpdir(), 'tildebase-reader-'))
  const terminal = new Terminal(home, env)
  mkdirSync(join(home, 'data'))
  writeFileSync(join(home, 'data', 'root.key'), `${server.rootKey}\n`)
  const blocks = readBlocks(page, readFileSync(join(ROOT, page), 'utf8')).filter(
    (block) => block.language === 'sh' || fileOf(block) !== null,
  )
  const last = blocks.pop()
  if (last?.language !== 'sh') throw new Error(`The last block of ${page} does not start a server.`)
  try {
    let said = ''
    for (const block of blocks) {
      const file = fileOf(block)
      if (file === null) said += await terminal.run(block.code.replaceAll('http://localhost:8787', server.url))
      else write(join(terminal.folder, file), block.code)
    }
    const { url, stop } = await terminal.serve(last.code)
    return {
      folder: terminal.folder,
      url,
      said,
      run: (command, env) => terminal.run(command, env),
      async stop() {
        await stop()
        rmSync(home, { recursive: true })
      },
    }
  } catch (reason) {
    rmSync(home, { recursive: true })
    throw reason
  }
}

/** The path of a file that a page shows: ```ts file=src/main.ts */
function fileOf({ marks }: Block): string | null {
  return marks.find((mark) => mark.startsWith('file='))?.slice('file='.length) ?? null
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** A shell whose folder and variables stay from one command to the next. */
class Terminal {
  readonly #home: string
  readonly #env: NodeJS.ProcessEnv

  constructor(home: string, env: { readonly [name: string]: string | undefined }) {
    this.#home = home
    // A reader answers npx, which asks whether it may install a package.
    this.#env = { ...process.env, ...env, HOME: home, npm_config_yes: 'true' }
  }

  get folder(): string {
    const file = join(this.#home, '.folder')
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : this.#home
  }

  async run(command: string, env: { readonly [name: string]: string } = {}): Promise<string> {
    const { child, said } = this.#start(`${command}\npwd > ~/.folder; export -p > ~/.variables`, env)
    const [status] = await once(child, 'close')
    if (status !== 0) throw new Error(`${command}: exit ${status}\n${said()}`)
    return said()
  }

  /** Starts a server, and waits until it names its address. */
  async serve(command: string) {
    const { child, said } = this.#start(command)
    const closed = once(child, 'close')
    for (;;) {
      const [url] = /http:\/\/localhost:\d+/.exec(said()) ?? []
      if (child.exitCode !== null) throw new Error(`${command}: exit ${child.exitCode}\n${said()}`)
      if (url === undefined) await pause(100)
      else
        return {
          url,
          async stop() {
            process.kill(-child.pid!, 'SIGTERM')
            await closed
          },
        }
    }
  }

  #start(command: string, env: { readonly [name: string]: string } = {}) {
    const script = `[ ! -f ~/.variables ] || . ~/.variables\n${command}`
    const options = { cwd: this.folder, env: { ...this.#env, ...env }, detached: true }
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], options)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    // Servers of development write in colours.
    return { child, said: () => stripVTControlCharacters(text) }
  }
}
