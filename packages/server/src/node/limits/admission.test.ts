import { expect, test } from 'vitest'
import { Refusals } from '../watch/refusals.ts'
import { KeyVerdicts } from './admission.ts'

/** Verdicts about keys on a clock that only waits move; a lookup takes `lookupMs`. */
function open(lookupMs: number) {
  let at = 0
  const wait = async (ms: number) => {
    at += ms
  }
  const verdicts = new KeyVerdicts({
    exists: (tenant) => tenant === 'acme',
    verify: async (_, secret) => {
      await wait(lookupMs)
      return secret === 'right'
    },
    refusals: new Refusals(),
    now: () => at,
    wait,
  })
  /** The answer to a key, and how long it took. */
  const ask = async (tenant: string, secret: string) => {
    const begun = at
    const answer = await Promise.resolve(verdicts.admit(tenant, secret, '10.0.0.1')).then(
      () => 'admitted',
      (reason) => reason.code,
    )
    return { answer, ms: at - begun }
  }
  return { ask }
}

test('a wrong key is refused after the same time, whether there is such a tenant or not, and again', async () => {
  const { ask } = open(3)

  const answers = [
    await ask('acme', 'wrong'),
    await ask('acme', 'wrong'),
    await ask('nobody', 'wrong'),
    await ask('nobody', 'wrong'),
    await ask('nobody', 'right'),
  ]

  expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify({ answer: 'unauthorized', ms: 25 })]),
  )
})

test('a valid key does not wait', async () => {
  const { ask } = open(3)

  expect([await ask('acme', 'right'), await ask('acme', 'right')]).toEqual([
    { answer: 'admitted', ms: 3 },
    { answer: 'admitted', ms: 0 },
  ])
})

test('guesses are limited in the same way for tenants that exist and those that do not', async () => {
  const refusedAfter = async (tenant: string) => {
    const { ask } = open(0)
    for (let i = 0; i < 10_000; i++) if ((await ask(tenant, `key ${i}`)).answer === 'rate_limited') return i
    return null
  }

  expect(await refusedAfter('nobody')).toBe(await refusedAfter('acme'))
  expect(await refusedAfter('acme')).toBeGreaterThan(100)
})
