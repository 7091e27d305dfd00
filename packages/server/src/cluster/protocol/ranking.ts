/** A node that tenants can be placed on. */
export interface Place {
  readonly name: string
  readonly session: string
  readonly draining: boolean
  /** The newest layout of tables that it knows. */
  readonly layout: number
}

/**
 * The nodes in the order in which they should have a tenant: the first owns it, the next ones follow it. Each node
 * computes the same order (rendezvous hashing), and a node that joins or leaves moves its own share only. Nodes of an
 * older version that cannot open the tenant are left out.
 */
export function ranked<P extends Place>(
  { slug, pin, layout }: { readonly slug: string; readonly pin: string | null; readonly layout: number },
  nodes: readonly P[],
): readonly P[] {
  const able = nodes.filter((node) => node.layout >= layout)
  const places = able.some(({ draining }) => !draining) ? able.filter(({ draining }) => !draining) : able
  return places
    .map((node) => ({ node, weight: node.name === pin ? Number.POSITIVE_INFINITY : weightOf(`${node.name} ${slug}`) }))
    .sort((a, b) => b.weight - a.weight || (a.node.session < b.node.session ? -1 : 1))
    .map(({ node }) => node)
}

/** FNV-1a with a last mix: names that differ in one letter must not have weights that are near. */
function weightOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
