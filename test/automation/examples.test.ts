import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

const run = promisify(execFile)
let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** Runs an example as its own program, on its own tenant. */
async function example(name: string): Promise<string> {
  const path = join(import.meta.dirname, '../../examples', `${name}.ts`)
  const env = { ...process.env, TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: name }
  return (await run(process.execPath, [path], { env, timeout: 60_000 })).stdout
}

test('dunning: reminder, pause of the subscription, and resumption on payment', { timeout: 90_000 }, async () => {
  const said = await example('dunning')

  expect(said).toBe('The subscription is Paused.\nThe subscription is Active.\n')
  const { body } = await host.request('GET', '/~dunning/events?limit=100')
  const names = body.results.map(
    (event: { type: string; actor: string }) => `${event.type} ${event.actor.split(':')[0]}`,
  )
  expect(names.filter((name: string) => /Subscription|Invoice\.(rem|esc|paid)|Activity/.test(name))).toEqual([
    'Subscription.created operator',
    'Invoice.reminded timer',
    'Activity.created workflow',
    'Invoice.escalated timer',
    'Subscription.paused workflow',
    'Invoice.paid operator',
    'Subscription.reactivated workflow',
  ])
})

test('lead routing: submissions become leads of owners in turn, with a follow-up', { timeout: 90_000 }, async () => {
  const said = await example('lead-routing')

  expect(said).toBe('Cleo → Ada\nDan → Bob\nEve → Ada\n')
  const { body } = await host.request('GET', '/~lead-routing/Activity')
  expect(body.results).toHaveLength(3)
  const { body: timers } = await host.request('GET', `/~lead-routing/Activity/${body.results[0].$id}/timers`)
  expect(timers.timers).toMatchObject([{ name: 'remind', at: body.results[0].dueAt }])
})
