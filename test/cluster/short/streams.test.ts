import { afterAll, beforeAll, describe, expect } from 'vitest'
import { ranked } from '../../../packages/server/src/cluster/protocol/ranking.ts'
import { ROOT, type TestHost, testHost } from '../../host.ts'
import { Sse } from '../../sse.ts'
import { verifies } from '../../verifies.ts'
import { ask, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const ACCEPT = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }

let postgres: TestPostgres
let nodes: readonly TestNode[] = []
let single: TestHost

beforeAll(async () => {
  postgres = await startPostgres()
  nodes = await startNodes(postgres.url, 2, { TILDE_CREATE_TENANTS: 'write' })
  single = await testHost()
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await single?.stop()
  await postgres?.stop()
})

/** The nodes in the order in which a tenant belongs to them. */
function placesOf(slug: string): readonly string[] {
  const places = nodes.map(({ name }) => ({ name, session: name, draining: false, layout: 0 }))
  const names = ranked({ slug, pin: null, layout: 0 }, places).map(({ name }) => name)
  return names.map((name) => nodes.find((node) => node.name === name)!.url)
}

const HOSTS: readonly (readonly [string, (slug: string) => { reader: string; writer: string }])[] = [
  ['on one node', () => ({ reader: single.url, writer: single.url })],
  ['at the node that it will belong to', (slug) => ({ reader: placesOf(slug)[0]!, writer: placesOf(slug)[1]! })],
  ['through another node', (slug) => ({ reader: placesOf(slug)[1]!, writer: placesOf(slug)[0]! })],
]

describe.each(HOSTS)('a tenant that does not exist yet, %s', (where, urlsOf) => {
  const slugOf = (what: string) => `${what}-${HOSTS.findIndex(([name]) => name === where)}`

  verifies('cluster.scenarios', 'a stream shows the first events', async () => {
    const slug = slugOf('streamed')
    const { reader, writer } = urlsOf(slug)
    const sse = await Sse.open(`${reader}/~${slug}/events`, ROOT)

    await ask(writer, 'POST', `/~${slug}/Contact`, { name: 'Ada' })
    await ask(reader, 'POST', `/~${slug}/Contact`, { name: 'Bob' })

    const messages = await sse.got(2)
    sse.close()
    expect(messages.map(({ data }) => data.data.name)).toEqual(['Ada', 'Bob'])
  })

  verifies('cluster.scenarios', 'polls return the first event', async () => {
    const slug = slugOf('polled')
    const { reader, writer } = urlsOf(slug)
    const poll = async () => {
      for (;;) {
        const { body } = await ask(reader, 'GET', `/~${slug}/events?cursor=0&wait=60`)
        if (body.results.length > 0) return body.results
      }
    }
    const polled = poll()
    // The first poll waits, so that its tenant is created meanwhile.
    await new Promise((done) => setTimeout(done, 200))

    await ask(writer, 'POST', `/~${slug}/Contact`, { name: 'Ada' })

    expect((await polled).map(({ data }: { data: { name: string } }) => data.name)).toEqual(['Ada'])
  })

  verifies('cluster.scenarios', 'agents find it empty, and leave nothing', async () => {
    const slug = slugOf('asked')
    const { reader } = urlsOf(slug)
    const call = { name: 'do', arguments: { code: 'await $.Contact.count()' } }

    const answer = await fetch(`${reader}/~${slug}/mcp`, {
      method: 'POST',
      headers: { ...ACCEPT, authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    })

    const text = await answer.text()
    expect(JSON.parse(text.replace(/^[\s\S]*?data: (?=\{)/, '')).result?.structuredContent?.result, text).toBe(0)
    await expect
      .poll(async () => (await ask(reader, 'GET', `/operator/tenants/${slug}`)).status, { timeout: 30_000 })
      .toBe(404)
  })
})

verifies('cluster.scenarios', 'a stream of a tenant that the operator creates continues with it', async () => {
  const slug = 'ordered'
  const [belongs, other] = placesOf(slug)
  const streams = await Promise.all([belongs!, other!].map((url) => Sse.open(`${url}/~${slug}/events`, ROOT)))

  const made = await ask(other!, 'POST', '/operator/tenants', { tenant: slug })
  await ask(other!, 'POST', `/~${slug}/Contact`, { name: 'Ada' })

  expect(made.status).toBe(201)
  for (const sse of streams) {
    expect((await sse.got(1)).map(({ data }) => data.data.name)).toEqual(['Ada'])
    sse.close()
  }
})
