import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { hashOf, send } from './content.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** Calls a tool of MCP. */
async function tool(tenant: string, key: string, name: string, args: object): Promise<any> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const accept = { accept: 'application/json, text/event-stream', authorization: `Bearer ${key}` }
  const { text } = await send(host, 'POST', `/~${tenant}/mcp`, JSON.stringify(message), {
    'content-type': 'application/json',
    ...accept,
  })
  return JSON.parse(/^\{/.test(text) ? text : text.split('data: ')[1]!).result.structuredContent
}

verifies('file.mcp', 'an agent gets the text of small text files, and links to other files', async () => {
  await host.request('PUT', '/~mcp/schema/Deal', { contract: 'file', papers: 'file[]' })
  const { body: deal } = await host.request('POST', '/~mcp/Deal', { name: 'D' })
  const path = `/~mcp/Deal/${deal.$id}`
  const latin = Buffer.from('caf\xe9', 'latin1')
  const long = 'x'.repeat(20_000)
  await send(host, 'POST', `${path}/contract`, 'Grüße', { 'content-type': 'text/plain; charset=utf-8' })
  const { seq } = (await host.request('GET', '/~mcp/events?limit=100')).body.results.at(-1)
  for (const [type, bytes] of [
    ['application/pdf', '%PDF'],
    ['text/plain', latin],
    ['text/csv', long],
    ['application/ld+json', '{}'],
  ] as const)
    await send(host, 'POST', `${path}/papers`, bytes, { 'content-type': type })
  await send(host, 'POST', `${path}/contract`, 'newer', { 'content-type': 'text/markdown' })

  const { $files, ...entity } = await tool('mcp', ROOT, 'fetch', { type: 'Deal', id: deal.$id })

  expect($files.contract).toEqual({ text: 'newer' })
  expect($files.papers.map((one: object) => Object.keys(one))).toEqual([
    ['url', 'expires'],
    ['url', 'expires'],
    ['url', 'expires'],
    ['text'],
  ])
  const linked = await Promise.all([0, 1, 2].map(async (n) => (await fetch($files.papers[n].url)).bytes()))
  expect(linked.map(hashOf)).toEqual(['%PDF', latin, long].map(hashOf))
  expect(entity).toEqual((await host.request('GET', path)).body)
  const past = await tool('mcp', ROOT, 'fetch', { type: 'Deal', id: deal.$id, asOf: String(seq) })
  expect(past.$files).toEqual({ contract: { text: 'Grüße' } })
  const some = await tool('mcp', ROOT, 'fetch', { type: 'Deal', id: deal.$id, fields: ['name'] })
  expect(some.$files).toBeUndefined()
})

verifies('file.follow', 'events, their stream and sync carry the values of files, and no bytes', async () => {
  const bytes = randomBytes(30_000)
  await host.request('PUT', '/~follow/schema/Deal', { contract: 'file' })
  const { body: deal } = await host.request('POST', '/~follow/Deal', { name: 'D' })
  await send(host, 'POST', `/~follow/Deal/${deal.$id}/contract?name=a.bin`, bytes)
  const value = { hash: hashOf(bytes), size: 30_000, type: 'application/octet-stream', name: 'a.bin' }

  const { results } = (await host.request('GET', '/~follow/events?limit=100')).body
  const stop = new AbortController()
  const stream = await host.fetch('/~follow/events', {
    headers: { authorization: `Bearer ${ROOT}`, accept: 'text/event-stream', 'last-event-id': '0' },
    signal: stop.signal,
  })
  let streamed = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.body!) {
    streamed += decoder.decode(chunk)
    if (streamed.includes(hashOf(bytes))) break
  }
  stop.abort()
  const synced = await host.request('POST', '/~follow/sync', { clientId: 'c', clock: 0, changes: [] })

  expect(results.at(-1).data.contract).toEqual(value)
  expect(JSON.stringify(results).length).toBeLessThan(5_000)
  expect(streamed).toContain(JSON.stringify(value))
  expect(streamed.length).toBeLessThan(5_000)
  expect(synced.text).toContain(JSON.stringify(value))
  expect(synced.text.length).toBeLessThan(5_000)
})
