import { type Filter, type Hop, hopOf, type JsonObject, match, relationOf } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { regexTest } from '../../packages/tenant/src/query/words/regex.ts'
import { ids, NOUNS, opened } from './people.ts'

const RUNS = Math.ceil(Number(process.env.TILDE_RUNS ?? 1_500) / 5)

const COMPANIES = ['company_1', 'company_2', 'company_3']
const TEAMS = ['team_1', 'team_2']
const name = fc.constantFrom('x', 'y', 'xy', null)
const put = fc.oneof(
  fc.tuple(
    fc.constant('Company'),
    fc.constantFrom(...COMPANIES),
    fc.record({
      name,
      industry: fc.constantFrom('tech', 'food', null),
      parent: fc.constantFrom(...COMPANIES, 'company_0', null),
    }),
  ),
  fc.tuple(fc.constant('Team'), fc.constantFrom(...TEAMS), fc.record({ name })),
  fc.tuple(
    fc.constant('Person'),
    fc.constantFrom('person_1', 'person_2', 'person_3', 'person_4'),
    fc.record({
      name: fc.constantFrom('x', 'y'),
      age: fc.constantFrom(1, 2, 3, null),
      company: fc.constantFrom(...COMPANIES, 'company_0', null),
      teams: fc.oneof(fc.subarray([...TEAMS, 'team_0']), fc.constant(null)),
    }),
  ),
)
const step = fc.oneof(
  { weight: 6, arbitrary: put },
  { weight: 1, arbitrary: put.map(([type, id]) => [type, id, null] as const) },
)

const operator = fc.oneof(
  fc.constantFrom('x', 'tech', 1, null),
  fc.constantFrom('x', 'tech', 2, null).map(($ne) => ({ $ne })),
  fc.subarray(['x', 'food', 1, 2, null]).map(($in) => ({ $in })),
  fc.subarray(['x', 'food', 1, 2, null]).map(($nin) => ({ $nin })),
  fc.boolean().map(($exists) => ({ $exists })),
  fc.constantFrom({ $gt: 1 }, { $lte: 'x' }, { $regex: '^x' }, { $not: { $gte: 2 } }),
)
const PATHS: { readonly [type: string]: readonly string[] } = {
  Person: ['company.name', 'company.industry', 'company.parent.industry', 'teams.name', 'company.people.age', 'age'],
  Company: ['people.age', 'people.name', 'people.teams.name', 'children.name', 'parent.industry', 'industry'],
  Team: ['members.age', 'members.company.industry', 'members.name', 'name'],
}
const INCLUDES: { readonly [type: string]: readonly string[] } = {
  Person: ['company', 'teams'],
  Company: ['people', 'children', 'parent'],
  Team: ['members'],
}
const question = fc.constantFrom('Person', 'Company', 'Team').chain((type) => {
  const leaf = fc.tuple(fc.constantFrom(...PATHS[type]!), operator).map(([path, one]) => ({ [path]: one }))
  const filter = fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.tuple(leaf, leaf).map(($and) => ({ $and })) },
    { weight: 1, arbitrary: fc.tuple(leaf, leaf).map(($or) => ({ $or })) },
  )
  return fc.tuple(fc.constant(type), filter)
})
const narrowing = fc.constantFrom<{ readonly [type: string]: object }>(
  {},
  {},
  { Company: { industry: 'tech' } },
  { Person: { 'company.industry': 'tech' }, Company: { name: 'x' } },
  { Company: { name: { $regex: '^x' } }, Person: { age: { $ne: 1 } } },
)

type World = ReadonlyMap<string, { readonly type: string; readonly entity: JsonObject }>

test(`SQL and memory agree on filters through relations, now and in the past, for all grants (${RUNS} runs)`, () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 5, maxLength: 20 }),
      fc.array(question, { minLength: 5, maxLength: 5 }),
      narrowing,
      fc.nat(20),
      (steps, questions, rows, back) => {
        const ledger = opened()
        const worlds: World[] = [new Map()]
        for (const [type, id, data] of steps) {
          const world = new Map(worlds.at(-1)!)
          if (data === null && !world.has(id)) continue
          ledger.put(type, id, data)
          if (data === null) world.delete(id)
          else world.set(id, { type, entity: { ...data, $id: id } })
          worlds.push(world)
        }
        const asOf = back % 3 === 0 ? null : Math.max(0, ledger.seq - back)
        const narrow = (type: string): Filter | null => (rows[type] ? ledger.filter(type, rows[type]) : null)
        const judge = judgeOf(worlds[asOf ?? ledger.seq]!, narrow)

        for (const [type, json] of questions) {
          const filter = ledger.filter(type, json)
          const include = INCLUDES[type]!
          const page = find(ledger.reader({ narrow }), { type, filter, asOf, include, limit: 100 })
          const expected = judge.all(type).filter((one) => match(filter, one, judge.follow, regexTest))

          expect({ ids: ids(page).sort(), total: page.total }, JSON.stringify(json)).toEqual({
            ids: expected.map(({ $id }) => $id).sort(),
            total: expected.length,
          })
          for (const { id, extra } of page.results) {
            for (const name of include)
              expect(idsIn(extra![name]), `${id} ${name}`).toEqual(judge.behind(type, id, name))
          }
        }
      },
    ),
    { numRuns: RUNS },
  )
})

/** The visible part of a world under a row filter, computed from every entity. */
function judgeOf(world: World, narrow: (type: string) => Filter | null) {
  const entities = (type: string) => [...world.values()].filter((one) => one.type === type).map(({ entity }) => entity)
  const followIn = (all: (type: string) => JsonObject[]) => (hop: Hop, entity: JsonObject) =>
    hop.kind === 'forward'
      ? all(hop.target).filter(({ $id }) => [entity[hop.field]].flat().includes($id!))
      : all(hop.target).filter((one) => [one[hop.via!]].flat().includes(entity.$id!))
  const all = (type: string) => {
    const filter = narrow(type)
    return entities(type).filter((one) => !filter || match(filter, one, followIn(entities), regexTest))
  }
  const follow = followIn(all)
  return {
    all,
    follow,
    behind(type: string, id: string, name: string): string[] {
      const noun = NOUNS.get(type)!
      return follow(hopOf(noun, relationOf(noun, name)!), world.get(id)!.entity)
        .map(({ $id }) => String($id))
        .sort()
    },
  }
}

function idsIn(embedded: unknown): string[] {
  return [embedded]
    .flat()
    .filter((one) => one !== null)
    .map((one) => String((one as JsonObject).$id))
    .sort()
}
