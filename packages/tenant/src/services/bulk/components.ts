/**
 * The strongly connected components of a graph, by Tarjan: each is a circle of nodes or one node alone, and comes after
 * all that it leads to. `edges` are the nodes that a node leads to. It keeps its own stack: a chain may be long.
 */
export function components(count: number, edges: (node: number) => readonly number[]): number[][] {
  const found: number[][] = []
  const order = new Int32Array(count).fill(-1)
  const low = new Int32Array(count)
  const isOpen = new Uint8Array(count)
  const open: number[] = []
  let next = 0
  for (let root = 0; root < count; root++) {
    if (order[root] !== -1) continue
    const path: { readonly node: number; readonly to: readonly number[]; at: number }[] = []
    const enter = (node: number) => {
      order[node] = next
      low[node] = next++
      isOpen[node] = 1
      open.push(node)
      path.push({ node, to: edges(node), at: 0 })
    }
    enter(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node, to } = top
      if (top.at < to.length) {
        const target = to[top.at++]!
        if (order[target] === -1) enter(target)
        else if (isOpen[target]) low[node] = Math.min(low[node]!, order[target]!)
        continue
      }
      path.pop()
      const before = path.at(-1)
      if (before) low[before.node] = Math.min(low[before.node]!, low[node]!)
      if (low[node] !== order[node]) continue
      const circle = open.splice(open.lastIndexOf(node))
      for (const one of circle) isOpen[one] = 0
      found.push(circle)
    }
  }
  return found
}
