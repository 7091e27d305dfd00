import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { COMMAND } from '../prepare/command.ts'
import { type Ended, runCommand } from './runner/runner.ts'

/** One for all: the command then starts fast from its second run on. */
const CACHE = join(tmpdir(), 'tildebase-cli-cache')
const { NODE_COMPILE_CACHE } = process.env
/** Where programs find the code that others have compiled: starting without it takes three times the CPU time. */
export const COMPILED: { readonly [name: string]: string } = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}

interface Answer extends Ended {
  /** What it printed as JSON. */
  readonly json: any
}

export interface Tilde {
  /** A folder of the test's own; the configuration is kept below it. */
  readonly folder: string
  /** Runs the command until it ends. */
  (...args: string[]): Promise<Answer>
  /** The same with something on its standard input. */
  fed(input: string, ...args: string[]): Promise<Answer>
  /** Starts it in a process of its own, for commands that continue. */
  start(...args: string[]): ChildProcess
}

/** The command, run with these variables and no others. */
export function tildeWith(env: { [name: string]: string }): Tilde {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-cli-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const variables = { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: CACHE, ...COMPILED, ...env }
  const start = (...args: string[]) =>
    spawn(process.execPath, [COMMAND, ...args], { cwd: folder, env: variables, stdio: ['pipe', 'pipe', 'pipe'] })
  const fed = async (input: string, ...args: string[]): Promise<Answer> => {
    const ended = await runCommand({ args, folder, env: variables, input })
    return {
      ...ended,
      get json() {
        return JSON.parse(ended.out)
      },
    }
  }
  return Object.assign((...args: string[]) => fed('', ...args), { folder, fed, start })
}
