import type { Wire } from '../transport/wire.ts'
import type { ImportReport } from './report.ts'
import { NDJSON, type SendOptions, sendRows } from './send.ts'
import type { RowText } from './slices.ts'

/** A change of the past: what happened to an entity, and when. */
export interface PastChange {
  readonly type: string
  /** The id of the entity. */
  readonly id?: string
  /** Where the entity came from, which names it as well: `hubspot:contact:123`. */
  readonly source?: string
  /** `create`, `update`, `delete` or another verb of the type. Only `create` creates an entity. */
  readonly verb: string
  /** When it happened. */
  readonly timestamp: string | Date
  /** Fields. A reference may be `{source}`. */
  readonly data?: { readonly [field: string]: unknown }
  readonly actor?: string
}

/** Imports past changes, which must come in the order of time. What the log has already is counted in `repeated`. */
export function importHistory(
  wire: Pick<Wire, 'json'>,
  root: string,
  changes: AsyncIterable<PastChange> | Iterable<PastChange>,
  options?: SendOptions,
): Promise<ImportReport['value']> {
  const target = { wire, path: `${root}/import/history`, query: {} }
  return sendRows(target, { cutter: NDJSON, rows: linesOf(changes) }, options)
}

async function* linesOf(changes: AsyncIterable<PastChange> | Iterable<PastChange>): AsyncGenerator<RowText> {
  let row = 0
  for await (const change of changes) yield { row: row++, text: `${JSON.stringify(change)}\n` }
}
