import type { CreatedMany } from './types.ts'
import type { Wire } from './wire.ts'

const LARGEST_BATCH = 100
const MOST_BY_BATCH = 1_000
/** Drafts of one request: no host takes long for it. */
const LARGEST_IMPORT = 10_000

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
  const path = `${root}/import/${encodeURIComponent(type)}`
  const rejected: { row: number; error: string }[] = []
  let created = 0
  /** Imports some of the drafts. Returns those that refer to drafts of other requests. */
  const send = async (rows: readonly number[], more: boolean): Promise<number[]> => {
    const raw = { type: 'application/x-ndjson', body: rows.map((row) => `${JSON.stringify(drafts[row])}\n`).join('') }
    const query = { more: more || undefined }
    const report = await wire.json(path, { method: 'POST', raw, query, once: true, signal })
    created += report.imported
    for (const { row, error } of report.details) rejected.push({ row: rows[row]!, error })
    return (report.waiting ?? []).map((row: number) => rows[row]!)
  }
  const all = [...drafts.keys()]
  const waiting: number[] = []
  for (let start = 0; start < all.length; start += LARGEST_IMPORT) {
    waiting.push(...(await send(all.slice(start, start + LARGEST_IMPORT), all.length > LARGEST_IMPORT)))
  }
  if (waiting.length > 0) await send(waiting, false)
  return { created, rejected: rejected.sort((a, b) => a.row - b.row) }
}
