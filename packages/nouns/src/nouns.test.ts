import { expect, test } from 'vitest'
import { catalogue } from './catalogue/index.ts'
import { parseNoun } from './notation/notation.ts'
import { checkRelations, nounsOf } from './nouns.ts'
import { Problem } from './problem.ts'

const nouns = nounsOf(Object.values(catalogue))

test.each([
  ['ApiKey', 'ApiKey'],
  ['api-keys', 'ApiKey'],
  ['API-Keys', 'ApiKey'],
  ['content', 'Content'],
  ['Content', 'Content'],
  ['activities', 'Activity'],
  ['contact', undefined],
  ['constructor', undefined],
  ['__proto__', undefined],
])('%s addresses %s', (text, name) => {
  expect(nouns.get(text)?.name).toBe(name)
})

test('a type is named in any case, but not by its path', () => {
  expect(['contact', 'APIKEY', 'api-keys', '', 'constructor'].map((name) => nouns.named(name)?.name)).toEqual([
    'Contact',
    'ApiKey',
    undefined,
    undefined,
    undefined,
  ])
})

test('the nearest types are listed by name, each once', () => {
  expect(nouns.nearest('contact')[0]).toBe('Contact')
  expect(nouns.nearest('feature-flag')).toEqual(['FeatureFlag'])
  expect(nouns.nearest('zzzzzzzzz')).toEqual([])
})

test('a type replaces one of the same name; the original set does not change', () => {
  const Contact = parseNoun('Contact', { nick: 'string' })
  const more = nouns.with(Contact)

  expect(more.get('contacts')).toBe(Contact)
  expect(more.all).toHaveLength(nouns.all.length)
  expect(nouns.get('contacts')).toBe(catalogue.Contact)
})

test.each([
  ['path', parseNoun('Folk', { $path: 'contacts' })],
  ['id prefix', parseNoun('APIKey', { $path: 'other-keys' })],
])('two types with one %s are refused', (what, clashing) => {
  expect(() => nouns.with(clashing)).toThrow(Problem)
  expect(() => nouns.with(clashing)).toThrow(what)
})

test('relations to unknown types are reported', () => {
  const Pet = parseNoun('Pet', {
    owner: '-> Contct',
    toys: '<- Toy.pet[]',
    visits: '<- Ticket.pet[]',
    chats: '<- Ticket.requester[]',
    home: '-> Organization.pets',
  })

  expect(checkRelations(nouns.with(Pet))).toEqual([
    { field: 'Pet.owner', message: 'points to Contct, which is not a known type; did you mean Contact?' },
    { field: 'Pet.toys', message: 'points to Toy, which is not a known type' },
    { field: 'Pet.visits', message: 'is the inverse of Ticket.pet, which does not point to Pet' },
    { field: 'Pet.chats', message: 'is the inverse of Ticket.requester, which does not point to Pet' },
  ])
})
