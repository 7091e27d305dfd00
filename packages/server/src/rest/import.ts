import { type Noun, Problem } from '@tildebase/nouns'
import { type ImportCounts, type ImportDetail, Importer } from '@tildebase/tenant'
import { type Call, flagParam, textParam } from '../call.ts'
import { csvReader } from '../format/read-csv.ts'
import { jsonReader } from '../format/read-json.ts'
import { ndjsonReader } from '../format/read-ndjson.ts'
import type { Row, RowReader } from '../format/rows.ts'
import { refuseLength, textOf } from '../format/text.ts'
import { type HttpResponse, json } from '../http.ts'
import { noteWritten } from '../idempotency.ts'
import { problemOf } from '../respond.ts'
import type { Route } from '../routes.ts'

/** Data in: JSON, NDJSON and CSV, row by row. */
export const importRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/import/:type',
    needs: { action: 'write', on: 'type' },
    mode: 'stream',
    rawBody: true,
    summary: 'Import entities from JSON, NDJSON or CSV',
    handle: importRows,
  },
]

/** Rows of one commit. More would be faster by little, and keep others waiting for longer. */
const SLICE_ROWS = 250
const SLICE_LENGTH = 1_048_576
const MOST_DETAILS = 10_000

async function importRows(call: Call): Promise<HttpResponse> {
  const { tenant, grant, query, ask, importLimit } = call
  const noun = tenant.noun(call.params.type!)
  const reader = rowReader(ask.headers['content-type'], noun)
  const encoding = ask.headers['content-encoding']?.trim().toLowerCase()
  refuseLength(ask.headers['content-length'], encoding, importLimit)
  const dryRun = flagParam(query, 'dryRun')
  const upsert = textParam(query, 'upsert') ?? null
  const importer = new Importer(tenant, grant, noun, { upsert, dryRun, correlation: call.correlation })
  const report = new Report(upsert !== null, dryRun)
  try {
    await importAll(call, textOf(ask.body, encoding, importLimit), reader, importer, report)
  } catch (reason) {
    throw withReport(reason, report)
  }
  return json(200, { success: true, ...report.body })
}

async function importAll(
  call: Call,
  texts: AsyncIterable<string>,
  reader: RowReader,
  importer: Importer,
  report: Report,
): Promise<void> {
  let slice: Row[] = []
  let length = 0
  let taken = 0
  const flush = async () => {
    const rows = slice
    slice = []
    length = 0
    if (rows.length === 0) return
    taken += rows.length
    const tally = await call.commits.run(() => {
      const given = importer.take(rows)
      const counts = report.countsWith(given)
      if (counts.imported > 0 && !report.dryRun) noteWritten(call, { rows: taken, ...counts })
      return given
    })
    report.add(tally)
  }
  const take = async (rows: readonly Row[]) => {
    for (const row of rows) {
      slice.push(row)
      length += row.size
      if (slice.length >= SLICE_ROWS || length >= SLICE_LENGTH) await flush()
    }
  }
  for await (const text of texts) await take(reader.push(text))
  await take(reader.end())
  await flush()
  report.add(await call.commits.run(() => importer.finish()))
}

function rowReader(contentType: string | undefined, noun: Noun): RowReader {
  switch ((contentType ?? '').replace(/;.*/s, '').trim().toLowerCase() || 'application/json') {
    case 'application/json':
      return jsonReader()
    case 'application/x-ndjson':
    case 'application/ndjson':
    case 'application/jsonl':
      return ndjsonReader()
    case 'text/csv':
      return csvReader(noun)
    default:
      throw new Problem(
        'unsupported_media_type',
        'Content-Type is application/json (an array), application/x-ndjson or text/csv.',
        { field: 'Content-Type', supported: ['application/json', 'application/x-ndjson', 'text/csv'] },
      )
  }
}

/** What an import did so far. */
class Report {
  readonly #upserts: boolean
  readonly dryRun: boolean
  #imported = 0
  #updated = 0
  #errors = 0
  readonly #details: ImportDetail[] = []

  constructor(upserts: boolean, dryRun: boolean) {
    this.#upserts = upserts
    this.dryRun = dryRun
  }

  add({ imported, updated, details }: ImportCounts): void {
    this.#imported += imported
    this.#updated += updated
    this.#errors += details.length
    this.#details.push(...details.slice(0, MOST_DETAILS - this.#details.length))
  }

  /** How many rows were imported and how many were not, with those of one more slice. */
  countsWith({ imported, details }: ImportCounts): { imported: number; errors: number } {
    return { imported: this.#imported + imported, errors: this.#errors + details.length }
  }

  get body() {
    return {
      ...(this.dryRun && { dryRun: true }),
      imported: this.#imported,
      ...(this.#upserts && { updated: this.#updated }),
      errors: this.#errors,
      details: [...this.#details].sort((a, b) => a.row - b.row),
      ...(this.#errors > this.#details.length && { detailsTruncated: true }),
    }
  }
}

/** The problem that ended an import, with what had been done by then. */
function withReport(reason: unknown, report: Report): unknown {
  const problem = problemOf(reason)
  if (problem.code === 'internal') return reason
  return new Problem(problem.code, problem.message, { ...problem.about, success: false, ...report.body })
}
