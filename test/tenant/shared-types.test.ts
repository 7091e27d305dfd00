import type { JsonObject } from '@tildebase/nouns'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { authoredParts, endParts } from '../../packages/tenant/src/authorship/parts.ts'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { openAcme, type TestTenant } from './fixture.ts'

const KEY: Grant = { ...OPERATOR, actor: 'apiKey_1' }
const BELL = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }
const { nouns } = openAcme().tenant.engine.options

/** A tenant that has declared a type. */
function declared(grant: Grant, notation: JsonObject = BELL): TestTenant {
  const { tenant } = openAcme({ nouns })
  tenant.write(grant, (write) => putType(write, 'Bell', notation))
  return tenant
}

const authorOf = ({ engine }: TestTenant) => authoredParts(engine).timers.get('Bell.ring')?.author.actor

test('tenants that declare the same types share them, and no others do', () => {
  const [first, second] = [declared(OPERATOR), declared(KEY)]
  const other = declared(OPERATOR, { ...BELL, name: 'string' })

  expect(second.engine.nouns).toBe(first.engine.nouns)
  expect(other.engine.nouns).not.toBe(first.engine.nouns)
  expect(openAcme({ nouns }).tenant.engine.nouns).toBe(nouns)
})

test('the timers of a shared type have the author of each tenant, also after one of them ends', () => {
  const [first, second] = [declared(OPERATOR), declared(KEY)]
  const before = [authorOf(first), authorOf(second)]

  second.write(OPERATOR, (write) => endParts(write, 'timer', ['Bell.ring'], 'apiKey_1'))

  expect(before).toEqual(['operator', 'apiKey_1'])
  expect([authorOf(first), authorOf(second)]).toEqual(['operator', undefined])
})

test('an author that was ended stays so when the type was changed and is again as it was', () => {
  const tenant = declared(KEY)
  tenant.write(OPERATOR, (write) => endParts(write, 'timer', ['Bell.ring'], 'apiKey_1'))
  expect(authorOf(tenant)).toBeUndefined()

  tenant.write(OPERATOR, (write) => putType(write, 'Bell', BELL))

  expect(authorOf(tenant)).toBe('operator')
})
