/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
  proof.tree proof.rotation proof.size proof.crash proof.copies proof.witness proof.witness.fork proof.verifier
  proof.verify proof.prove
`
  .split(/\s+/)
  .filter((id) => id !== '')
