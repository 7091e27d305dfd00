import { expect, test } from 'vitest'
import { acceptsEvents } from './http.ts'

test.each([
  ['text/event-stream', true],
  ['Text/Event-Stream; charset=utf-8', true],
  ['text/event-stream, */*;q=0.1', true],
  ['application/json, text/event-stream', true],
  ['application/json, text/event-stream;q=0.5', false],
  ['text/event-stream;q=0.1, application/json;q=0.5', false],
  ['text/event-stream;q=0, */*', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('Accept: %s prefers a live stream: %s', (accept, expected) => {
  expect(acceptsEvents({ accept })).toBe(expected)
})
