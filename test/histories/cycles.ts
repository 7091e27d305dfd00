import type { Anomaly } from './transaction.ts'

/** Why one transaction comes before another. */
const EDGE = {
  /** It wrote the version before. */
  ww: 1,
  /** It wrote what the other read. */
  wr: 2,
  /** It read the version before the one that the other wrote. */
  rw: 4,
  /** It had ended when the other began. */
  time: 8,
} as const

type EdgeKind = keyof typeof EDGE

/** Reasons for an order of transactions. Nodes are numbers; those without a name are moments. */
export class Dependencies {
  readonly #names: (string | null)[] = []
  readonly #edges: Map<number, number>[] = []

  add(name: string | null): number {
    this.#edges.push(new Map())
    return this.#names.push(name) - 1
  }

  connect(from: number, to: number, kind: EdgeKind): void {
    if (from === to) return
    const edges = this.#edges[from]!
    edges.set(to, (edges.get(to) ?? 0) | EDGE[kind])
  }

  get size(): number {
    return this.#names.length
  }

  nameOf(node: number): string | null {
    return this.#names[node]!
  }

  from(node: number): ReadonlyMap<number, number> {
    return this.#edges[node]!
  }
}

/** An anomaly is a cycle through an edge of one kind that returns over edges of others. The most basic ones come first. */
const CLASSES: readonly { readonly kind: string; readonly through: number; readonly back: number }[] = [
  { kind: 'G0', through: EDGE.ww, back: EDGE.ww },
  { kind: 'G1c', through: EDGE.wr, back: EDGE.ww | EDGE.wr },
  { kind: 'G-single', through: EDGE.rw, back: EDGE.ww | EDGE.wr },
  { kind: 'G2-item', through: EDGE.rw, back: EDGE.ww | EDGE.wr | EDGE.rw },
]

const ALL_CLASSES = [
  ...CLASSES,
  ...CLASSES.map(({ kind, through, back }) => ({ kind: `${kind}-realtime`, through, back: back | EDGE.time })),
]

/** One cycle for each group of transactions that cannot be put in an order, named after the most basic anomaly in it. */
export function findCycles(graph: Dependencies): Anomaly[] {
  return componentsOf(graph).map((component) => {
    for (const { kind, through, back } of ALL_CLASSES) {
      const cycle = cycleIn(graph, component, through, back)
      if (cycle !== null) return { kind, message: described(graph, cycle) }
    }
    throw new Error('A component without a cycle.')
  })
}

function cycleIn(
  graph: Dependencies,
  component: ReadonlySet<number>,
  through: number,
  back: number,
): readonly number[] | null {
  for (const from of component) {
    for (const [to, kinds] of graph.from(from)) {
      if ((kinds & through) === 0 || !component.has(to)) continue
      const path = pathIn(graph, component, to, from, back)
      if (path !== null) return [from, ...path]
    }
  }
  return null
}

/** The shortest path over edges of some kinds. */
function pathIn(
  graph: Dependencies,
  component: ReadonlySet<number>,
  start: number,
  end: number,
  kinds: number,
): readonly number[] | null {
  const before = new Map<number, number | null>([[start, null]])
  for (const node of before.keys()) {
    if (node === end) break
    for (const [to, found] of graph.from(node)) {
      if ((found & kinds) !== 0 && component.has(to) && !before.has(to)) before.set(to, node)
    }
  }
  if (!before.has(end)) return null
  const path: number[] = []
  for (let at: number | null = end; at !== null; at = before.get(at)!) path.unshift(at)
  return path
}

function described(graph: Dependencies, cycle: readonly number[]): string {
  const words = cycle.flatMap((node, index) => {
    const name = graph.nameOf(node)
    const next = cycle[index + 1]
    if (name === null) return []
    if (next === undefined) return [name]
    const kinds = graph.from(node).get(next)!
    const kind = Object.entries(EDGE).find(([, bit]) => (kinds & bit) !== 0)![0]
    return [name, `-${kind}->`]
  })
  return words.join(' ')
}

/** The groups of nodes that reach each other (Tarjan), without a stack of calls: histories are long. */
function componentsOf(graph: Dependencies): ReadonlySet<number>[] {
  const components: Set<number>[] = []
  const index = new Int32Array(graph.size).fill(-1)
  const low = new Int32Array(graph.size)
  const isOpen = new Uint8Array(graph.size)
  const open: number[] = []
  let count = 0
  const visit = (node: number) => {
    index[node] = low[node] = count++
    isOpen[node] = 1
    open.push(node)
    return { node, rest: graph.from(node).keys() }
  }
  for (let root = 0; root < graph.size; root++) {
    if (index[root] !== -1) continue
    const calls = [visit(root)]
    while (calls.length > 0) {
      const { node, rest } = calls.at(-1)!
      const { value: to, done } = rest.next()
      if (!done) {
        if (index[to] === -1) calls.push(visit(to))
        else if (isOpen[to]) low[node] = Math.min(low[node]!, index[to]!)
        continue
      }
      calls.pop()
      const caller = calls.at(-1)
      if (caller) low[caller.node] = Math.min(low[caller.node]!, low[node]!)
      if (low[node] !== index[node]) continue
      const component = new Set(open.splice(open.lastIndexOf(node)))
      for (const member of component) isOpen[member] = 0
      if (component.size > 1) components.push(component)
    }
  }
  return components
}
