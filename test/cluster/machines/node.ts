import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { KEY } from '../../faults/server.ts'
import { Conditions } from './conditions.ts'
import { addressOf, type Machine, type Network } from './network.ts'
import { Program } from './program.ts'

/** Seconds that a node owns a tenant without renewing. */
export const LEASE = 2

/** A key of the tests. */
const SHARED_KEY = Buffer.alloc(32, 26).toString('base64')

export interface NodeOptions {
  readonly network: Network
  readonly machine: Machine
  readonly folder: string
  readonly preload: string
  readonly databaseUrl: string
}

/** One node of the service. */
export class NodeMachine {
  readonly machine: Machine
  readonly url: string
  readonly conditions: Conditions
  readonly log: string
  readonly #options: NodeOptions
  #program: Program | null = null

  constructor(options: NodeOptions) {
    const { machine, folder } = options
    this.#options = options
    this.machine = machine
    this.url = `http://${addressOf(machine)}:8787`
    this.log = join(folder, `${machine}-tilde.log`)
    this.conditions = new Conditions(join(folder, `${machine}.conditions`))
  }

  get isRunning(): boolean {
    return this.#program?.isRunning === true
  }

  /** Starts the node from a checkout, on the data folder that it has. */
  start(checkout: string): void {
    const { network, machine, preload, databaseUrl } = this.#options
    mkdirSync(this.#data, { recursive: true })
    const flags = ['--host', '0.0.0.0', '--port', '8787', '--data', this.#data, '--workers', '1']
    const cluster = ['--cluster', databaseUrl, '--node-name', machine, '--advertise', this.url]
    this.#program = new Program({
      network,
      machine,
      log: this.log,
      command: [process.execPath, join(checkout, 'packages/cli/src/main.ts'), 'serve', ...flags, ...cluster],
      env: {
        LD_PRELOAD: preload,
        TEST_MACHINE: this.conditions.path,
        TILDE_ROOT_KEY: KEY,
        TILDE_SECRET_KEY: SHARED_KEY,
        TILDE_SIGNING_KEY: SHARED_KEY,
        TILDE_BASE_URL: 'http://tilde.test',
        TILDE_CLUSTER_LEASE: String(LEASE),
        TILDE_CLUSTER_SNAPSHOT_CHANGES: '100',
        TILDE_CLUSTER_GRACE: '2',
        // A node starts in a quarter of the time.
        NODE_COMPILE_CACHE: join(this.#options.folder, 'compiled'),
        HOME: this.#options.folder,
      },
    })
    this.#program.start()
  }

  /** Waits until the node says that it is ready. */
  async ready(seconds = 60): Promise<void> {
    const until = Date.now() + seconds * 1_000
    while (Date.now() < until) {
      if (!this.isRunning) throw new Error(`${this.machine} ended by itself: see ${this.log}`)
      try {
        const reply = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2_000) })
        if (reply.ok) return
      } catch {
        // It does not listen yet.
      }
      await pause(50)
    }
    throw new Error(`${this.machine} is not ready after ${seconds} seconds: see ${this.log}`)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#program?.end(signal)
  }

  pause(): void {
    this.#program?.signal('SIGSTOP')
  }

  resume(): void {
    this.#program?.signal('SIGCONT')
  }

  /** Deletes the data folder, as a lost disk does. The node must not run. */
  forget(): void {
    rmSync(this.#data, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.#options.folder, `${this.machine}-data`)
  }
}
