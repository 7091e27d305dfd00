import { array, assert, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import { Bag } from './bag.ts'

test('it holds what was added and not taken out', () => {
  assert(
    property(array(nat(9)), (turns) => {
      const things = Array.from({ length: 10 }, (_, name) => ({ name, place: -1 }))
      const bag = new Bag<(typeof things)[number]>()
      const known = new Set<(typeof things)[number]>()
      for (const turn of turns) {
        const one = things[turn]!
        if (known.has(one)) expect(bag.remove(one)).toBe(known.delete(one))
        else {
          expect(bag.remove(one)).toBe(false)
          bag.add(one)
          known.add(one)
        }
        expect([bag.size, new Set(bag)]).toEqual([known.size, known])
      }
    }),
  )
})
