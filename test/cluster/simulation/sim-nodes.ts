import type { NodeRow } from '../../../packages/server/src/cluster/protocol/replicated-log.ts'

interface Node extends NodeRow {
  readonly alive: boolean
  readonly clock: number
}

/** The sessions of nodes as PostgreSQL keeps them. Each method is one statement. */
export class NodeState {
  nodes = new Map<string, Node>()

  join(node: Omit<NodeRow, 'beat' | 'draining'>, clock: number): void {
    this.nodes.set(node.session, { ...node, beat: 0, draining: false, alive: true, clock })
  }

  beat(session: string, clock: number): readonly NodeRow[] | null {
    const node = this.nodes.get(session)
    if (!node?.alive) return null
    const alive = [...this.nodes.values()].filter((one) => one.alive)
    this.nodes.set(session, { ...node, beat: node.beat + 1, clock: Math.max(node.clock, clock) })
    return alive.sort((a, b) => compare(a.name, b.name) || compare(a.session, b.session)).map(toNode)
  }

  expire(session: string, beat: number): boolean {
    const node = this.nodes.get(session)
    if (!node?.alive || node.beat !== beat) return false
    this.nodes.set(session, { ...node, alive: false })
    return true
  }

  leave(session: string): void {
    const node = this.nodes.get(session)
    if (node) this.nodes.set(session, { ...node, alive: false })
  }

  setDraining(name: string, draining: boolean): boolean {
    const found = [...this.nodes.values()].filter((node) => node.name === name && node.alive)
    for (const node of found) this.nodes.set(node.session, { ...node, draining })
    return found.length > 0
  }

  protected isAlive(session: string | null): boolean {
    return session !== null && this.nodes.get(session)?.alive === true
  }

  /** The last time that a session may have given out. */
  protected clockOf(session: string | null): number {
    return (session === null ? undefined : this.nodes.get(session)?.clock) ?? 0
  }
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function toNode({ session, name, url, beat, draining, layout, version }: Node): NodeRow {
  return { session, name, url, beat, draining, layout, version }
}
