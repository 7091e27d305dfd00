/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
  rights.author rights.reach rights.generator rights.kinds rights.acts rights.service rights.values rights.refer
  rights.now rights.holder rights.limits budget.transaction budget.tasks answers.bounded answers.slow
  tenant.quota automation.rate relation.people comment.about comment.mention ticket.start
`
  .split(/\s+/)
  .filter((id) => id !== '')
