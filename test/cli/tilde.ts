import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import { COMMAND } from '../prepare/command.ts'

/** One for all: the command then starts fast from its second run on. */
const CACHE = join(tmpdir(), 'tildebase-cli-cache')
const { NODE_COMPILE_CACHE } = process.env
/** Where programs find the code that others have compiled: starting without it takes three times the CPU time. */
export const COMPILED: { readonly [name: string]: string } = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}

/** How a command ended, and what it said. */
interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
  /** What it printed as JSON. */
  readonly json: any
}

export interface Tilde {
  /** A folder of the test's own; the configuration is kept below it. */
  readonly folder: string
  /** Runs the command in its own process. */
  (...args: string[]): Promise<Ended>
  /** The same with something on its standard input. */
  fed(input: string, ...args: string[]): Promise<Ended>
  /** Starts it, for commands that continue. */
  start(...args: string[]): ChildProcess
}

/** The command, run with these variables and no others. */
export function tildeWith(env: { [name: string]: string }): Tilde {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-cli-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const start = (...args: string[]) =>
    spawn(process.execPath, [COMMAND, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: CACHE, ...COMPILED, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  const fed = async (input: string, ...args: string[]): Promise<Ended> => {
    const child = start(...args)
    child.stdin!.on('error', () => {}).end(input)
    const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
    return {
      code,
      out,
      err,
      get json() {
        return JSON.parse(out)
      },
    }
  }
  return Object.assign((...args: string[]) => fed('', ...args), { folder, fed, start })
}
