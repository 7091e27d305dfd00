import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'

let host: TestHost
const sent = (...args: Parameters<TestHost['request']>) => host.request(...args)
const filter = (value: object) => encodeURIComponent(JSON.stringify(value))

beforeAll(async () => {
  host = await testHost()
  const { body: org } = await sent('POST', '/~acme/Organization', { name: 'Org', industry: 'finance' })
  for (const [name, value, stage] of [
    ['a', 1, 'Prospecting'],
    ['b', 2, 'Prospecting'],
    ['c', 10, 'Proposal'],
  ] as const) {
    await sent('POST', '/~acme/Deal', { name, value, stage, organization: org.$id })
  }
})
afterAll(() => host.stop())

describe('aggregate', () => {
  test('groups, counts and measures', async () => {
    const { status, body } = await sent(
      'GET',
      '/~acme/Deal/aggregate?group=stage&sum=value&avg=value&min=value&max=value',
    )

    expect(status).toBe(200)
    expect(body).toEqual({
      results: [
        {
          stage: 'Prospecting',
          count: 2,
          sum: { value: 3 },
          avg: { value: 1.5 },
          min: { value: 1 },
          max: { value: 2 },
        },
        { stage: 'Proposal', count: 1, sum: { value: 10 }, avg: { value: 10 }, min: { value: 10 }, max: { value: 10 } },
      ],
      total: 3,
    })
  })

  test('groups through relations, under a filter', async () => {
    const { body } = await sent(
      'GET',
      `/~acme/Deal/aggregate?group=organization.industry&sum=value&filter=${filter({ value: { $gt: 1 } })}`,
    )

    expect(body).toEqual({ results: [{ 'organization.industry': 'finance', count: 2, sum: { value: 12 } }], total: 2 })
  })

  test('needs the right to read what it groups by, and fields that are there', async () => {
    const key = host.as(await host.key('acme', 'read:Deal'))

    expect((await key('GET', '/~acme/Deal/aggregate?group=organization.industry')).status).toBe(403)
    expect((await key('GET', '/~acme/Deal/aggregate?group=stage')).status).toBe(200)
    expect((await sent('GET', '/~acme/Deal/aggregate?group=organization.parent.parent.parent.name')).body.error).toBe(
      'invalid_group',
    )
  })
})

test('explain shows administrators the way a list is found, and nobody else', async () => {
  const admin = await sent('GET', '/~acme/Contact?email=x@y.z&explain=true')
  const other = await host.as(await host.key('acme', 'read:all'))('GET', '/~acme/Contact?explain=true')

  expect(admin.status).toBe(200)
  expect(JSON.stringify(admin.body)).toContain('facts')
  expect(other.status).toBe(403)
})

test('a query over its budget ends with 503, and its neighbours go on', async () => {
  const slow = await testHost({ TILDE_QUERY_TIMEOUT: '1ms' })
  const rows = Array.from({ length: 100 }, (_, i) => ({
    id: `o${i}`,
    method: 'POST',
    path: '/Contact',
    body: { name: `n${i}`, notes: 'x'.repeat(2_000) },
  }))
  for (let i = 0; i < 40; i++) await slow.request('POST', '/~big/batch', { operations: rows })

  const late = await slow.request('GET', `/~big/Contact?filter=${filter({ notes: { $regex: 'y.*y.*y$' } })}`)
  const near = await slow.request('GET', '/~small/Contact')
  await slow.stop()

  expect([late.status, late.body.error]).toEqual([503, 'query_timeout'])
  expect(near.status).toBe(200)
})
