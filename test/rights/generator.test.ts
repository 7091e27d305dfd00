import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { KINDS } from '../../packages/tenant/src/authorship/stored.ts'
import { verifies } from '../verifies.ts'
import { AUTHORS, grantOf, mayReach } from './attacks/authors.ts'
import { openDoors } from './attacks/doors.ts'
import { ATTACKS } from './attacks/things.ts'
import { APPROVAL } from './attacks/ways.ts'
import { openWorld, provoke } from './attacks/world.ts'

/** Kinds × ways × authors × doors. */
let looked = 0

test.each(ATTACKS.map((attack) => [`${attack.kind}: ${attack.name}`, attack] as const))(
  '%s reaches no more than its author',
  async (_, attack) => {
    const findings: string[] = []
    const effective = new Set<string>()
    for (const way of attack.ways) {
      for (const author of AUTHORS) {
        const world = openWorld()
        const grant = grantOf(author)
        await attack.run(world, grant, way)
        await provoke(world)
        const doors = openDoors(world, grant, attack.goal)
        world.close()

        looked += doors.looked
        // Who approves a changeset is the author of what it stores.
        const allowed = way === APPROVAL || mayReach(author, attack.goal)
        if (doors.found.length > 0) effective.add(way)
        if (!allowed && doors.found.length > 0) findings.push(`${way}, ${author.name}: ${doors.found.join(', ')}`)
      }
    }

    expect(findings).toEqual([])
    // An attack that no author can carry out tests nothing, unless it is refused to all.
    expect(NEVER.has(attack.name) || effective.size > 0 ? 'effective' : 'without effect').toBe('effective')
  },
)

/** Attacks that no author can carry out: errors show no values, and the service's own types keep their meaning. */
const NEVER = new Set(['an error that shows values', 'a refusal that shows a state', 'a verb of a service type'])

verifies('rights.generator', 'the generator looks at 5,000 combinations or more', () => {
  expect(looked).toBeGreaterThanOrEqual(5_000)
})

verifies('rights.kinds', 'every kind of stored thing has attacks, and a row in docs/security.md', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')

  expect([...new Set(ATTACKS.map(({ kind }) => kind))].toSorted()).toEqual([...KINDS].toSorted())
  expect(KINDS.filter((kind) => !page.includes(`\n| ${kind} |`))).toEqual([])
})
