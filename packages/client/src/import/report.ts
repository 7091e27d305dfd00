import type { RowText, SentRow } from './slices.ts'

interface Detail {
  readonly row: number
  readonly line?: number
  readonly error: string
  /** The time of the newest event, for a row of the past that is not in order. */
  readonly head?: string
}

interface Unknown {
  readonly field: string
  readonly nearest: string | null
}

/** What the service answers to a slice. */
export interface SliceReport {
  readonly imported: number
  readonly updated?: number
  readonly repeated?: number
  readonly errors: number
  readonly details?: readonly Detail[]
  readonly waiting?: readonly number[]
  readonly warnings?: readonly Unknown[]
  readonly assumed?: { readonly [name: string]: unknown }
}

const MOST_DETAILS = 10_000

/** The report of a whole file, from those of its slices. */
export class ImportReport {
  readonly #most: number
  #imported = 0
  #updated: number | undefined
  #repeated: number | undefined
  #errors = 0
  readonly #details: Detail[] = []
  readonly #warnings = new Map<string, Unknown>()
  #assumed: { readonly [name: string]: unknown } = {}

  constructor(most = MOST_DETAILS) {
    this.#most = most
  }

  /** Adds the report of a slice. Rows are counted in the slice there, and in the file here. */
  add(
    rows: readonly SentRow[],
    { imported, updated, repeated, errors, details = [], warnings = [], assumed }: SliceReport,
  ): void {
    this.#imported += imported
    if (updated !== undefined) this.#updated = (this.#updated ?? 0) + updated
    if (repeated !== undefined) this.#repeated = (this.#repeated ?? 0) + repeated
    this.#errors += errors
    for (const { row, error, head } of details) this.#detail(rows[row]!, error, head)
    for (const warning of warnings) this.#warnings.set(warning.field, warning)
    this.#assumed = { ...this.#assumed, ...assumed }
  }

  /** Adds a row that is not sent. */
  refuse(row: Extract<RowText, { error: string }>): void {
    this.#errors++
    this.#detail(row, row.error)
  }

  get value() {
    return {
      success: true,
      imported: this.#imported,
      ...(this.#updated !== undefined && { updated: this.#updated }),
      ...(this.#repeated !== undefined && { repeated: this.#repeated }),
      errors: this.#errors,
      details: this.#details.toSorted((a, b) => a.row - b.row),
      ...(this.#errors > this.#details.length && { detailsTruncated: true }),
      ...(this.#warnings.size > 0 && { warnings: [...this.#warnings.values()] }),
      ...(Object.keys(this.#assumed).length > 0 && { assumed: this.#assumed }),
    }
  }

  #detail({ row, line }: { readonly row: number; readonly line?: number }, error: string, head?: string): void {
    if (this.#details.length >= this.#most) return
    this.#details.push({ row, ...(line !== undefined && { line }), error, ...(head !== undefined && { head }) })
  }
}
