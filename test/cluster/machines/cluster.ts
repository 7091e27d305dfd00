import { setTimeout as pause } from 'node:timers/promises'
import { Database } from './database.ts'
import { type Machine, type Network, NODES } from './network.ts'
import { NodeMachine } from './node.ts'

export interface ClusterOptions {
  readonly network: Network
  readonly folder: string
  readonly preload: string
  /** The program of Patroni. */
  readonly patroni: string
  /** The checkout that nodes run, and another one for rolling upgrades. */
  readonly checkouts: readonly [string, string]
}

/** Three nodes and three databases, and what is needed to break and to mend them. */
export class Cluster {
  readonly network: Network
  readonly database: Database
  readonly nodes: readonly NodeMachine[]
  readonly checkouts: readonly [string, string]
  /** The checkout that each node runs. */
  readonly running = new Map<Machine, string>()

  constructor({ network, folder, preload, patroni, checkouts }: ClusterOptions) {
    this.network = network
    this.checkouts = checkouts
    this.database = new Database(network, folder, preload, patroni)
    this.nodes = NODES.map(
      (machine) => new NodeMachine({ network, machine, folder, preload, databaseUrl: this.database.url }),
    )
  }

  get urls(): string[] {
    return this.nodes.map(({ url }) => url)
  }

  async start(): Promise<void> {
    await this.database.start()
    // The first one creates the tables.
    for (const node of this.nodes) {
      this.startNode(node)
      await node.ready()
    }
  }

  startNode(node: NodeMachine, checkout = this.running.get(node.machine) ?? this.checkouts[0]): void {
    this.running.set(node.machine, checkout)
    node.start(checkout)
  }

  /** The node that owns a tenant, as the database says. */
  async ownerOf(tenant: string): Promise<NodeMachine> {
    for (let tries = 0; tries < 300; tries++) {
      const name = await this.#ownerName(tenant).catch(() => undefined)
      const owner = this.nodes.find(({ machine }) => machine === name)
      if (owner?.isRunning) return owner
      await pause(100)
    }
    throw new Error(`No node owns ${tenant} after 30 seconds.`)
  }

  others(node: NodeMachine): NodeMachine[] {
    return this.nodes.filter((one) => one !== node)
  }

  /** Ends all faults, starts what does not run, and waits until everything is up. */
  async restore(note: (line: string) => void): Promise<void> {
    this.network.heal()
    for (const { conditions } of [...this.nodes, ...this.database.machines]) conditions.reset()
    for (const { machine } of this.database.machines) {
      for (const pid of this.network.pids(machine)) resume(pid)
    }
    for (const node of this.nodes) node.resume()
    for (const machine of this.database.machines) machine.start()
    await this.database.whole(note)
    for (const node of this.nodes) {
      if (!node.isRunning) this.startNode(node)
    }
    for (const node of this.nodes) await node.ready()
  }

  async #ownerName(tenant: string): Promise<string | undefined> {
    const [name] = await this.database.query(
      `SELECT n.name FROM tilde_tenants t JOIN tilde_nodes n ON n.session = t.owner WHERE t.slug = '${tenant}'`,
    )
    return name
  }
}

function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It has ended.
  }
}
