import { expect, test } from 'vitest'
import { verifies } from '../../../../../test/verifies.ts'
import { Refusals } from '../watch/refusals.ts'
import { AnswerMemory } from './answers.ts'

const KIB = 1_024
const BUSY = expect.objectContaining({ code: 'busy' })

function memory(kib: number) {
  const answers = new AnswerMemory(kib * KIB, new Refusals())
  const dropped: string[] = []
  const hold = (tenant: string, key: string, size: number) =>
    answers.hold(
      { tenant, key },
      { status: 200, headers: {}, body: 'x'.repeat(size * KIB) },
      {
        destroy: () => void dropped.push(`${tenant} ${key}`),
      },
    )!
  return { answers, dropped, hold }
}

verifies(
  'answers.bounded',
  'a key holds a quarter of the memory at most, and is refused before its next request is answered',
  () => {
    const { answers, hold } = memory(400)
    const release = hold('acme', 'a', 60)

    expect(() => hold('acme', 'a', 60)).toThrow(BUSY)
    hold('acme', 'a', 40)
    expect(() => answers.demandRoom({ tenant: 'acme', key: 'a' })).toThrow(BUSY)
    answers.demandRoom({ tenant: 'acme', key: 'b' })
    release()
    answers.demandRoom({ tenant: 'acme', key: 'a' })
    expect(answers.total).toBe(40 * KIB)
  },
)

verifies('answers.bounded', 'the keys of a tenant hold half of the memory at most, and each of them one answer', () => {
  const { hold } = memory(400)
  for (const key of ['a', 'b', 'c', 'd']) hold('acme', key, 50)

  expect(() => hold('acme', 'a', 20)).toThrow(BUSY)
  hold('acme', 'e', 20)
})

test('one answer that is larger than the part of a key is sent', () => {
  const { answers, hold } = memory(400)
  hold('acme', 'a', 500)

  expect(answers.total).toBe(500 * KIB)
})

verifies('answers.bounded', 'when memory is full, the tenant that holds most loses its oldest answer', () => {
  const { answers, dropped, hold } = memory(400)
  for (const key of ['a', 'b', 'c', 'd']) hold('loud', key, 90)

  hold('quiet', 'e', 60)

  expect([dropped, answers.total]).toEqual([['loud a'], 330 * KIB])
})
