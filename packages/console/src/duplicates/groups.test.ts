import { expect, test } from 'vitest'
import type { Entity } from '../values/entity.ts'
import type { Noun } from '../values/noun.ts'
import { groupsOf } from './groups.ts'

const noun = {
  fields: { name: { kind: 'string' }, email: { kind: 'string' }, phone: { kind: 'string' } },
} as unknown as Noun

const entity = ($id: string, fields: object) => ({ $id, ...fields }) as unknown as Entity

test('the same address, number or name is found however it is written, and each entity is in one group', () => {
  const all = [
    entity('a', { name: 'Ada Byron', email: 'ADA@example.com' }),
    entity('b', { name: 'A. Byron', email: 'ada@example.com ' }),
    entity('c', { name: 'Jürgen Groß', phone: '+49 30 123 45' }),
    entity('d', { name: 'J. G.', phone: '0049 3012345' }),
    entity('e', { name: 'Byron, Ada' }),
    entity('f', { name: 'Ada  byron' }),
    entity('g', { name: 'Someone else', phone: '1', email: '' }),
    entity('h', { name: null, phone: '1', email: '' }),
  ]

  const groups = groupsOf(noun, all).map(({ field, entities }) => [field, entities.map(({ $id }) => $id)])

  expect(groups).toEqual([
    ['email', ['a', 'b']],
    ['phone', ['c', 'd']],
    ['name', ['e', 'f']],
  ])
})
