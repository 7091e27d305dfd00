import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Machine, Network } from './network.ts'

export interface ProgramOptions {
  readonly network: Network
  readonly machine: Machine
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The file that receives everything that the program prints. */
  readonly log: string
  /** Another user than root, by name. */
  readonly user?: string
}

/** A program on one machine. `ip` and `setpriv` replace themselves by it, so the pid is its own. */
export class Program {
  readonly #options: ProgramOptions
  #child: ChildProcess | null = null

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid(): number {
    if (!this.isRunning) throw new Error(`${this.#options.command[0]} is not running on ${this.#options.machine}.`)
    return this.#child!.pid!
  }

  start(): void {
    const { network, machine, command, env, log, user } = this.#options
    const asUser = user === undefined ? [] : ['setpriv', '--reuid', user, '--regid', user, '--clear-groups']
    const output = openSync(log, 'a')
    this.#child = spawn('ip', ['netns', 'exec', network.namespaceOf(machine), ...asUser, ...command], {
      env: { PATH: process.env.PATH!, LANG: 'C.UTF-8', ...env },
      stdio: ['ignore', output, output],
    })
    closeSync(output)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Sends the signal, and waits until the program has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return
    const ended = once(this.#child!, 'exit')
    this.#child!.kill(signal)
    await ended
  }
}
