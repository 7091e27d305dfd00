import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { COMMAND } from '../../prepare/command.ts'

/** A command to run: its words, its working folder, all of its variables, and its standard input. */
export interface Asked {
  readonly args: readonly string[]
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly input: string
}

/** How a command ended, and what it said. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

const PACKAGE = join(dirname(COMMAND), '..')
const PROGRAM = join(import.meta.dirname, 'runner-main.ts')

/** Processes that wait for a command. They end with this one. */
const idle: ChildProcess[] = []

/** Runs a command in a process that has run others before: 0.02 s of CPU time instead of 0.3 for a process of its own. */
export async function runCommand(asked: Asked): Promise<Ended> {
  const runner = idle.pop() ?? start()
  const stopped = new AbortController()
  runner.send(asked)
  const ended = await Promise.race([
    once(runner, 'message', { signal: stopped.signal }),
    once(runner, 'exit', { signal: stopped.signal }).then(([code, signal]) => {
      throw new Error(`The process of tilde ${asked.args.join(' ')} ended: ${code ?? signal}`)
    }),
  ])
  stopped.abort()
  idle.push(runner)
  return ended[0] as Ended
}

function start(): ChildProcess {
  const { imports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
  const main = pathToFileURL(join(PACKAGE, imports['#main'].default ?? imports['#main'])).href
  const runner = spawn(process.execPath, [PROGRAM, main], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  runner.unref()
  runner.channel!.unref()
  return runner
}
