import type { LogRow } from '../../store/log/log.ts'

/** The entities of a log whose values are missing, and those of which an Erasure records it. */
export class Erasures {
  readonly #missing = new Map<string, readonly [id: string, seq: number]>()
  readonly #recorded = new Set<string>()

  add({ seq, type, entity, data, salt }: LogRow & { readonly salt: Uint8Array | null }): void {
    const key = `${type} ${entity}`
    if (salt === null && !this.#missing.has(key)) this.#missing.set(key, [entity, seq])
    if (type !== 'Erasure' || data === null) return
    const record = JSON.parse(data) as { readonly type?: unknown; readonly entity?: unknown }
    this.#recorded.add(`${record.type} ${record.entity}`)
  }

  /** Entities without values and without a record of it, each with its first event. */
  unrecorded(): (readonly [id: string, seq: number])[] {
    return [...this.#missing].filter(([key]) => !this.#recorded.has(key)).map(([, first]) => first)
  }
}
