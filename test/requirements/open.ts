/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
  budget.transaction budget.tasks answers.bounded answers.slow relation.people comment.about comment.mention
  ticket.start
`
  .split(/\s+/)
  .filter((id) => id !== '')
