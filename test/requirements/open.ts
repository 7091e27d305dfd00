/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
`
  .split(/\s+/)
  .filter((id) => id !== '')
