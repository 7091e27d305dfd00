/** A row of a file as text with its line end, or why it has none; and its place, as people count it. */
export type RowText = { readonly row: number; readonly line?: number } & (
  | { readonly text: string }
  | { readonly error: string }
)

/** A row that can be sent. */
export type SentRow = Extract<RowText, { text: string }>

/** Rows of one request: what every host imports well within its limits of time. */
const MOST_ROWS = 10_000
const MOST_LENGTH = 4 * 1_048_576

/** Rows in slices that each fit into a request. Rows without text go to `refuse`. */
export async function* slicesOf(
  rows: AsyncIterable<RowText> | Iterable<RowText>,
  refuse: (row: Extract<RowText, { error: string }>) => void = () => {},
  most = MOST_ROWS,
): AsyncGenerator<SentRow[]> {
  let slice: SentRow[] = []
  let length = 0
  for await (const row of rows) {
    if ('error' in row) {
      refuse(row)
      continue
    }
    if (slice.length >= most || (slice.length > 0 && length + row.text.length > MOST_LENGTH)) {
      yield slice
      slice = []
      length = 0
    }
    slice.push(row)
    length += row.text.length
  }
  if (slice.length > 0) yield slice
}
