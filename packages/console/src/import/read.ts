import type { SentRow } from '@tildebase/client'
import Papa from 'papaparse'

/** A file with columns. */
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly { readonly [column: string]: string }[]
  readonly delimiter: string
}

const NAMES: { readonly [delimiter: string]: string } = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' }

/** Whether a file is one of columns, which can be mapped to fields. */
export function isTable(file: File): boolean {
  return /\.(csv|tsv)(\.gz)?$/i.test(file.name)
}

/** Reads a file of columns. The delimiter is detected; the first line names the columns. */
export async function readTable(file: File): Promise<Table> {
  const text = await textOf(file)
  const { data, meta, errors } = Papa.parse<{ [column: string]: string }>(text, {
    header: true,
    skipEmptyLines: 'greedy',
    transformHeader: (name) => name.trim(),
  })
  const broken = errors.find(({ type }) => type === 'Quotes')
  if (broken) throw new Error(`Line ${(broken.row ?? 0) + 2} cannot be read: ${broken.message}.`)
  const columns = (meta.fields ?? []).filter((name) => name !== '')
  if (columns.length === 0 || data.length === 0) throw new Error('The file has no rows below its first line.')
  return { columns, rows: data, delimiter: NAMES[meta.delimiter] ?? meta.delimiter }
}

/** The rows of a file of JSON: a list, or a value in each line. */
export async function readRows(file: File): Promise<SentRow[]> {
  const text = await textOf(file)
  if (/\.(ndjson|jsonl)(\.gz)?$/i.test(file.name)) return linesOf(text)
  const values: unknown = JSON.parse(text)
  if (!Array.isArray(values)) throw new Error('The file is not a list of entities: [{ … }, { … }].')
  return values.map((value, row) => ({ row, text: `${JSON.stringify(value)}\n` }))
}

/** Drafts that were made of a table, each with its line of the file. */
export function rowsOf(drafts: readonly object[]): SentRow[] {
  return drafts.map((draft, row) => ({ row, line: row + 2, text: `${JSON.stringify(draft)}\n` }))
}

/** Lines as they are: the service says what is wrong with one. */
function linesOf(text: string): SentRow[] {
  const lines = text.split('\n').map((one, at) => ({ line: at + 1, text: `${one}\n` }))
  return lines.filter((one) => one.text.trim() !== '').map((one, row) => ({ row, ...one }))
}

async function textOf(file: File): Promise<string> {
  const stream = /\.gz$/i.test(file.name) ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
  // A mark of the byte order, as spreadsheets write it, is not part of the first column's name.
  return (await new Response(stream).text()).replace(/^\uFEFF/, '')
}
