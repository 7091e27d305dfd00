import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entity } from '../values/entity.ts'
import { draftOf, fieldsOf, textOf, valueIn } from './draft.ts'

test('every value survives being written as a string', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2 }), (given) => {
      const value = JSON.parse(JSON.stringify(given))
      expect(valueIn(textOf(value))).toEqual(value)
    }),
  )
})

test('a reference stays as people know it', () => {
  expect(textOf('$event.data.name')).toBe('$event.data.name')
  expect(valueIn('5')).toBe(5)
  expect(textOf('5')).toBe('"5"')
})

test('a stored workflow is the same after it was shown', () => {
  const workflow = {
    triggerEvent: 'Deal.won',
    filter: { value: { $gte: 1000 } },
    schedule: null,
    steps: [
      { verb: 'create', type: 'Project', args: { name: '$event.data.name', budget: 5 } },
      { verb: 'update', type: 'Deal', id: '$event.data.$id', fallback: true, name: 'Mark it' },
      { code: '(event) => event.data.name' },
    ],
    errorHandling: 'Fallback',
    retryPolicy: { retries: 3, backoff: '30s' },
    timeout: 60,
  }

  expect(fieldsOf(draftOf(workflow as unknown as Entity))).toEqual(workflow)
})
