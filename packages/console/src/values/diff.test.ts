import { expect, test } from 'vitest'
import { changesOf } from './diff.ts'

test('a change has the values before and after, without the service fields', () => {
  const data = { $id: 'contact_1', name: 'Ada', stage: 'Qualified', updatedAt: '2026-01-02' }
  const previous = { stage: 'Lead', title: 'Countess', updatedAt: '2026-01-01' }

  expect(changesOf({ verb: 'qualify', data, previous })).toEqual([
    { field: 'stage', before: 'Lead', after: 'Qualified' },
    { field: 'title', before: 'Countess', after: undefined },
  ])
})

test('a creation lists all of its fields', () => {
  expect(changesOf({ verb: 'create', data: { $id: 'contact_1', name: 'Ada' }, previous: null })).toEqual([
    { field: 'name', before: undefined, after: 'Ada' },
  ])
})

test('a deletion changes no field', () => {
  expect(changesOf({ verb: 'delete', data: { name: 'Ada' }, previous: null })).toEqual([])
})
