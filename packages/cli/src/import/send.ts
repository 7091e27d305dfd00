import { randomUUID } from 'node:crypto'
import { Problem, type Wire } from '@tildebase/client'
import type { CutFile } from '@tildebase/server/rows'
import { passes, waitFor } from '../backup/patience.ts'
import { ImportReport, type SliceReport } from './report.ts'
import { type SentRow, slicesOf } from './slices.ts'

/** So many tries without an answer, about a minute and a half, and it is given up. */
const MOST_FAILURES = 10

/** Where rows are imported, and how. */
export interface ImportTarget {
  readonly wire: Wire
  readonly path: string
  readonly query: { readonly [name: string]: unknown }
}

/**
 * Imports a file of any length, slice by slice. A slice whose answer was lost is sent again under its key, so no row is imported
 * twice; one that was interrupted continues after the rows that were stored.
 */
export async function sendRows(target: ImportTarget, file: CutFile, most?: number): Promise<ImportReport['value']> {
  const report = new ImportReport()
  try {
    await sendAll(target, file, report, most)
  } catch (reason) {
    // What was stored before stays.
    if (!(reason instanceof Problem)) throw reason
    throw new Problem(reason.code, reason.message, { ...reason.about, ...report.value, success: false })
  }
  const { encoding } = file.decoder
  if (encoding !== 'utf-8') report.assume({ encoding })
  return report.value
}

async function sendAll(target: ImportTarget, file: CutFile, report: ImportReport, most?: number): Promise<void> {
  const waiting: SentRow[] = []
  let isOnly = true
  let held: SentRow[] | null = null
  for await (const slice of slicesOf(file.rows, (row) => report.refuse(row), most)) {
    if (held) {
      isOnly = false
      waiting.push(...(await sendSlice(target, file, held, true, report)))
    }
    held = slice
  }
  waiting.push(...(await sendSlice(target, file, held ?? [], !isOnly, report)))
  await sendWaiting(target, file, waiting, report)
}

/** Sends rows that refer to others which came later, as long as that brings some further. Then the rest is refused. */
async function sendWaiting(target: ImportTarget, file: CutFile, rows: SentRow[], report: ImportReport): Promise<void> {
  let waiting = rows
  for (let isLast = false; waiting.length > 0; ) {
    const left: SentRow[] = []
    for await (const slice of slicesOf(waiting)) left.push(...(await sendSlice(target, file, slice, !isLast, report)))
    isLast = left.length === waiting.length
    waiting = left
  }
}

/** Sends a slice. Returns its rows that refer to others which have not come. */
async function sendSlice(
  target: ImportTarget,
  file: CutFile,
  rows: readonly SentRow[],
  more: boolean,
  report: ImportReport,
): Promise<SentRow[]> {
  const waiting: SentRow[] = []
  for (let rest = rows; ; ) {
    const answer = await post(target, file, rest, more)
    report.add(rest, answer)
    waiting.push(...(answer.waiting ?? []).map((row) => rest[row]!))
    if (answer.rows === undefined) return waiting
    rest = rest.slice(answer.rows)
    if (rest.length === 0) return waiting
  }
}

/** The answer to a slice; with `rows` when it was interrupted after so many of them. */
async function post(
  { wire, path, query }: ImportTarget,
  { cutter }: CutFile,
  rows: readonly SentRow[],
  more: boolean,
): Promise<SliceReport & { readonly rows?: number }> {
  const raw = { type: cutter.type, body: cutter.head + rows.map(({ text }) => text).join('') }
  const headers = { 'idempotency-key': randomUUID() }
  for (let failures = 1; ; failures++) {
    try {
      return await wire.json(path, { method: 'POST', raw, headers, query: { ...query, ...(more && { more }) } })
    } catch (reason) {
      const interrupted = progressIn(reason)
      if (interrupted) return interrupted
      if (!passes(reason) && !isInFlight(reason)) throw reason
      if (failures > MOST_FAILURES) throw reason
      await waitFor(failures)
    }
  }
}

/** What an interrupted request has stored, as the service says when it gets the same key again. */
function progressIn(reason: unknown): (SliceReport & { readonly rows: number }) | null {
  if (!(reason instanceof Problem) || reason.code !== 'conflict' || reason.about.field !== 'Idempotency-Key')
    return null
  const { rows = 0, imported = 0, errors = 0, waiting = [] } = reason.about as Partial<SliceReport> & { rows?: number }
  return { rows, imported, errors, waiting }
}

function isInFlight(reason: unknown): boolean {
  return reason instanceof Problem && reason.code === 'in_flight'
}
