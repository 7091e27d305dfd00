import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLog } from '../../packages/tenant/src/store/log/log.ts'
import { liveStates, readSealed } from '../../packages/tenant/src/store/log/verify.ts'
import { type TestHost, testHost } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const COUNT = 24
const text = (i: number) => `${i} `.repeat(800_000).slice(0, 800_000)
/** Bytes of a part of the log, and of a page of events with what surrounds the texts. */
const MOST = { part: 4_194_304, page: 10_500_000 }

describe('events of 800 kB each', () => {
  let app: TestHost
  let ids: string[]
  beforeAll(async () => {
    app = await testHost({})
    const made = Array.from({ length: COUNT }, (_, i) =>
      app.request('POST', '/~big/Content', { title: `t${i}`, body: text(i) }),
    )
    ids = (await Promise.all(made)).map(({ body }) => body.$id)
  })
  afterAll(() => app.stop())

  verifies('slices.background', 'come in pages of a few megabytes, which together are all of them', async () => {
    const seen: string[] = []
    let [pages, cursor] = [0, '']
    do {
      const { body, text } = await app.request('GET', `/~big/events?type=Content&limit=1000${cursor}`)
      expect(text.length).toBeLessThan(MOST.page)
      seen.push(...body.results.map(({ id }: { id: string }) => id))
      cursor = body.hasMore ? `&cursor=${body.cursor}` : ''
      pages++
    } while (cursor !== '')

    expect(pages).toBeGreaterThan(1)
    expect(new Set(seen).size).toBe(COUNT)
  })

  verifies('slices.background', 'are synchronised in answers of a few megabytes', async () => {
    const seen = new Set<string>()
    let [answers, lastSyncAt, hasMore] = [0, null, true]
    while (hasMore) {
      const { status, body, text } = await app.request('POST', '/~big/sync', { lastSyncAt, changes: [] })
      expect([status, text.length < MOST.page]).toEqual([200, true])
      for (const { id } of body.serverChanges) seen.add(id)
      ;({ hasMore, syncedAt: lastSyncAt } = body)
      answers++
    }

    expect(answers).toBeGreaterThan(1)
    expect([...seen].sort()).toEqual(ids.toSorted())
  })

  verifies('slices.background', 'are versions in pages of a few megabytes', async () => {
    const [id] = ids
    for (let i = 0; i < 8; i++) await app.request('PUT', `/~big/Content/${id}`, { body: text(100 + i) })
    const versions: number[] = []
    let [pages, cursor] = [0, '']
    do {
      const { body } = await app.request('GET', `/~big/Content/${id}/history?limit=100${cursor}`)
      versions.push(...body.results.map(({ version }: { version: number }) => version))
      cursor = body.hasMore ? `&cursor=${body.cursor}` : ''
      pages++
    } while (cursor !== '')
    const { body } = await app.request('GET', `/~big/Content/${id}/diff?from=2&to=9`)

    expect(pages).toBeGreaterThan(1)
    expect(versions).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect([body.from.version, body.to.version]).toEqual([2, 9])
    expect(body.changes).toEqual([{ field: 'body', from: text(100), to: text(107) }])
  })

  verifies('slices.background', 'are found by a filter that memory tests, also in the past', async () => {
    const filter = encodeURIComponent(JSON.stringify({ body: { $regex: '^(5|17|x) [^a]' } }))
    const then = new Date().toISOString()
    await app.request('POST', '/~big/Content', { title: 'short', body: 'x b' })
    const titles = async (query: string) => {
      const { body } = await app.request('GET', `/~big/Content?fields=title&filter=${filter}${query}`)
      return body.results.map(({ title }: { title: string }) => title)
    }

    expect(await titles('')).toEqual(['short', 't17', 't5'])
    expect(await titles('&sort=title')).toEqual(['short', 't17', 't5'])
    expect(await titles(`&asOf=${then}`)).toEqual(['t17', 't5'])
  })

  test('verify, and can be forked', async () => {
    const verdict = await app.request('GET', '/operator/tenants/big/verify')
    const fork = await app.request('POST', '/operator/tenants/big/fork', { to: 'big-too' })

    expect([verdict.body.ok, fork.status]).toEqual([true, 201])
  })
})

verifies('slices.background', 'the log and the entities of a tenant are read in parts of a few megabytes', () => {
  const { tenant } = openAcme()
  const { sql } = tenant
  for (let i = 0; i < COUNT; i++)
    tenant.act({ type: 'Content', verb: 'create', data: { title: 't', body: text(i) }, actor: 'a' })

  const sealed = (after: number, most: number) => readSealed(sql, tenant.engine.ports.seal, after, most)
  for (const read of [(after: number, most: number) => readLog(sql, after, most), sealed]) {
    const parts: number[][] = []
    for (let rows = read(0, 1_000); rows.length > 0; rows = read(rows.at(-1)!.seq, 1_000)) {
      parts.push(rows.map(({ seq }) => seq))
      expect(rows.reduce((sum, { data }) => sum + data!.length, 0)).toBeLessThan(MOST.part)
    }
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.flat()).toEqual(Array.from({ length: COUNT }, (_, i) => i + 1))
  }
  expect([...liveStates(sql, 'Content', 0, COUNT + 1)]).toHaveLength(COUNT)
})
