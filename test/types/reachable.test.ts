import { catalogue, type Noun, type Verb } from '@tildebase/nouns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleOf } from '../../packages/server/src/doors/describe/examples.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp

beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

/** States that entities begin in next to the default: a subscription may start with a trial or unpaid, a deal in any stage. */
const STARTS: { readonly [type: string]: readonly string[] } = {
  Deal: ['Qualification'],
  Subscription: ['Trialing', 'Incomplete'],
}
/** What a draft needs for its verbs beyond what its type demands. */
const DRAFTS: { readonly [type: string]: object } = { Funnel: { steps: ['visit'] } }
const BUILT_IN = ['create', 'update', 'delete', 'rollback', 'restore']

/** How a verb is reached: the state to create, and the verbs to run, itself the last. */
interface Way {
  readonly start: string | null
  readonly verbs: readonly string[]
}

/** A changeset is decided by others than its author: see test/changesets. */
const nouns = (Object.values(catalogue) as readonly Noun[]).filter(({ name }) => name !== 'Changeset')
const cases = nouns.flatMap((noun) =>
  Object.values(noun.verbs)
    .filter(({ name }) => !BUILT_IN.includes(name))
    .map((verb) => ({ noun, verb, title: `${noun.name}.${verb.name}` })),
)

verifies(
  'catalogue.reachable',
  'every verb of the catalogue can be reached from a state that entities begin in',
  () => {
    expect(cases.length).toBeGreaterThan(80)
    expect(cases.filter(({ noun, verb }) => wayTo(noun, verb) === null).map(({ title }) => title)).toEqual([])
  },
)

test.each(cases)('$title runs', async ({ noun, verb }) => {
  const { start, verbs } = wayTo(noun, verb)!
  const { body: other } = await host.request('POST', '/~acme/Contact', {
    name: 'Other',
    email: `${noun.name}.${verb.name}@example.org`.toLowerCase(),
  })
  const fields = {
    ...exampleOf(noun),
    ...DRAFTS[noun.name],
    ...unique(noun),
    ...(start !== null && { [noun.stateField!]: start }),
    ...(noun.name === 'Ticket' && { requester: other.$id }),
  }
  const { body: entity } = await host.request('POST', `/~acme/${noun.name}`, fields)
  const args: { readonly [verb: string]: object } = {
    'Deal.revert': { stage: 'Prospecting' },
    'Ticket.reply': { body: 'We look into it.' },
    'Contact.merge': { into: other.$id },
  }

  for (const name of verbs) {
    const { status, body } = await host.request(
      'POST',
      `/~acme/${noun.name}/${entity.$id}/${name}`,
      args[`${noun.name}.${name}`] ?? {},
    )
    expect([name, status, body?.error && body.message]).toEqual([name, 200, undefined])
  }
})

/** The shortest way to a verb through the others. */
function wayTo(noun: Noun, wanted: Verb): Way | null {
  const field = noun.stateField === null ? undefined : noun.fields[noun.stateField]
  const fallback = field && 'default' in field ? String(field.default) : null
  const queue: { readonly start: string | null; readonly at: string | null; readonly verbs: readonly string[] }[] = [
    { start: null, at: fallback, verbs: [] },
    ...(STARTS[noun.name] ?? []).map((start) => ({ start, at: start, verbs: [] })),
  ]
  const seen = new Set(queue.map(({ at }) => at))
  for (let here = queue.shift(); here !== undefined; here = queue.shift()) {
    const { start, at, verbs } = here
    const possible = Object.values(noun.verbs).filter(
      ({ from }) => from === undefined || (at !== null && from.includes(at)),
    )
    if (possible.some(({ name }) => name === wanted.name)) return { start, verbs: [...verbs, wanted.name] }
    for (const { name, set } of possible) {
      const next = noun.stateField === null ? undefined : set?.[noun.stateField]
      if (typeof next !== 'string' || next.startsWith('$') || seen.has(next)) continue
      seen.add(next)
      queue.push({ start, at: next, verbs: [...verbs, name] })
    }
  }
  return null
}

let count = 0

/** Values of unique fields that no other entity of the test has. */
function unique(noun: Noun): object {
  const fields = Object.values(noun.fields).filter(
    (field) => 'index' in field && field.index === 'unique' && !field.service,
  )
  return Object.fromEntries(fields.map(({ name }) => [name, `${name}-${++count}@example.org`]))
}
