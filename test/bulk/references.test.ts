import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { KNOT, type Knot, knots, RUNS, rowsOf } from './knots.ts'

let app: TestApp
let tenants = 0

beforeAll(async () => {
  app = await testApp()
})

afterAll(() => app.stop())

/** The rows that can be there: those left when all that refer to what is not there are taken out, again and again. */
function possible(nodes: readonly Knot[]): Set<number> {
  const left = new Set(nodes.flatMap(({ isBad }, i) => (isBad ? [] : [i])))
  for (let size = -1; size !== left.size; ) {
    size = left.size
    for (const i of left) if (nodes[i]!.refs.some((ref) => !left.has(ref))) left.delete(i)
  }
  return left
}

verifies('import.answer', 'rows that refer to each other are imported if all that they need is there', async () => {
  await fc.assert(
    fc.asyncProperty(knots, async (nodes) => {
      const tenant = `t${tenants++}`
      await app.request('PUT', `/~${tenant}/schema/Knot`, KNOT)
      const rows = rowsOf(nodes)
      const send = (query: string) => app.request('POST', `/~${tenant}/import/Knot${query}`, rows)
      const expected = possible(nodes)

      const dry = await send('?dryRun=true')
      const { body } = await send('')
      const { body: stored } = await app.request('GET', `/~${tenant}/Knot?limit=100`)

      expect(stored.results.map(({ name }: { name: string }) => Number(name.slice(1))).sort()).toEqual(
        [...expected].sort(),
      )
      expect(body).toMatchObject({ imported: expected.size, errors: nodes.length - expected.size })
      expect(dry.body).toMatchObject({ imported: body.imported, errors: body.errors })
    }),
    { numRuns: RUNS },
  )
})
