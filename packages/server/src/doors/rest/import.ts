import { type Noun, Problem } from '@tildebase/nouns'
import { anyDecoder, charsetOf, type Decoder, utf8Decoder } from '@tildebase/nouns/csv'
import type { TenantWriter } from '@tildebase/tenant'
import {
  type ImportCounts,
  type ImportDetail,
  Importer,
  MOST_UNKNOWN,
  type RowImporter,
  TURN,
  type UnknownField,
} from '@tildebase/tenant/internal'
import { type Call, flagParam, type Route, textParam } from '../call.ts'
import { answer } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, either, FLAG, ref, TEXT } from '../describe/schema.ts'
import { CsvReader, csvReader } from '../format/read/read-csv.ts'
import { jsonReader } from '../format/read/read-json.ts'
import { ndjsonReader } from '../format/read/read-ndjson.ts'
import type { Row, RowReader } from '../format/rows.ts'
import { refuseLength, textOf } from '../format/text.ts'
import { noteWritten } from '../idempotency.ts'
import { json, type Reply } from '../reply.ts'
import { problemOf } from '../respond.ts'
import { streamRoute } from '../route.ts'
import { scheduler } from '../turns.ts'
import { warned } from './unknown-fields.ts'

/** Data in: JSON, NDJSON and CSV, row by row. */
export const importRoutes: readonly Route[] = [
  streamRoute('POST /import/:type', {
    summary: 'Import entities from JSON, NDJSON or CSV',
    needs: 'write on the type',
    rawBody: true,
    params: [
      'dryRun',
      query('upsert', 'A unique field, or $id: rows with a known value update its entity.', 'email'),
      query('more', 'The body is a part of a file; other requests send the rest.', true, FLAG),
    ],
    body: {
      description: 'The rows: a JSON list, one JSON object per line, or CSV with a header.',
      required: true,
      content: {
        'application/json': { schema: { type: 'array', items: ANY_OBJECT }, example: [{ name: 'Ada' }] },
        'application/x-ndjson': { schema: TEXT, example: '{"name":"Ada"}\n{"name":"Bob"}\n' },
        'text/csv': { schema: TEXT, example: 'name,email\nAda,ada@example.com\n' },
      },
    },
    answers: { 200: answer(either(ref('ImportReport'), ref('DryRun'))) },
    handle: importRows,
  }),
]

/** Rows of one commit: as many as take some milliseconds, since others wait for it. */
const FIRST_ROWS = 100
const FEWEST_ROWS = 20
const MOST_ROWS = 500
const SLICE_LENGTH = 1_048_576
const MOST_DETAILS = 10_000

async function importRows(call: Call): Promise<Reply> {
  const { query, request, importLimit } = call
  const noun = call.read.noun(call.params.type!)
  call.read.demand('write', noun)
  const contentType = request.headers['content-type']
  const reader = rowReader(contentType, noun)
  const decoder = reader instanceof CsvReader ? anyDecoder(charsetOf(contentType)) : utf8Decoder()
  const encoding = request.headers['content-encoding']?.trim().toLowerCase()
  refuseLength(request.headers['content-length'], encoding, importLimit)
  const dryRun = flagParam(query, 'dryRun')
  const upsert = textParam(query, 'upsert') ?? null
  const more = flagParam(query, 'more')
  if (more && dryRun) {
    const message = 'A dry run does not know the rows of other requests. Leave out more, or dryRun.'
    throw new Problem('invalid_parameter', message, { field: 'more' })
  }
  const importer = new Importer(noun, { upsert, dryRun, more, strict: flagParam(query, 'strict') })
  const report = new Report({ upserts: upsert !== null, dryRun, more })
  try {
    await importAll(call, textOf(request.body, encoding, importLimit, decoder), reader, importer, report)
  } catch (reason) {
    throw withReport(reason, report)
  }
  return warned(json(200, { success: true, ...report.body, ...assumptions(reader, decoder) }), report.warnings)
}

/** What was taken for granted of a file that is not UTF-8 with commas and the names of fields. */
function assumptions(reader: RowReader, { encoding }: Decoder): object {
  if (!(reader instanceof CsvReader)) return {}
  const assumed = { ...(encoding !== 'utf-8' && { encoding }), ...reader.assumed }
  return Object.keys(assumed).length > 0 ? { assumed } : {}
}

/** Imports the rows of a body in slices, each in a commit of its own. */
export async function importAll(
  call: Call,
  texts: AsyncIterable<string>,
  reader: RowReader,
  importer: RowImporter,
  report: Report,
): Promise<void> {
  const commit = <T>(work: (write: TenantWriter) => T) =>
    call.tenant.write(call.grant, call.writes, call.newBudget(), work)
  let slice: Row[] = []
  let length = 0
  let taken = 0
  let most = FIRST_ROWS
  // In the transaction of the rows, for a client that sends them again after a crash.
  const note = (write: TenantWriter, counts: ImportCounts) => {
    const sums = report.countsWith(counts)
    if (sums.imported === 0 || report.dryRun) return
    const waiting = [...sums.waiting, ...importer.waiting]
    noteWritten(call, write, { rows: taken, ...sums, waiting })
  }
  const settleSome = () =>
    commit((write) => {
      const counts = write.settle(importer)
      if (counts) note(write, counts)
      return counts
    })
  const settle = async () => {
    for (let counts = await settleSome(); counts !== null; counts = await settleSome()) {
      report.add(counts)
      await scheduler.next(call.tenant.slug)
    }
  }
  const flush = async () => {
    const rows = slice
    slice = []
    length = 0
    if (rows.length === 0) return
    taken += rows.length
    const counts = await commit((write) => {
      const begun = performance.now()
      const given = write.take(importer, rows)
      const fitting = Math.round((rows.length * TURN.bulk) / (performance.now() - begun))
      most = Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, fitting, most * 2))
      note(write, given)
      return given
    })
    report.add(counts)
    await scheduler.next(call.tenant.slug)
    if (importer.isFull) await settle()
  }
  const take = async (rows: readonly Row[]) => {
    for (const row of rows) {
      slice.push(row)
      length += row.size
      if (slice.length >= most || length >= SLICE_LENGTH) await flush()
    }
  }
  for await (const text of texts) await take(reader.push(text))
  await take(reader.end())
  await flush()
  await settle()
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
    case 'text/tab-separated-values':
      return csvReader(noun)
    default:
      throw new Problem(
        'unsupported_media_type',
        'Content-Type must be application/json (an array), application/x-ndjson or text/csv.',
        { field: 'Content-Type', supported: ['application/json', 'application/x-ndjson', 'text/csv'] },
      )
  }
}

interface ReportOptions {
  readonly upserts?: boolean
  readonly dryRun?: boolean
  readonly more?: boolean
  /** Counts the rows that were known already. */
  readonly repeats?: boolean
}

/** What an import did so far. */
export class Report {
  readonly #options: ReportOptions
  #imported = 0
  #updated = 0
  #repeated = 0
  #errors = 0
  readonly #details: ImportDetail[] = []
  readonly #waiting: number[] = []
  readonly #warnings: UnknownField[] = []

  constructor(options: ReportOptions) {
    this.#options = options
  }

  get dryRun(): boolean {
    return this.#options.dryRun === true
  }

  add({ imported, updated, repeated = 0, details, waiting, warnings }: ImportCounts): void {
    this.#warnings.push(...warnings.slice(0, MOST_UNKNOWN - this.#warnings.length))
    this.#imported += imported
    this.#updated += updated
    this.#repeated += repeated
    this.#errors += details.length
    this.#details.push(...details.slice(0, MOST_DETAILS - this.#details.length))
    this.#waiting.push(...waiting)
  }

  /** Names in the rows that are neither declared nor stored. */
  get warnings(): readonly UnknownField[] {
    return this.#warnings
  }

  /** What became of the rows, with those of one more slice. */
  countsWith({ imported, repeated = 0, details, waiting }: ImportCounts) {
    return {
      imported: this.#imported + imported,
      ...(this.#options.repeats && { repeated: this.#repeated + repeated }),
      errors: this.#errors + details.length,
      waiting: [...this.#waiting, ...waiting],
    }
  }

  get body() {
    const { upserts, dryRun, more, repeats } = this.#options
    return {
      ...(dryRun && { dryRun: true }),
      imported: this.#imported,
      ...(upserts && { updated: this.#updated }),
      ...(repeats && { repeated: this.#repeated }),
      errors: this.#errors,
      details: [...this.#details].sort((a, b) => a.row - b.row),
      ...(this.#errors > this.#details.length && { detailsTruncated: true }),
      ...(more && { waiting: this.#waiting.toSorted((a, b) => a - b) }),
      ...(this.#warnings.length > 0 && { warnings: this.#warnings }),
    }
  }
}

/** The problem that ended an import, with what had been done by then. */
export function withReport(reason: unknown, report: Report): unknown {
  const problem = problemOf(reason)
  if (problem.code === 'internal') return reason
  return new Problem(problem.code, problem.message, { ...problem.about, success: false, ...report.body })
}
