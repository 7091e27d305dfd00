import fc from 'fast-check'

/** A row that refers to others by their numbers, which may not be there; a bad one lacks its name. */
export interface Knot {
  readonly refs: readonly number[]
  readonly isBad: boolean
}

/** How many graphs of rows a test tries. */
export const RUNS = Number(process.env.TILDE_BULK_RUNS ?? 40)

/** The type of the rows. */
export const KNOT = { name: 'string!', refs: '-> Knot[]' }

export const knots: fc.Arbitrary<readonly Knot[]> = fc.array(
  fc.record({ refs: fc.array(fc.nat(12), { maxLength: 3 }), isBad: fc.nat(9).map((one) => one === 0) }),
  { minLength: 1, maxLength: 12 },
)

/** Knots as rows of a file. */
export function rowsOf(nodes: readonly Knot[]) {
  return nodes.map(({ refs, isBad }, i) => ({
    $id: `knot_k${i}`,
    ...(!isBad && { name: `k${i}` }),
    refs: [...new Set(refs)].map((ref) => `knot_k${ref}`),
  }))
}
