/** A row to import: a value, or why there is none. */
export type ImportRow = { readonly row: number; readonly line?: number; readonly size: number } & (
  | { readonly value: unknown }
  | { readonly error: string }
)
