import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

describe('metrics over REST', () => {
  verifies(['metrics.snapshot', 'path.metrics'], 'GET /metrics answers the snapshot', async () => {
    const { status, body } = await host.request('GET', '/~acme/metrics')

    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['revenue', 'pipeline', 'product', 'support', 'marketing', 'asOf'])
  })

  test('an asOf that is not a time is refused', async () => {
    expect(await host.request('GET', '/~acme/metrics?asOf=yesterday')).toMatchObject({
      status: 400,
      body: { error: 'invalid_as_of' },
    })
  })

  verifies(['metric.byName', 'path.metric'], 'GET /Metric/:name answers a built-in or a stored metric', async () => {
    const { body: stored } = await host.request('POST', '/~acme/Metric', { name: 'nps', value: 42, unit: 'points' })

    expect((await host.request('GET', '/~acme/Metric/mrr')).body).toMatchObject({ name: 'mrr', value: null })
    expect((await host.request('GET', '/~acme/Metric/nps')).body).toMatchObject({ $id: stored.$id, value: 42 })
    expect((await host.request('GET', '/~acme/Metric/nps')).body.history).toHaveLength(12)
    expect((await host.request('GET', `/~acme/Metric/${stored.$id}`)).body).toMatchObject({ name: 'nps', $version: 1 })
    expect((await host.request('GET', '/~acme/metrics/mrr')).body.history).toHaveLength(12)
    expect((await host.request('GET', '/~acme/Metric')).body.total).toBe(1)
    expect((await host.request('PUT', `/~acme/Metric/${stored.$id}`, { value: 43 })).status).toBe(200)
    expect((await host.request('GET', `/~acme/Metric/${stored.$id}/series`)).body.results).toMatchObject([
      { value: 42 },
      { value: 43 },
    ])
  })

  test('a stored metric of a built-in name is the one that answers', async () => {
    await host.request('POST', '/~own/Metric', { name: 'mrr', value: 7 })

    expect((await host.request('GET', '/~own/Metric/mrr')).body).toMatchObject({ value: 7, $type: 'Metric' })
  })

  test('the error for an unknown name lists the built-in ones', async () => {
    const { status, body } = await host.request('GET', '/~acme/Metric/nothing')

    expect(status).toBe(404)
    expect(body).toMatchObject({ error: 'not_found', type: 'Metric', id: 'nothing' })
    expect(body.builtIn).toContain('deals_won')
  })

  test('a funnel is analysed by its verb, and the answer carries the analysis', async () => {
    const { body: funnel } = await host.request('POST', '/~acme/Funnel', { name: 'F', steps: ['a', 'b'] })
    await host.request('POST', '/~acme/events', { name: 'a', type: 'track', userId: 'u' })

    const { status, body } = await host.request('POST', `/~acme/Funnel/${funnel.$id}/analyze`)

    expect(status).toBe(200)
    expect(body).toMatchObject({
      $id: funnel.$id,
      conversionRate: 0,
      analysis: { steps: [{ count: 1 }, { count: 0 }] },
    })
  })

  test('a flag is evaluated by id or key', async () => {
    const { body: flag } = await host.request('POST', '/~acme/feature-flags', {
      key: 'k',
      name: 'K',
      status: 'Enabled',
    })
    const key = await host.key('acme', 'read:experiments')

    for (const path of [`feature-flags/${flag.$id}`, 'FeatureFlag/k']) {
      expect((await host.as(key)('POST', `/~acme/${path}/evaluate`, { userId: 'u' })).body).toEqual({
        key: 'k',
        value: true,
        enabled: true,
        reason: 'rollout',
      })
    }
    expect((await host.as(key)('POST', '/~acme/FeatureFlag/none/evaluate')).status).toBe(404)
    expect((await host.request('POST', '/~acme/FeatureFlag/k/evaluate', { userId: 1 })).status).toBe(400)
  })
})

test('evaluations of a flag are counted though the host stops, whatever hooks are before an update', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-flags-'))
  const first = await testApp({}, { data })
  await first.request('POST', '/~acme/FeatureFlag', { key: 'beta', name: 'Beta' })
  await first.request('PUT', '/~acme/schema/FeatureFlag/hooks/updating', {
    code: '() => { throw new Error("Nobody updates flags.") }',
  })
  for (let n = 0; n < 3; n++) await first.request('POST', '/~acme/FeatureFlag/beta/evaluate', { userId: 'u' })
  await first.stop()

  const second = await testApp({}, { data })
  const { body } = await second.request('GET', '/~acme/FeatureFlag?key=beta')
  await second.stop()
  rmSync(data, { recursive: true, force: true })

  expect(body.results[0]).toMatchObject({ evaluations: 3, $version: 2 })
})
