import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { Sse } from '../sse.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let number = 0
let tenant: string
const open = new Set<Sse>()

beforeAll(async () => {
  host = await testHost()
})
beforeEach(() => {
  tenant = `live${++number}`
})
afterAll(async () => {
  for (const sse of open) sse.close()
  await host.stop()
})

const post = (path: string, body?: unknown) => host.request('POST', `/~${tenant}${path}`, body)
const put = (path: string, body?: unknown) => host.request('PUT', `/~${tenant}${path}`, body)

async function live(path: string, headers: Record<string, string> = {}, key = ROOT): Promise<Sse> {
  const sse = await Sse.open(`${host.url}/~${tenant}${path}`, key, headers)
  open.add(sse)
  return sse
}

describe('the live change stream', () => {
  verifies(
    ['live.sse', 'live.id'],
    'tells what is in the log and then what comes, each with its seq as the id',
    async () => {
      await post('/Contact', { name: 'Ada' })
      const sse = await live('/events')
      expect(sse.headers.get('content-type')).toContain('text/event-stream')

      const { body: grace } = await post('/Contact', { name: 'Grace' })
      const [first, second] = await sse.got(2)

      expect(first).toMatchObject({ id: '1', event: 'Contact.created', data: { seq: 1, data: { name: 'Ada' } } })
      expect(second).toMatchObject({ id: '2', event: 'Contact.created', data: { entityId: grace.$id, tenant } })
    },
  )

  verifies('meta.context', 'and its pages show entities at the address that the reader uses', async () => {
    const { port } = new URL(host.url)
    await post('/Contact', { name: 'Ada' })
    for (const base of [`http://localhost:${port}/~${tenant}`, `http://127.0.0.1:${port}/~${tenant}`]) {
      const sse = await Sse.open(`${base}/events?type=Contact`, ROOT)
      open.add(sse)
      await post('/Contact', { name: 'Grace' })
      const page = await fetch(`${base}/events?type=Contact&limit=1`, { headers: { authorization: `Bearer ${ROOT}` } })
      const [stored, fresh] = await sse.got(2)

      const shown = [(await page.json()).results[0], stored!.data, fresh!.data].map(({ data }) => data.$context)
      expect(shown).toEqual([base, base, base])
    }
  })

  test('takes type and since as the stream does', async () => {
    await post('/Contact', { name: 'Ada' })
    const sse = await live('/events?type=*.qualified&since=now')

    const { body: grace } = await post('/Contact', { name: 'Grace' })
    await post(`/Contact/${grace.$id}/qualify`)

    expect((await sse.got(1)).map(({ id, event }) => [id, event])).toEqual([['3', 'Contact.qualified']])
  })

  verifies('live.resume', 'resumes after any break without loss and without repetition', async () => {
    const seen: string[] = []
    let last: string | null = null
    let written = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ writes: fc.integer({ min: 0, max: 6 }), reads: fc.nat(6), by: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (rounds) => {
          for (const { writes, reads, by } of rounds) {
            const query = last !== null && by ? `?lastEventId=${last}` : ''
            const sse = await live(`/events${query}`, last !== null && !by ? { 'last-event-id': last } : {})
            for (let i = 0; i < writes; i++) await post('/Contact', { name: `c${written++}` })
            const there = written - seen.length
            await sse.got(Math.min(reads, there))
            sse.close()
            await sse.ended
            for (const { id } of sse.messages) {
              seen.push(id)
              last = id
            }
          }
          expect(seen).toEqual(seen.map((_, i) => String(i + 1)))
        },
      ),
      { numRuns: process.env.TILDE_RUNS === undefined ? 8 : 200 },
    )
    const rest = await live('/events', last === null ? {} : { 'last-event-id': last })
    await rest.got(written - seen.length)
    expect([...seen, ...rest.messages.map(({ id }) => id)]).toEqual(
      Array.from({ length: written }, (_, i) => String(i + 1)),
    )
  })

  test('a reader that falls behind what is kept in memory is fed from the log', async () => {
    const sse = await live('/events')
    const list = Array.from({ length: 900 }, (_, i) => ({ name: `e${i}`, type: 'track' }))
    await Promise.all([post('/events', list), post('/events', list), post('/events', list)])

    const messages = await sse.got(2_700)

    expect(messages.map(({ id }) => Number(id))).toEqual(Array.from({ length: 2_700 }, (_, i) => i + 1))
  })

  verifies('key.streams.end', 'the streams of a key end when it is revoked', async () => {
    const secret = await host.key(tenant, 'read:all')
    const { body } = await host.request('GET', `/~${tenant}/api-keys`)
    const id = body.results[0].$id
    const sse = await live('/events?type=Contact', {}, secret)
    const list = await live('/Contact', {}, secret)
    await post('/Contact', { name: 'Ada' })
    await sse.got(1)

    await post(`/api-keys/${id}/revoke`)
    await Promise.all([sse.ended, list.ended])
    await post('/Contact', { name: 'Grace' })

    expect(sse.messages).toHaveLength(1)
  })

  test('shows a key what it may read and nothing else', async () => {
    const secret = await host.key(tenant, 'read:Contact', { filter: { Contact: { stage: 'Customer' } } })
    const sse = await live('/events', {}, secret)

    await post('/Deal', { name: 'Engine' })
    await post('/Contact', { name: 'Ada' })
    await post('/Contact', { name: 'Grace', stage: 'Customer' })

    expect((await sse.got(1)).map(({ data }) => data.data.name)).toEqual(['Grace'])
  })

  test('tells each of many readers what its own key may see, all of it and in order', async () => {
    const keys = await Promise.all([
      host.key(tenant, 'read:all'),
      host.key(tenant, 'read:Contact', { filter: { Contact: { stage: 'Customer' } } }),
      host.key(tenant, 'read:Deal'),
    ])
    const readers = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => ({ key: keys[i % 3]!, sse: await live('/events', {}, keys[i % 3]!) })),
    )
    const stages = ['Lead', 'Customer']

    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i % 3 === 0 ? post('/Deal', { name: `d${i}` }) : post('/Contact', { name: `c${i}`, stage: stages[i % 2] }),
      ),
    )

    for (const { key, sse } of readers) {
      const { body } = await host.as(key)('GET', `/~${tenant}/events`)
      const told = await sse.got(body.results.length)
      expect(told.map(({ data }) => data)).toEqual(body.results)
    }
  })

  test('erased values are not sent from memory', async () => {
    const first = await live('/events')
    const { body: ada } = await post('/Contact', { name: 'Ada Secret' })
    await post(`/Contact/${ada.$id}/erase`)
    const second = await live('/events')

    await Promise.all([first.got(3), second.got(3)])

    expect(JSON.stringify(first.messages.slice(1))).not.toContain('Ada Secret')
    expect(JSON.stringify(second.messages)).not.toContain('Ada Secret')
  })

  test.each(['nonsense', '999999'])('the id %s that was never given out is 400 invalid_cursor', async (id) => {
    const { status, body } = await host.request('GET', `/~${tenant}/events`, undefined, {
      accept: 'text/event-stream',
      'last-event-id': id,
    })
    expect([status, body.error]).toEqual([400, 'invalid_cursor'])
  })
})

describe('a live list', () => {
  test('tells its page, then what enters, changes and leaves', async () => {
    await post('/Contact', { name: 'Ada', stage: 'Customer' })
    const sse = await live('/Contact?stage=Customer&fields=name')

    const { body: grace } = await post('/Contact', { name: 'Grace' })
    await put(`/Contact/${grace.$id}`, { stage: 'Customer' })
    await put(`/Contact/${grace.$id}`, { name: 'Grace H' })
    await host.request('DELETE', `/~${tenant}/Contact/${grace.$id}`)
    const told = await sse.got(4)

    expect(told[0]).toMatchObject({ id: '1', event: 'page', data: { total: 1, results: [{ name: 'Ada' }] } })
    expect(told.slice(1).map(({ id, event, data }) => [id, event, data.name])).toEqual([
      ['3', 'enter', 'Grace'],
      ['4', 'change', 'Grace H'],
      ['5', 'leave', 'Grace H'],
    ])
  })

  test('resumes by id without a page', async () => {
    const { body: ada } = await post('/Contact', { name: 'Ada' })
    await put(`/Contact/${ada.$id}`, { name: 'Ada L' })
    await post('/Contact', { name: 'Grace' })

    const sse = await live('/Contact', { 'last-event-id': '1' })

    expect((await sse.got(2)).map(({ id, event }) => [id, event])).toEqual([
      ['2', 'change'],
      ['3', 'enter'],
    ])
  })

  test('follows a filter through relations', async () => {
    const { body: bank } = await post('/Organization', { name: 'Bank', industry: 'Finance' })
    const { body: ada } = await post('/Contact', { name: 'Ada', organization: bank.$id })
    const sse = await live(`/Contact?${new URLSearchParams({ filter: '{"organization.industry":"Finance"}' })}`)

    await put(`/Organization/${bank.$id}`, { industry: 'Retail' })
    await put(`/Organization/${bank.$id}`, { industry: 'Finance' })
    const told = await sse.got(3)

    expect(told[0]!.data.total).toBe(1)
    expect(told.slice(1).map(({ event, data }) => [event, data.$id])).toEqual([
      ['leave', ada.$id],
      ['enter', ada.$id],
    ])
  })

  test('refuses what cannot be followed', async () => {
    const ask = (query: string) =>
      host.request('GET', `/~${tenant}/Contact?${query}`, undefined, { accept: 'text/event-stream' })
    expect((await ask('filter={"$text":"ada"}')).body.error).toBe('invalid_filter')
    expect((await ask('asOf=2026-01-01T00:00:00Z')).body.error).toBe('invalid_as_of')
  })
})
