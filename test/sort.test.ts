import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT, type TestHost, testHost } from './host.ts'
import { verifies } from './verifies.ts'

let host: TestHost

beforeAll(async () => {
  host = await testHost()
  for (const [name, leadScore] of [
    ['b', 1],
    ['a', 1],
    ['c', 2],
  ] as const)
    await host.request('POST', '/~acme/Contact', { name, leadScore })
})
afterAll(() => host.stop())

/** What the MCP tool finds, as the names of its results. */
async function searched(sort: unknown): Promise<string[]> {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search', arguments: { type: 'Contact', filter: {}, sort } },
  }
  const { text } = await host.request('POST', '/~acme/mcp', call, { accept: 'application/json, text/event-stream' })
  const answer = JSON.parse(text.slice(text.indexOf('{')))
  return answer.result.structuredContent.results.map((one: { name: string }) => one.name)
}

verifies('sort.object', 'in the SDK and over MCP a sort is an object of fields to 1 or -1', async () => {
  const $ = tildebase({ tenant: 'acme', apiKey: ROOT, baseUrl: host.url })

  const found = await $.Contact.find({}, { sort: { leadScore: -1, name: 1 } })

  expect(found.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
  expect(await searched({ leadScore: -1, name: 1 })).toEqual(['c', 'a', 'b'])
  expect(await searched({ leadScore: 'desc', name: 'asc' })).toEqual(['c', 'a', 'b'])
  expect(await searched({ name: 1 })).toEqual(['a', 'b', 'c'])
})
