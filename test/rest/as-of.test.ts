import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
let id: string
/** The seq after which there was one Contact, called Ada. */
let seq: number

beforeAll(async () => {
  host = await testApp()
  id = (await host.request('POST', '/~acme/Contact', { name: 'Ada', leadScore: 1 })).body.$id
  seq = (await host.request('GET', '/~acme/events')).body.results.at(-1).seq
  await host.request('PUT', `/~acme/Contact/${id}`, { name: 'Ada Lovelace', leadScore: 5 })
  await host.request('POST', '/~acme/Contact', { name: 'Bob', leadScore: 2 })
})
afterAll(() => host.stop())

const read = async (path: string) => (await host.request('GET', `/~acme/${path}`)).body

verifies('asOf.relative', 'asOf takes the seq of an event wherever it is taken', async () => {
  expect((await read(`Contact/${id}?asOf=${seq}`)).name).toBe('Ada')
  expect((await read(`Contact?asOf=${seq}`)).results.map(({ name }: any) => name)).toEqual(['Ada'])
  expect((await read(`Contact/count?asOf=${seq}`)).count).toBe(1)
  expect((await read(`Contact/aggregate?sum=leadScore&asOf=${seq}`)).results[0].sum.leadScore).toBe(1)
  expect((await read(`export/Contact?asOf=${seq}`)).map(({ name }: any) => name)).toEqual(['Ada'])
  expect((await read(`metrics?asOf=${seq}`)).marketing.leads30d).toBe(0)
  expect((await read('Contact?asOf=0')).total).toBe(0)
  expect((await read('Contact?asOf=999999')).total).toBe(2)
})

verifies('asOf.relative', 'asOf takes now, today and 7d ago', async () => {
  for (const [asOf, total] of [
    ['now', 2],
    ['today', 0],
    ['7d ago', 0],
    ['0s ago', 2],
  ] as const)
    expect([asOf, (await read(`Contact?asOf=${encodeURIComponent(asOf)}`)).total]).toEqual([asOf, total])
  expect((await read(`Contact/${id}?asOf=7d%20ago`)).error).toBe('not_found')
  expect((await read(`metrics?asOf=7d%20ago`)).pipeline.totalDeals).toBe(0)
})

verifies('asOf.relative', 'rollback takes them too', async () => {
  const { status, body } = await host.request('POST', `/~acme/Contact/${id}/rollback`, { asOf: seq })

  expect([status, body.name, body.$version]).toEqual([200, 'Ada', 3])
  const before = await host.request('POST', `/~acme/Contact/${id}/rollback`, { asOf: '7d ago' })
  expect([before.status, before.body.error]).toEqual([404, 'not_found'])
})
