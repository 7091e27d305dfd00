import { catalogue } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Noun } from '../values/noun.ts'
import { BASICS, hasBasics, ownRows, rightsOf, scopesOf, withBasics } from './role-rights.ts'

test.each(['read:all', 'read:crm,write:Deal', 'admin:all,approve:own', ''])('the scopes %s stay the same', (scopes) => {
  expect(scopesOf(rightsOf(scopes))).toBe(scopes)
})

test('own records are those with an owner or an assignee, in the areas of the role', () => {
  const types = [catalogue.Deal, catalogue.Ticket, catalogue.Invoice] as unknown as Noun[]

  expect(ownRows(types, { crm: 'write' })).toEqual({ Deal: { owner: '$user.$id' } })
  expect(Object.keys(ownRows(types, { all: 'read' }))).toEqual(['Deal', 'Ticket'])
  expect(ownRows(types, { crm: '' })).toEqual({})
})

test('basics are added to an area, and are part of a right to write everything', () => {
  const desk = withBasics({ support: 'write' }, true)

  expect(scopesOf(desk)).toBe('write:support,read:User,read:Setting,read:Event,write:View,write:Dashboard')
  expect(scopesOf(withBasics({ all: 'read' }, true))).toBe('read:all,write:View,write:Dashboard')
  expect([desk, { all: 'write' }, { support: 'write' }].map(hasBasics)).toEqual([true, true, false])
  expect(withBasics(desk, false)).toEqual({ support: 'write' })
  expect(withBasics({ ...BASICS, User: 'admin' }, false)).toEqual({ User: 'admin' })
})
