import type { Patch } from '../cluster/machines/checkout.ts'

const TENANT = 'packages/tenant/src'
const BATCH = 'packages/server/src/doors/rest/batch.ts'

/** A service without one guard, in which the checks must find something: otherwise they could not find it anywhere. */
interface Control {
  readonly patch: Patch
  /** One of these kinds of anomalies shows it. */
  readonly shownBy: readonly string[]
}

export const CONTROLS: { readonly [guard: string]: Control } = {
  'the version of If-Match is compared': {
    shownBy: ['lost-update'],
    patch: {
      file: `${TENANT}/write/verb.ts`,
      text: 'if (ifVersions?.includes(current.version) === false) {',
      by: 'if (ifVersions?.includes(current.version) === false && current.version < 0) {',
    },
  },
  'a failed batch leaves nothing': {
    shownBy: ['G1a'],
    patch: {
      file: BATCH,
      text: 'if ((atomic || write.isProposal) && failed.length > 0) {',
      by: 'if (write.isProposal && failed.length > 0) {',
    },
  },
  'an atomic batch is one commit': {
    shownBy: ['G-single', 'G2-item', 'G0', 'G1c', 'interleaved'],
    patch: { file: BATCH, text: 'if (atomic) return null', by: 'if (atomic && operations.length === 0) return null' },
  },
  'a hook is asked again about a newer version': {
    shownBy: ['lost-update', 'incompatible-order', 'internal'],
    patch: {
      file: `${TENANT}/write/stored-hooks.ts`,
      text: 'JSON.stringify([hook.id, hook.version, verb, entity, args])',
      by: 'JSON.stringify([hook.id, hook.version, verb, entity.$id, args])',
    },
  },
  'a read sees the newest version': {
    shownBy: ['G-single-realtime', 'G-single', 'G2-item-realtime'],
    patch: {
      file: `${TENANT}/facade/reader.ts`,
      text: 'const entity = get(on.#reader, noun.name, id, options)',
      by: `const fresh = get(on.#reader, noun.name, id, options)
      const old: Map<string, Stored> = ((globalThis as any).old ??= new Map())
      const entity = (fresh.version % 3 === 0 && old.get(id)) || fresh
      old.set(id, fresh)`,
    },
  },
  'the index of a field follows a change': {
    shownBy: ['read'],
    patch: {
      file: `${TENANT}/write/verb.ts`,
      text: 'writeFieldIndex(sql, indexed, ordinal, after.seq)',
      by: 'if (ordinal < 0) writeFieldIndex(sql, indexed, ordinal, after.seq)',
    },
  },
}
