import { NDJSON, sendRows } from '../import/send.ts'
import type { RowText } from '../import/slices.ts'
import type { Sending, Wire } from '../transport/wire.ts'
import type { CreatedMany } from '../types/types.ts'

const LARGEST_BATCH = 100
const MOST_BY_BATCH = 1_000

interface Result {
  readonly status: number
  readonly body: { readonly message?: string }
}

/** Creates many entities: in batches, or as imports when there are more than a thousand. */
export async function createMany(
  wire: Wire,
  root: string,
  type: string,
  drafts: readonly object[],
  signal?: AbortSignal,
): Promise<CreatedMany> {
  if (drafts.length > MOST_BY_BATCH) return importAll(wire, root, type, drafts, signal)
  const rejected: { row: number; error: string }[] = []
  for (let start = 0; start < drafts.length; start += LARGEST_BATCH) {
    const operations = drafts
      .slice(start, start + LARGEST_BATCH)
      .map((body, index) => ({ id: `row${start + index}`, method: 'POST', path: encodeURIComponent(type), body }))
    const { results } = await wire.json(`${root}/batch`, { method: 'POST', body: { operations }, signal })
    for (const [index, { status, body }] of (results as Result[]).entries()) {
      if (status >= 300) rejected.push({ row: start + index, error: body.message ?? `status ${status}` })
    }
  }
  return { created: drafts.length - rejected.length, rejected }
}

async function importAll(
  wire: Wire,
  root: string,
  type: string,
  drafts: readonly object[],
  signal?: AbortSignal,
): Promise<CreatedMany> {
  const abortable = { json: (path: string, sending?: Sending) => wire.json(path, { ...sending, signal }) }
  const target = { wire: abortable, path: `${root}/import/${encodeURIComponent(type)}`, query: {} }
  // The wire repeats what is lost; a program that waits longer repeats the whole.
  const options = { failures: 0, details: drafts.length }
  const { imported, details } = await sendRows(target, { cutter: NDJSON, rows: linesOf(drafts) }, options)
  return { created: imported, rejected: details.map(({ row, error }) => ({ row, error })) }
}

function* linesOf(drafts: readonly object[]): Generator<RowText> {
  for (const [row, draft] of drafts.entries()) yield { row, text: `${JSON.stringify(draft)}\n` }
}
