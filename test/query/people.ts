import { type Noun, noun, nounsOf, parseSort } from '@tildebase/nouns'
import { find, type Page, type Query } from '../../packages/tenant/src/query/answer/find.ts'
import { Ledger } from './ledger.ts'

/** Types with a relation of every kind, a secret, and the Event collection. */
const Company = noun('Company', {
  name: 'string',
  industry: 'string#',
  key: 'secret',
  parent: '-> Company.children',
  children: '<- Company.parent[]',
  people: '<- Person.company[]',
  events: '<- Event.company[]',
}) as unknown as Noun
export const Person = noun('Person', {
  name: 'string!',
  email: 'string##',
  age: 'number#',
  born: 'date',
  seen: 'datetime',
  level: 'Low | High',
  company: '-> Company.people',
  teams: '-> Team[]',
  secret: 'secret',
  notes: 'json',
}) as unknown as Noun
const Team = noun('Team', { name: 'string', members: '<- Person.teams[]' }) as unknown as Noun
const Event = noun(
  'Event',
  {
    name: 'string!',
    type: 'string!',
    data: 'json',
    source: 'string',
    timestamp: 'datetime',
    userId: 'string',
    company: '-> Company',
  },
  { path: 'tracked-events', storage: 'log' },
) as unknown as Noun
export const NOUNS = nounsOf([Company, Person, Team, Event])

/** An empty tenant with these types. */
export function opened(): Ledger {
  return new Ledger(NOUNS)
}

/** The ids of a page, in its order. */
export function ids(page: Page): string[] {
  return page.results.map((row) => row.id)
}

/** Asks for a page of a type by a filter as it is sent. */
export function ask(
  ledger: Ledger,
  type: string,
  filter?: unknown,
  more: Partial<Query> & { order?: string } = {},
): Page {
  const { order, ...rest } = more
  return find(ledger.reader(), {
    type,
    filter: ledger.filter(type, filter),
    sort: parseSort(order, NOUNS.get(type)!, NOUNS),
    ...rest,
  })
}
