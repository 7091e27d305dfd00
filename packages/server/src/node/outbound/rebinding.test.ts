import type { LookupAddress } from 'node:dns'
import dns from 'node:dns'
import promises from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, expect, test } from 'vitest'
import { targetOf } from './mail-server.ts'
import { guardedLookup } from './outbound.ts'

const [PUBLIC, PRIVATE] = ['8.8.8.8', '127.0.0.1']
const { lookup } = dns
const { lookup: lookupLater } = promises
afterEach(() => {
  Object.assign(dns, { lookup })
  Object.assign(promises, { lookup: lookupLater })
  syncBuiltinESMExports()
})

/** Names lead to these addresses, one answer after the other. */
function answers(...given: readonly (readonly string[])[]): string[] {
  const left = [...given]
  const asked: string[] = []
  const next = (name: string): LookupAddress[] => {
    asked.push(name)
    return left.shift()!.map((address) => ({ address, family: 4 }))
  }
  Object.assign(dns, {
    lookup: (name: string, _: object, done: (...found: unknown[]) => void) => done(null, next(name)),
  })
  Object.assign(promises, { lookup: async (name: string) => next(name) })
  syncBuiltinESMExports()
  return asked
}

/** Where a connection to a name goes. */
const connects = (all: boolean) =>
  new Promise((done) =>
    guardedLookup('rebound.example', { all }, (reason, found) => done(reason ? reason.message : found)),
  )

test('a name that becomes private after the first connection is refused at the next one', async () => {
  answers([PUBLIC], [PRIVATE], [PUBLIC])

  expect(await connects(false)).toBe(PUBLIC)
  expect(await connects(false)).toMatch('is not public')
  expect(await connects(true)).toEqual([{ address: PUBLIC, family: 4 }])
})

test('a name with a public and a private address is refused: the second one would be tried', async () => {
  answers([PUBLIC, PRIVATE], [PRIVATE, PUBLIC])

  expect([await connects(true), await connects(false)]).toEqual(Array(2).fill(expect.stringContaining('is not public')))
})

test('a mail server is connected to at the address that was looked at, with its name in the certificate', async () => {
  const server = { url: 'smtps://mail.example', username: 'x', password: 'y', isTenants: true }
  const asked = answers([PUBLIC], [PRIVATE], [PUBLIC, PRIVATE])

  expect(await targetOf(server, false)).toMatchObject({ host: PUBLIC, name: 'mail.example' })
  await expect(targetOf(server, false)).rejects.toThrow('not public')
  await expect(targetOf(server, false)).rejects.toThrow('not public')
  expect(asked).toEqual(Array(3).fill('mail.example'))
})
