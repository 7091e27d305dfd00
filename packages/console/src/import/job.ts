import { signal } from '@preact/signals'
import { NDJSON, Problem, type Sending, type SentRow, sendRows } from '@tildebase/client'
import { invalidate } from '../service/cache.ts'
import { ClosedError, request } from '../service/service.ts'
import { session } from '../service/session.ts'
import { newCorrelation, pending, sayDone } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { answerText, labelOf, numberText } from '../values/format.ts'
import type { Table } from './read.ts'
import { type ImportOptions, type Report, uploadAll } from './upload.ts'

/** An import that runs. It continues when people look at another page. */
export interface ImportJob {
  readonly file: string
  readonly type: string
  readonly isDry: boolean
  /** Rows that were answered for. */
  readonly done: number
  readonly total: number
  /** Whether the server does not answer. */
  readonly isLost: boolean
  readonly isStopping: boolean
}

/** A row that was not imported. */
export interface Rejected {
  readonly row: number
  readonly line?: number | undefined
  readonly error: string
}

/** What became of the last import. */
export interface Outcome extends Report {
  readonly file: string
  readonly type: string
  /** What undoes all of it; null when nothing was written. */
  readonly correlation: string | null
  /** How many entities were created because the rows name them. */
  readonly created: number
  readonly table: Table | null
  readonly wasDry: boolean
  readonly isCancelled: boolean
  /** Rows that were sent and not answered for: they may be stored. */
  readonly unknown: number
}

/** Few enough that the bar moves and a stop comes soon, and enough to be fast. */
const ROWS = 2_000

export const job = signal<ImportJob | null>(null)
export const outcome = signal<Outcome | null>(null)
export const failure = signal<Error | null>(null)
let stopping = new AbortController()

/** Rows to import, and those that cannot be sent. */
export interface ImportSource {
  readonly file: string
  readonly rows: readonly SentRow[]
  /** Rows that were refused before anything was sent. */
  readonly refused?: readonly Rejected[]
  /** The columns of the file and their cells, for rows that people correct. */
  readonly table?: Table
  /** What the fields are called in the file. */
  readonly columns?: { readonly [field: string]: string }
  /** Creates what the rows refer to, and returns the rows with it. */
  readonly prepare?: (correlation: string) => Promise<Prepared>
}

/** What was created for the rows to refer to, and the rows that refer to it. */
export interface Prepared {
  readonly rows: readonly SentRow[]
  readonly refused: readonly Rejected[]
  readonly created: number
}

/** Imports the rows of a file in parts. Each is imported once, also when the connection is lost. All of it is undone as one. */
export async function runImport(source: ImportSource, options: ImportOptions): Promise<void> {
  if (job.value !== null) return
  const { file, table, columns = {} } = source
  const { type, dryRun } = options
  const correlation = newCorrelation()
  let { rows, refused = [] } = source
  let created = 0
  stopping = new AbortController()
  outcome.value = null
  failure.value = null
  job.value = { file, type, isDry: dryRun, done: 0, total: rows.length, isLost: false, isStopping: false }
  pending.value += 1
  window.addEventListener('beforeunload', keepOpen)
  let lineOf = new Map<number, number | undefined>()
  const ended = ({ details, ...report }: Partial<Outcome> & Report): Outcome => ({
    isCancelled: false,
    unknown: 0,
    ...report,
    file,
    type,
    wasDry: dryRun,
    correlation: dryRun ? null : correlation,
    created,
    table: table ?? null,
    errors: report.errors + refused.length,
    details: [
      ...refused,
      ...details.map(({ row, error }) => ({ row, error: inWords(error, columns), line: lineOf.get(row) })),
    ].sort((a, b) => a.row - b.row),
  })
  try {
    if (source.prepare && !dryRun) ({ rows, refused, created } = await source.prepare(correlation))
    lineOf = new Map(rows.map(({ row, line }) => [row, line]))
    const report =
      rows.length === 0 ? NOTHING : await (dryRun ? check(rows, options) : send(rows, options, correlation))
    outcome.value = ended(report)
    if (!dryRun && report.imported > 0) sayDone(t('{} rows imported.', numberText(report.imported)), correlation)
  } catch (reason) {
    // The tenant was left.
    if (reason instanceof ClosedError) return
    const partial = partialIn(reason)
    if (partial) outcome.value = ended(partial)
    if (!partial?.isCancelled) failure.value = reason as Error
  } finally {
    window.removeEventListener('beforeunload', keepOpen)
    pending.value -= 1
    job.value = null
    invalidate(new Set([type]))
  }
}

/** Ends the import: at once if the server does not answer, or else after the part in progress. */
export function stopImport(): void {
  change({ isStopping: true })
  stopping.abort()
}

function change(patch: Partial<ImportJob>): void {
  if (job.value) job.value = { ...job.value, ...patch }
}

/** A dry run must see all rows at once, so it has no parts. */
async function check(rows: readonly SentRow[], options: ImportOptions): Promise<Report> {
  const onSent = (share: number) => change({ done: Math.round(share * rows.length) })
  const report = await uploadAll(rows, options, onSent, stopping.signal)
  return { ...report, details: report.details.map((one) => ({ ...one, row: rows[one.row]?.row ?? one.row })) }
}

/** Sends rows under a correlation. */
export function send(
  rows: readonly SentRow[],
  { type, upsert }: Pick<ImportOptions, 'type' | 'upsert'>,
  correlation: string,
): Promise<Report> {
  const headers = { 'x-correlation-id': correlation }
  const wire = {
    json: (path: string, sending: Omit<Sending, 'method'> = {}) =>
      request<never>('POST', path, { ...sending, headers: { ...sending.headers, ...headers } }),
  }
  const target = { wire, path: `/import/${encodeURIComponent(type)}`, query: { upsert } }
  return sendRows(
    target,
    { cutter: NDJSON, rows },
    {
      most: ROWS,
      // People see that there is no connection, and end the import when they like.
      failures: Number.POSITIVE_INFINITY,
      signal: stopping.signal,
      onSent: (rows) => change({ done: (job.value?.done ?? 0) + rows }),
      onLost: (isLost) => change({ isLost }),
    },
  )
}

const NOTHING: Report = { success: true, imported: 0, errors: 0, details: [] }

/** An error of the service with the names that the file has for the fields. */
function inWords(error: string, columns: { readonly [field: string]: string }): string {
  return error
    .replace(/^The \w+ is not valid\. /, '')
    .replace(
      /(^|[.;] )(\w+): ([^;]*)/g,
      (_, before: string, field: string, message: string) =>
        `${before}${columns[field] ?? labelOf(field)}: ${answerText(message)}`,
    )
}

/** What was imported before an import ended early. */
function partialIn(reason: unknown): (Report & { isCancelled: boolean; unknown: number }) | null {
  if (!(reason instanceof Problem)) return null
  const isCancelled = reason.code === 'cancelled'
  const { imported = 0, errors = 0, details = [], unknown = 0 } = reason.about as Partial<Report & { unknown: number }>
  if (!isCancelled && imported + errors === 0) return null
  return { success: false, imported, errors, details, isCancelled, unknown }
}

/** The browser asks before it closes a tab that imports. */
function keepOpen(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

// What belongs to one tenant is not shown in another.
session.subscribe(() => {
  stopping.abort()
  outcome.value = null
  failure.value = null
})
