import type { SentRow } from '@tildebase/client'
import { anyDecoder, CellReader, type CellRow } from '@tildebase/nouns/csv'
import { t } from '../texts/text.ts'
import { answerText } from '../values/format.ts'

/** One row of a file of columns. */
export interface TableRow {
  readonly line: number
  readonly cells: { readonly [column: string]: string }
}

/** A file with columns, and how it was read. */
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly TableRow[]
  readonly separator: string
  readonly encoding: string
}

/** How to read a file, where people know better than what its bytes show. */
export interface ReadOptions {
  readonly encoding?: string | undefined
  readonly separator?: string | undefined
}

export const SEPARATORS: { readonly [separator: string]: string } = {
  ',': t('commas'),
  ';': t('semicolons'),
  '\t': t('tabs'),
  '|': t('bars'),
}

export const ENCODINGS: { readonly [encoding: string]: string } = {
  'utf-8': 'UTF-8',
  'windows-1252': t('Windows-1252 (Western Europe)'),
  'utf-16le': 'UTF-16',
  'utf-16be': t('UTF-16 (big-endian)'),
  'iso-8859-2': t('ISO-8859-2 (Central Europe)'),
  macintosh: 'Macintosh',
}

/** Whether a file is one of columns, which can be mapped to fields. */
export function isTable(file: File): boolean {
  return /\.(csv|tsv|txt)(\.gz)?$/i.test(file.name)
}

/** Reads a file of columns with the reader of the service. Encoding and separator are found; the first line has the names. */
export async function readTable(file: File, { encoding, separator }: ReadOptions = {}): Promise<Table> {
  const decoder = anyDecoder(encoding)
  const reader = new CellReader(separator)
  const rows: CellRow[] = []
  const stream = streamOf(file).getReader()
  for (let part = await stream.read(); !part.done; part = await stream.read()) {
    for (const row of reader.push(decoder.decode(part.value))) rows.push(row)
  }
  rows.push(...reader.push(decoder.end()), ...reader.end())
  const [header, ...others] = rows
  const broken = rows.find(({ error }) => error !== null)
  if (broken) throw new Error(t('Line {} cannot be read: it {}.', broken.line, answerText(broken.error ?? '')))
  const names = namesOf(header?.cells ?? [])
  if (others.length === 0) throw new Error(t('The file has no rows below its first line.'))
  const long = others.find(({ cells }) => cells.slice(names.length).some((cell) => cell.trim() !== ''))
  if (long) {
    throw new Error(
      t('Line {} has {} cells, but the first line names {} columns.', long.line, long.cells.length, names.length),
    )
  }
  return {
    columns: names,
    rows: others.map(({ line, cells }) => ({
      line,
      cells: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])),
    })),
    separator: reader.separator ?? ',',
    encoding: decoder.encoding,
  }
}

/** The names of the columns. One without a name is called by its place, and a second of a name by its number. */
function namesOf(cells: readonly string[]): string[] {
  const names: string[] = []
  for (const [at, cell] of cells.entries()) {
    const name = cell.trim() || t('Column {}', at + 1)
    const same = names.filter((one) => one === name || one.startsWith(`${name} (`)).length
    names.push(same === 0 ? name : `${name} (${same + 1})`)
  }
  return names
}

/** The rows of a file of JSON: a list, or a value in each line. */
export async function readRows(file: File): Promise<SentRow[]> {
  const text = (await new Response(streamOf(file)).text()).replace(/^\uFEFF/, '')
  if (/\.(ndjson|jsonl)(\.gz)?$/i.test(file.name)) return linesOf(text)
  const values: unknown = JSON.parse(text)
  if (!Array.isArray(values)) throw new Error(t('The file is not a list of entries: [{ … }, { … }].'))
  return values.map((value, row) => ({ row, text: `${JSON.stringify(value)}\n` }))
}

/** Lines as they are: the service says what is wrong with one. */
function linesOf(text: string): SentRow[] {
  const lines = text.split('\n').map((one, at) => ({ line: at + 1, text: `${one}\n` }))
  return lines.filter((one) => one.text.trim() !== '').map((one, row) => ({ row, ...one }))
}

function streamOf(file: File): ReadableStream<Uint8Array<ArrayBuffer>> {
  return /\.gz$/i.test(file.name) ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
}
