/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
  file.stream file.durable answers.bounded answers.slow relation.people
  comment.about comment.mention ticket.start schema.contradiction schema.create
`
  .split(/\s+/)
  .filter((id) => id !== '')
