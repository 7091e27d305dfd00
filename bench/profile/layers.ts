import type { Recording } from './recorder.ts'

/** Microseconds per request: of each folder, and of each function without those that it calls. */
export interface Split {
  readonly layers: ReadonlyMap<string, number>
  readonly functions: ReadonlyMap<string, number>
}

/**
 * Assigns every sample to the folder of the innermost code of ours: the time of V8, Node and SQLite counts for the
 * caller. Samples without code of ours are those of Node, of the garbage collector, or idle.
 */
export function splitByLayer({ profile }: Recording, requests: number): Split {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map(profile.nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id])))
  const layers = new Map<string, number>()
  const functions = new Map<string, number>()
  for (const [i, sample] of (profile.samples ?? []).entries()) {
    const us = (profile.timeDeltas?.[i] ?? 0) / requests
    let layer: string | undefined
    for (let id: number | undefined = sample; id !== undefined && layer === undefined; id = parents.get(id))
      layer = folderOf(nodes.get(id)!.callFrame.url)
    const { functionName, url } = nodes.get(sample)!.callFrame
    const name = `${functionName || '(anonymous)'} ${url.replace(/.*\/packages\//, '')}`
    layer ??= /^\((?:idle|garbage collector)\)$/.exec(functionName)?.[0] ?? 'Node'
    layers.set(layer, (layers.get(layer) ?? 0) + us)
    functions.set(name, (functions.get(name) ?? 0) + us)
  }
  return { layers, functions }
}

/** The folder of a file of ours, such as `server/node/http`: its first three names. */
function folderOf(url: string): string | undefined {
  const path = /\/packages\/(\w+)\/src\/(.*)\//.exec(url)
  return path === null ? undefined : [path[1], ...path[2]!.split('/').slice(0, 2)].join('/')
}
