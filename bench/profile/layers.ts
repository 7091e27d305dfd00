import type { Recording } from './recorder.ts'

/** The layers of a request from the outside in, and the code that belongs to each. The first match counts. */
const LAYERS: readonly (readonly [layer: string, code: RegExp])[] = [
  ['SQL', /server\/src\/node\/sql\.ts/],
  ['garbage collection', /^\(garbage collector\)$/],
  ['idle', /^\(idle\)$/],
  ['rights', /tenant\/src\/grant\/|tenant\/src\/services\/keys|server\/src\/(caller|sender|identity)|keys\.ts|has-key/],
  ['validation', /nouns\/src\/|server\/src\/rest\/unknown-fields|server\/src\/call\.ts|write\/verb/],
  ['index', /field-index|text-index|index-/],
  ['serialisation', /tenant\/src\/view\/|server\/src\/(reply|respond|format)|entity-content|redact/],
  ['commit', /group-commit|server\/src\/node\/(flusher|wal)|engine\/turns|doors\/turns/],
  [
    'gateway',
    /server\/src\/(gateway|target|cross-origin|admission|observer|trace|rate|token-buckets|routes|route-table|dispatch|app|idempotency|propose|log-request)\b|server\/src\/mcp\/foreign|server\/src\/node\/(admission|address|bounded|client-address|watch|tenants|local|open-tenant|key-verdicts)|server\/src\/local/,
  ],
  ['engine', /tenant\/src\/|server\/src\/host\/|server\/src\/rest\//],
  ['socket', /node:|server\/src\/node\//],
]

/** Microseconds of each layer and function per request. */
export interface Split {
  readonly layers: ReadonlyMap<string, number>
  readonly functions: ReadonlyMap<string, number>
}

/** Assigns every sample to the layer of the innermost code that belongs to one: what V8 and Node do counts for the caller. */
export function splitByLayer({ profile }: Recording, requests: number): Split {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map(profile.nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id])))
  const layers = new Map<string, number>()
  const functions = new Map<string, number>()
  for (const [i, sample] of (profile.samples ?? []).entries()) {
    const us = (profile.timeDeltas?.[i] ?? 0) / requests
    let layer: string | undefined
    for (let id: number | undefined = sample; id !== undefined && layer === undefined; id = parents.get(id)) {
      const { functionName, url } = nodes.get(id)!.callFrame
      layer = layerOf(url || functionName)
    }
    const { functionName, url } = nodes.get(sample)!.callFrame
    const name = `${functionName || '(anonymous)'} ${url.replace(/.*\/packages\//, '')}`
    layers.set(layer ?? 'V8 and kernel', (layers.get(layer ?? 'V8 and kernel') ?? 0) + us)
    functions.set(name, (functions.get(name) ?? 0) + us)
  }
  return { layers, functions }
}

function layerOf(code: string): string | undefined {
  return LAYERS.find(([, pattern]) => pattern.test(code))?.[0]
}
