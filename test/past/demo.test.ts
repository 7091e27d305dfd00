import { expect, test } from 'vitest'
import { company } from '../../packages/client/src/demo/company.ts'
import { loadDemo } from '../../packages/client/src/demo/load.ts'
import { ROOT, testHost } from '../host.ts'

const NOW = Date.UTC(2026, 5, 17, 13)

test('the demo is the same on every run, in the order of time, and mostly in working hours', () => {
  const changes = company(NOW)
  const hours = changes.map(({ timestamp }) => new Date(timestamp).getUTCHours())

  expect(company(NOW)).toEqual(changes)
  expect(changes.length).toBeGreaterThan(18_000)
  expect(changes.every(({ timestamp }, i) => i === 0 || timestamp >= changes[i - 1]!.timestamp)).toBe(true)
  expect(hours.filter((hour) => hour >= 8 && hour < 19).length / hours.length).toBeGreaterThan(0.97)
})

test('the demo fills a tenant through the import of a past, once', async () => {
  const host = await testHost()
  try {
    const loaded = await loadDemo(host.url, ROOT, Date.now())
    const again = await loadDemo(host.url, ROOT, Date.now())
    const read = async (path: string) => (await host.request('GET', `/~demo${path}`)).body
    const year = new Date(Date.now() - 365 * 86_400_000).toISOString()

    expect(loaded!.events).toBeGreaterThan(18_000)
    expect(again).toBeNull()
    const [then, now] = [await read(`/metrics?asOf=${year}`), await read('/metrics')]
    expect(then.revenue.mrr).toBeGreaterThan(0)
    expect(now.revenue.mrr).toBeGreaterThan(then.revenue.mrr)
    expect((await read('/User')).total).toBe(5)
    expect((await read('/changesets')).total).toBeGreaterThan(1)
    expect((await read('/events?type=Deal.won&limit=1')).results[0].actor).toMatch(/^user_demo/)
  } finally {
    await host.stop()
  }
}, 120_000)
