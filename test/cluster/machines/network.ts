import { execFileSync } from 'node:child_process'

/** The machines of the test: three that run nodes, three that run PostgreSQL, Patroni and etcd. */
export const NODES = ['n1', 'n2', 'n3'] as const
export const DATABASES = ['d1', 'd2', 'd3'] as const
export type Machine = (typeof NODES)[number] | (typeof DATABASES)[number]
const MACHINES: readonly Machine[] = [...NODES, ...DATABASES]

const SUBNET = '10.26.0'

/** The address of a machine on the bridge. */
export function addressOf(machine: Machine): string {
  const number = Number(machine.slice(1))
  return `${SUBNET}.${machine.startsWith('n') ? 10 + number : 20 + number}`
}

/**
 * A network namespace per machine, joined by a bridge in its own namespace. No link leads out of it, so no packet
 * can leave this computer. The clients run in the namespace of the bridge.
 */
export class Network {
  readonly prefix: string
  /** The machines that drop packets. */
  readonly #cut = new Set<Machine>()

  constructor(prefix: string) {
    this.prefix = prefix
  }

  get hub(): string {
    return `${this.prefix}-hub`
  }

  namespaceOf(machine: Machine): string {
    return `${this.prefix}-${machine}`
  }

  create(): void {
    ip('netns', 'add', this.hub)
    ip('-n', this.hub, 'link', 'set', 'lo', 'up')
    ip('-n', this.hub, 'link', 'add', 'br0', 'type', 'bridge')
    ip('-n', this.hub, 'addr', 'add', `${SUBNET}.1/24`, 'dev', 'br0')
    ip('-n', this.hub, 'link', 'set', 'br0', 'up')
    for (const machine of MACHINES) {
      const space = this.namespaceOf(machine)
      ip('netns', 'add', space)
      ip('-n', this.hub, 'link', 'add', machine, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
      ip('-n', this.hub, 'link', 'set', machine, 'master', 'br0', 'up')
      ip('-n', space, 'addr', 'add', `${addressOf(machine)}/24`, 'dev', 'eth0')
      ip('-n', space, 'link', 'set', 'eth0', 'up')
      ip('-n', space, 'link', 'set', 'lo', 'up')
    }
  }

  /** Drops every packet from one machine to another, and none in the other direction. */
  cut(from: Machine, to: Machine): void {
    this.#cut.add(to)
    this.#iptables(to, '-A', 'INPUT', '-s', addressOf(from), '-j', 'DROP')
  }

  /** Drops the packets between two groups of machines, in both directions. */
  separate(one: readonly Machine[], other: readonly Machine[]): void {
    for (const a of one) {
      for (const b of other) {
        this.cut(a, b)
        this.cut(b, a)
      }
    }
  }

  heal(): void {
    for (const machine of this.#cut) this.#iptables(machine, '-F', 'INPUT')
    this.#cut.clear()
  }

  /** All processes of a machine, also those that its programs started. */
  pids(machine: Machine): readonly number[] {
    const out = execFileSync('ip', ['netns', 'pids', this.namespaceOf(machine)], { encoding: 'utf8' })
    return out.split('\n').filter(Boolean).map(Number)
  }

  /** Ends the processes in these namespaces and removes them. */
  remove(): void {
    for (const machine of MACHINES) {
      try {
        for (const pid of this.pids(machine)) endQuietly(pid)
        ip('netns', 'del', this.namespaceOf(machine))
      } catch {
        // It was not created.
      }
    }
    try {
      ip('netns', 'del', this.hub)
    } catch {
      // It was not created.
    }
  }

  #iptables(machine: Machine, ...args: string[]): void {
    execFileSync('ip', ['netns', 'exec', this.namespaceOf(machine), 'iptables', '-w', ...args])
  }
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
