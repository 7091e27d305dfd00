import type { Problem } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import { Refusals } from '../watch/refusals.ts'
import { BodyMemory } from './bodies.ts'

function memory(limit: number) {
  const bodies = new BodyMemory(limit, 60_000, new Refusals())
  const ended: string[] = []
  const hold = (tenant: string, address: string) => {
    const giveUp = ({ code }: Problem) => void ended.push(`${tenant} ${code}`)
    const stalled = () => void ended.push(`${tenant} stalled`)
    const body = { tenant, address, bytes: 0, isComplete: false, heardAt: Date.now(), place: -1, giveUp, stalled }
    bodies.hold(body)
    return {
      add: (bytes: number) => bodies.add(body, bytes),
      complete: () => Object.assign(body, { isComplete: true }),
      release: () => bodies.release(body),
    }
  }
  return { bodies, ended, hold }
}

test('one address holds half of the memory at most', () => {
  const { bodies, hold } = memory(100)
  hold('acme', 'a').add(40)

  expect(() => hold('acme', 'a').add(20)).toThrow(expect.objectContaining({ code: 'busy' }))
  hold('acme', 'b').add(20)
  expect(bodies.total).toBe(60)
})

test('when memory is full, the tenant that holds most gives up one of its bodies', () => {
  const { bodies, ended, hold } = memory(100)
  for (const address of ['a', 'b', 'c']) hold('loud', address).add(30)

  hold('quiet', 'd').add(20)

  expect([ended, bodies.total]).toEqual([['loud busy'], 80])
  expect(() => hold('loud', 'e').add(30)).toThrow(expect.objectContaining({ code: 'busy' }))
})

test('a body that is complete is kept until it is released', () => {
  const { bodies, ended, hold } = memory(100)
  const whole = ['a', 'b', 'c'].map((address) => hold('loud', address))
  for (const body of whole) {
    body.add(30)
    body.complete()
  }

  expect(() => hold('quiet', 'd').add(20)).toThrow(expect.objectContaining({ code: 'busy' }))
  for (const body of whole) body.release()
  hold('quiet', 'd').add(20)

  expect([ended, bodies.total]).toEqual([[], 20])
})
