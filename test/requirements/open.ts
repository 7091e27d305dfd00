/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
  budget.transaction budget.tasks schema.contradiction schema.create
`
  .split(/\s+/)
  .filter((id) => id !== '')
