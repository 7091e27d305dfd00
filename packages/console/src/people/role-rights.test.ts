import { catalogue } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Noun } from '../values/noun.ts'
import { ownRows, rightsOf, scopesOf } from './role-rights.ts'

test.each(['read:all', 'read:crm,write:Deal', 'admin:all,approve:own', ''])('the scopes %s stay the same', (scopes) => {
  expect(scopesOf(rightsOf(scopes))).toBe(scopes)
})

test('own records are those with an owner or an assignee, in the areas of the role', () => {
  const types = [catalogue.Deal, catalogue.Ticket, catalogue.Invoice] as unknown as Noun[]

  expect(ownRows(types, { crm: 'write' })).toEqual({ Deal: { owner: '$user.$id' } })
  expect(Object.keys(ownRows(types, { all: 'read' }))).toEqual(['Deal', 'Ticket'])
  expect(ownRows(types, { crm: '' })).toEqual({})
})
