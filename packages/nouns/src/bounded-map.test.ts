import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('a new entry evicts the oldest, and no others', () => {
  const map = new BoundedMap<string, number>(3)

  for (const [i, key] of ['a', 'b', 'c', 'd', 'e'].entries()) map.set(key, i)

  expect([...map]).toEqual([
    ['c', 2],
    ['d', 3],
    ['e', 4],
  ])
})

test('an entry that is set again is the newest', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2)

  map.set('a', 3).set('c', 4)

  expect([...map.keys()]).toEqual(['a', 'c'])
})

test('entries are bounded by their weight, without those that were deleted', () => {
  const map = new BoundedMap<string, string>(5, (text) => text.length).set('a', 'xx').set('b', 'xx').set('c', 'x')

  map.delete('b')
  map.set('d', 'xx')
  expect([...map.keys()]).toEqual(['a', 'c', 'd'])

  map.set('e', 'xxxx')
  expect([...map.keys()]).toEqual(['e'])

  map.clear()
  expect([...map.set('f', 'xxxxx').keys()]).toEqual(['f'])
})
