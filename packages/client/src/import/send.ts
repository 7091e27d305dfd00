import { Problem } from '@tildebase/nouns'
import { isTemporary, pause } from '../transport/retry.ts'
import { token, type Wire } from '../transport/wire.ts'
import { ImportReport, type SliceReport } from './report.ts'
import { type RowText, type SentRow, slicesOf } from './slices.ts'

/** So many tries without an answer, about a minute and a half, and it is given up. */
const MOST_FAILURES = 10
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 15_000

/** Where rows are imported, and how. */
export interface ImportTarget {
  readonly wire: Pick<Wire, 'json'>
  readonly path: string
  readonly query: { readonly [name: string]: unknown }
}

/** The rows of a file, and what each part of it begins with: the header of CSV, which is known with the first row. */
export interface RowSource {
  readonly cutter: { readonly type: string; readonly head: string }
  readonly rows: AsyncIterable<RowText> | Iterable<RowText>
}

/** Rows that are lines of JSON. */
export const NDJSON: RowSource['cutter'] = { type: 'application/x-ndjson', head: '' }

export interface SendOptions {
  /** Rows of a request; 10,000 by default. */
  readonly most?: number
  /** Tries of a request without an answer, after those of the wire; 10 by default. */
  readonly failures?: number
  /** Rows that the report may name; 10,000 by default. */
  readonly details?: number
  /** Ends the import before the next request, or while there is no connection. */
  readonly signal?: AbortSignal | undefined
  /** Called when a request is answered, with the number of its rows. */
  readonly onSent?: (rows: number) => void
  /** Called when an answer is missing, and when it has come. */
  readonly onLost?: (isLost: boolean) => void
}

/**
 * Imports a file of any length, slice by slice. A slice whose answer was lost is sent again under its key, so no row is imported
 * twice; one that was interrupted continues after the rows that were stored.
 */
export async function sendRows(
  target: ImportTarget,
  source: RowSource,
  options: SendOptions = {},
): Promise<ImportReport['value']> {
  const report = new ImportReport(options.details)
  try {
    await new Sender(target, source, options, report).sendAll()
  } catch (reason) {
    // What was stored before stays.
    if (!(reason instanceof Problem)) throw reason
    throw new Problem(reason.code, reason.message, { ...reason.about, ...report.value, success: false })
  }
  return report.value
}

class Sender {
  readonly #target: ImportTarget
  readonly #source: RowSource
  readonly #options: SendOptions
  readonly #report: ImportReport

  constructor(target: ImportTarget, source: RowSource, options: SendOptions, report: ImportReport) {
    this.#target = target
    this.#source = source
    this.#options = options
    this.#report = report
  }

  async sendAll(): Promise<void> {
    const waiting: SentRow[] = []
    let isOnly = true
    let held: SentRow[] | null = null
    for await (const slice of slicesOf(this.#source.rows, (row) => this.#report.refuse(row), this.#options.most)) {
      if (held) {
        isOnly = false
        waiting.push(...(await this.#sendSlice(held, true)))
      }
      held = slice
    }
    waiting.push(...(await this.#sendSlice(held ?? [], !isOnly)))
    await this.#sendWaiting(waiting)
  }

  /** Sends rows again that refer to rows which came later, until a pass stores none of them. The rest is refused. */
  async #sendWaiting(rows: SentRow[]): Promise<void> {
    let waiting = rows
    for (let isLast = false; waiting.length > 0; ) {
      const left: SentRow[] = []
      for await (const slice of slicesOf(waiting)) left.push(...(await this.#sendSlice(slice, !isLast)))
      isLast = left.length === waiting.length
      waiting = left
    }
  }

  /** Sends a slice. Returns its rows that refer to others which have not come. */
  async #sendSlice(rows: readonly SentRow[], more: boolean): Promise<SentRow[]> {
    const waiting: SentRow[] = []
    for (let rest = rows; ; ) {
      const answer = await this.#post(rest, more)
      this.#report.add(rest, answer)
      this.#options.onSent?.(answer.rows ?? rest.length)
      waiting.push(...(answer.waiting ?? []).map((row) => rest[row]!))
      if (answer.rows === undefined) return waiting
      rest = rest.slice(answer.rows)
      if (rest.length === 0) return waiting
    }
  }

  /** The answer to a slice; with `rows` when it was interrupted after so many of them. */
  async #post(rows: readonly SentRow[], more: boolean): Promise<SliceReport & { readonly rows?: number }> {
    const { signal, onLost, failures: most = MOST_FAILURES } = this.#options
    if (signal?.aborted) throw cancelled(0)
    const { wire, path, query } = this.#target
    const { type, head } = this.#source.cutter
    const sending = {
      method: 'POST',
      raw: { type, body: head + rows.map(({ text }) => text).join('') },
      headers: { 'idempotency-key': token() },
      query: { ...query, ...(more && { more }) },
    }
    for (let failures = 1; ; failures++) {
      try {
        const answer = await wire.json(path, sending).catch(interrupted)
        if (failures > 1) onLost?.(false)
        return answer
      } catch (reason) {
        if (!isTemporary(reason) && !isInFlight(reason)) throw reason
        if (failures > most) throw reason
        onLost?.(true)
        await pause(Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE), signal).catch(() => {
          throw cancelled(rows.length)
        })
      }
    }
  }
}

/** What an interrupted request has stored, as the service says when it gets the same key again. */
function interrupted(reason: unknown): SliceReport & { readonly rows: number } {
  if (!(reason instanceof Problem) || reason.code !== 'conflict' || reason.about.field !== 'Idempotency-Key')
    throw reason
  const about = reason.about as Partial<SliceReport> & { rows?: number }
  const { rows = 0, imported = 0, repeated, errors = 0, waiting = [] } = about
  return { rows, imported, ...(repeated !== undefined && { repeated }), errors, waiting }
}

function isInFlight(reason: unknown): boolean {
  return reason instanceof Problem && reason.code === 'in_flight'
}

/** The import was ended by its caller. Of `unknown` rows the answer is missing: they may be stored. */
function cancelled(unknown: number): Problem {
  return new Problem('cancelled', 'The import was cancelled.', { ...(unknown > 0 && { unknown }) })
}
