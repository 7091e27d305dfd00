import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { KINDS } from '../../packages/tenant/src/authorship/stored.ts'
import { INTERNAL_TYPES } from '../../packages/tenant/src/engine/types.ts'
import { SERVICE_TYPES } from '../../packages/tenant/src/grant/scopes.ts'
import { verifies } from '../verifies.ts'
import { AUTHORS, grantOf, mayReach } from './attacks/authors.ts'
import { openDoors } from './attacks/doors.ts'
import { DEPENDENT_KINDS, SERVICE_NOUNS, TABLES } from './attacks/kinds.ts'
import { REMOVALS } from './attacks/removals.ts'
import { ATTACKS } from './attacks/things.ts'
import { APPROVAL } from './attacks/ways.ts'
import { contentOf, openWorld, provoke, type World } from './attacks/world.ts'

/** Kinds × ways × authors × doors. */
let looked = 0

/** A tenant in which all attempts to store something were refused. */
const untouched: { readonly world: World; readonly before: string }[] = []
afterAll(() => {
  for (const { world } of untouched) world.close()
})

function freshWorld() {
  const world = openWorld()
  return { world, before: contentOf(world) }
}

test.each(ATTACKS.map((attack) => [`${attack.kind}: ${attack.name}`, attack] as const))(
  '%s reaches no more than its author',
  async (_, attack) => {
    const findings: string[] = []
    const effective = new Set<string>()
    for (const way of attack.ways) {
      for (const author of AUTHORS) {
        // Who approves a changeset is the author of what it stores.
        const allowed = !NEVER.has(attack.name) && (way === APPROVAL || mayReach(author, attack.goal))
        // The attack of an author with these rights shows only that it works in this way: one is enough.
        if (allowed && effective.has(way)) continue
        const { world, before } = untouched.pop() ?? freshWorld()
        const grant = grantOf(author)
        await attack.run(world, grant, way)
        // Where nothing was stored, nothing can act, and the next author finds the same tenant.
        const isUntouched = contentOf(world) === before
        if (!isUntouched) await provoke(world)
        const doors = openDoors(world, grant, attack.goal)
        for (const list of [world.sent, world.mails, world.shown]) list.length = 0
        if (isUntouched) untouched.push({ world, before })
        else world.close()

        looked += doors.looked
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
const NEVER = new Set([
  'an error that shows values',
  'a refusal that shows a state',
  'a verb of a service type',
  'an answer in the place of another',
  'a name of a secret in a value',
  'an answer that repeats it',
])

verifies('rights.generator', 'the generator looks at 5,000 combinations or more', () => {
  expect(looked).toBeGreaterThanOrEqual(5_000)
})

verifies('rights.kinds', 'every kind of stored thing has attacks, and a row in docs/security.md', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
  const kinds = [...KINDS, ...DEPENDENT_KINDS]

  expect([...new Set(ATTACKS.map(({ kind }) => kind))].toSorted()).toEqual(kinds.toSorted())
  expect(kinds.filter((kind) => !page.includes(`\n| ${kind} |`))).toEqual([])
})

test('every check that the control removes is in the sources', () => {
  const sources = new URL('../../packages/tenant/src/', import.meta.url)
  const gone = REMOVALS.filter(({ file, from }) => !readFileSync(new URL(file, sources), 'utf8').includes(from))

  expect(gone.map(({ check }) => check)).toEqual([])
})

verifies('rights.kinds', 'every table of a tenant and every type of the service is of a kind, or has a reason', () => {
  const { tenant, close } = openWorld()
  const tables = tenant.sql.rows(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'text\\__%' ESCAPE '\\'`,
  )
  close()
  const held = [...Object.values(TABLES), ...Object.values(SERVICE_NOUNS)].flatMap((one) =>
    typeof one === 'string' ? [] : one,
  )

  expect(tables.map(([name]) => name).toSorted()).toEqual(Object.keys(TABLES).toSorted())
  expect([...INTERNAL_TYPES.all.map(({ name }) => name), ...SERVICE_TYPES].toSorted()).toEqual(
    Object.keys(SERVICE_NOUNS).toSorted(),
  )
  expect([...KINDS, ...DEPENDENT_KINDS].filter((kind) => !held.includes(kind))).toEqual([])
})
