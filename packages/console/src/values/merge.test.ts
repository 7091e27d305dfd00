import { expect, test } from 'vitest'
import { mergeOf } from './merge.ts'

const base = { name: 'Ada', title: 'Analyst', phone: null, organization: { $id: 'organization_1', name: 'Lumen' } }

test('a field that only I changed is safe, also next to a field that only they changed', () => {
  const merge = mergeOf(base, { title: 'Director' }, { ...base, name: 'Ada B.' } as never)

  expect(merge).toEqual({ safe: { title: 'Director' }, conflicts: [], theirs: ['name'] })
})

test('a field that both changed differently is a conflict with all three values', () => {
  const merge = mergeOf(base, { title: 'Director' }, { ...base, title: 'Chair' } as never)

  expect(merge.safe).toEqual({})
  expect(merge.conflicts).toEqual([{ field: 'title', base: 'Analyst', mine: 'Director', theirs: 'Chair' }])
})

test('the same change on both sides is not a conflict, and an embedded entity equals its id', () => {
  const merge = mergeOf(base, { title: 'Chair', organization: 'organization_2' }, {
    ...base,
    title: 'Chair',
    organization: 'organization_1',
  } as never)

  expect(merge).toEqual({ safe: { title: 'Chair', organization: 'organization_2' }, conflicts: [], theirs: [] })
})
