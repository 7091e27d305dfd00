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
      {
        request: { method: 'POST', url: 'https://example.com/hook', headers: { accept: 'text/plain' }, body: { a: 1 } },
        accept: [404],
        name: 'Tell them',
      },
      { wait: '3d' },
      { wait: 60, if: { 'event.data.value': { $gt: 5 } } },
      { until: '$event.data.dueAt - 2d' },
      { waitFor: 'Deal.won', filter: { value: 1 }, timeout: '7d' },
      { ask: { of: 'role:Finance', title: 'Pay $event.data.name?', fields: { reason: 'string!' }, timeout: '2d' } },
      { send: { to: '$event.data.email', subject: 'Hello', body: 'Text' } },
      { verb: 'create', type: 'Task', args: { name: 'a' }, undo: { verb: 'delete', type: 'Task', id: '$steps.0.$id' } },
    ],
    errorHandling: 'Fallback',
    retryPolicy: { retries: 3, backoff: '30s' },
    timeout: 60,
  }

  expect(fieldsOf(draftOf(workflow as unknown as Entity))).toEqual(workflow)
})
