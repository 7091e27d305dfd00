import { signal } from '@preact/signals'
import type { Entity } from '../../values/entity.ts'
import type { Noun } from '../../values/noun.ts'
import type { Look } from '../look.ts'

/** A sheet is a CSV file for people; the others have all fields, as the service has them. */
export type Format = 'sheet' | 'csv' | 'json' | 'ndjson' | 'parquet'

/** What an export holds: everything under a filter, or the entities that are selected. */
export type Exported =
  | { readonly filter: object; readonly total: number | null }
  | { readonly selected: readonly Entity[] }

/** What a spreadsheet shows of a list: its columns, in its order. */
export type Shown = Pick<Look, 'columns' | 'sort'>

/** An export to run, as of the time that was shown. */
export interface Export {
  readonly noun: Noun
  readonly format: Format
  readonly what: Exported
  /** What the list showed. */
  readonly shown: Shown
  readonly time: string | null
}

/** An export that runs or has failed. It continues when people look at another page. */
export interface ExportJob {
  readonly id: number
  readonly file: string
  /** Rows; bytes in a format without lines. */
  readonly unit: 'rows' | 'bytes'
  readonly done: number
  readonly total: number | null
  readonly failure: Error | null
  cancel(): void
  retry(): void
}

export const exportJobs = signal<readonly ExportJob[]>([])

/** More ids than this do not fit into one request; a parquet file cannot be put together from several. */
export const MOST_IDS = 1_000
