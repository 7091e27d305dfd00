import { type JsonObject, noun } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Noun } from '../values/noun.ts'
import { draftOf, EMPTY_FIELD, notationOf } from './notation.ts'

test('the editor writes the notation that the service reads', () => {
  const notation = notationOf({
    name: 'Boat',
    fields: [
      { ...EMPTY_FIELD, name: 'name', required: true },
      { ...EMPTY_FIELD, name: 'sign', index: 'unique' },
      { ...EMPTY_FIELD, name: 'length', kind: 'number', range: '0..400', required: true },
      { ...EMPTY_FIELD, name: 'feet', kind: 'computed', formula: 'length * 3.28', index: 'indexed' },
      { ...EMPTY_FIELD, name: 'status', kind: 'enum', words: 'Moored, Sailing', fallback: 'Moored' },
      { ...EMPTY_FIELD, name: 'owner', kind: 'forward', target: 'Contact' },
    ],
    verbs: [{ name: 'sail', from: 'Moored', to: 'Sailing' }],
    state: null,
    rest: {},
  })

  expect(notation).toEqual({
    name: 'string!',
    sign: 'string##',
    length: 'number 0..400!',
    feet: '= length * 3.28 #',
    status: 'Moored | Sailing = Moored',
    owner: '-> Contact',
    sail: { from: ['Moored'], set: { status: 'Sailing' } },
  })
  expect(noun('Boat', notation as never).verbs.sail).toMatchObject({ event: 'sailed', from: ['Moored'] })
})

test('what the editor cannot show is kept as it was', () => {
  const notation: JsonObject = {
    name: 'string!',
    tags: 'string[]',
    status: 'Moored | Sailing = Moored',
    sail: { from: ['Moored'], set: { status: 'Sailing' } },
    repair: { args: ['reason'], set: { reason: '$args.reason' } },
    reason: 'string',
    depth: 'number ..9 = 1',
    sum: '= depth + 1 #',
    code: 'string (set by the service)',
    log: { keeps: 'event' },
    $unique: [['name', 'depth']],
    update: null,
  }
  const boat = noun('Boat', notation as never) as unknown as Noun

  const again = notationOf(draftOf(boat))

  expect(again).toMatchObject(notation)
})

test('what is added to a built-in type moves the state that the type brings along', () => {
  const added = { rating: 'number 0..5', park: { from: ['Open'], set: { status: 'Parked' } } }
  const built = { subject: 'string!', status: 'Open | Parked = Open' }
  const whole = noun('Case', { ...built, ...added } as never) as unknown as Noun

  const draft = draftOf(whole, added)

  expect(draft).toMatchObject({ state: 'status', verbs: [{ name: 'park', from: 'Open', to: 'Parked' }] })
  expect(draft.fields.map(({ name }) => name)).toEqual(['rating'])
  expect(notationOf(draft)).toEqual(added)
})
