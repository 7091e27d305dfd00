import { signal } from '@preact/signals'
import { NDJSON, Problem, type SentRow, sendRows } from '@tildebase/client'
import { invalidate } from '../service/cache.ts'
import { ClosedError, request } from '../service/service.ts'
import { session } from '../service/session.ts'
import { pending } from '../service/write.ts'
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

/** What became of the last import. */
export interface Outcome extends Report {
  readonly file: string
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

/** Imports the rows of a file in parts. Each is imported once, also when the connection is lost. */
export async function runImport(file: string, rows: readonly SentRow[], options: ImportOptions): Promise<void> {
  if (job.value !== null) return
  const { type, dryRun } = options
  stopping = new AbortController()
  outcome.value = null
  failure.value = null
  job.value = { file, type, isDry: dryRun, done: 0, total: rows.length, isLost: false, isStopping: false }
  pending.value += 1
  window.addEventListener('beforeunload', keepOpen)
  const ended = ({ details, ...report }: Partial<Outcome> & Report): Outcome => ({
    isCancelled: false,
    unknown: 0,
    ...report,
    file,
    wasDry: dryRun,
    details: details.map(({ row, error }) => ({ row, error, line: rows[row]?.line })),
  })
  try {
    outcome.value = ended(await (dryRun ? check(rows, options) : send(rows, options)))
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
function check(rows: readonly SentRow[], options: ImportOptions): Promise<Report> {
  const onSent = (share: number) => change({ done: Math.round(share * rows.length) })
  return uploadAll(rows, options, onSent, stopping.signal)
}

function send(rows: readonly SentRow[], { type, upsert }: ImportOptions): Promise<Report> {
  const wire = { json: (path: string, sending = {}) => request<never>('POST', path, sending) }
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
