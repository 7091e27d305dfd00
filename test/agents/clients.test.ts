import {
  experimental_createMCPClient as createMCPClient,
  experimental_createMCPEventWebhook as createMCPEventWebhook,
} from '@ai-sdk/mcp'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { Receiver } from '../receiver.ts'
import { APPS, TASKS } from './wire.ts'

let host: TestHost
const closing: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
})
afterAll(async () => {
  for (const one of closing) await one.close()
  await host.stop()
})

test('the AI SDK subscribes to events and verifies what it receives', async () => {
  const kept = new Map<string, any>()
  const store = {
    get: async (key: string) => kept.get(key),
    getById: async (id: string) => [...kept.values()].find((one) => one.id === id),
    set: async (one: any) => void kept.set(one.key, one),
    update: async (key: string, patch: object) => void kept.set(key, { ...kept.get(key), ...patch }),
    delete: async (key: string) => void kept.delete(key),
  }
  const events: any[] = []
  const webhook = createMCPEventWebhook({ store, onEvent: async ({ event }: any) => void events.push(event) } as never)
  const receiver = await Receiver.start()
  receiver.answer(async ({ path, headers, text }, response) => {
    const request = new Request(`http://127.0.0.1${path}`, { method: 'POST', headers: headers as never, body: text })
    const answer = await webhook(request)
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  closing.push({ close: () => receiver.stop() })
  const client = await createMCPClient({
    transport: { type: 'http', url: `${host.url}/~acme/mcp`, headers: { authorization: `Bearer ${ROOT}` } },
    experimental_events: { store },
  } as never)
  closing.push(client)

  const { id } = await client.experimental_events.subscribe({
    name: 'Contact.created',
    arguments: { filter: { stage: 'Lead' } },
    delivery: { mode: 'webhook', url: receiver.url, allowInsecureLocalhost: true },
  } as never)
  await host.request('POST', '/~acme/Contact', { name: 'Grace' })
  await expect.poll(() => events.length, { timeout: 10_000 }).toBe(1)
  await (client.experimental_events as any).refresh({ id })
  await client.experimental_events.unsubscribe({ id } as never)

  expect(events[0]).toMatchObject({ name: 'Contact.created', data: { name: 'Grace' } })
  expect(kept.size).toBe(0)
})

test('the official client sees the extensions and reads the page of a tool', async () => {
  const capabilities = { extensions: { [TASKS]: {} }, elicitation: { url: {} } }
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: capabilities as never, versionNegotiation: { mode: 'auto' } },
  )
  const requestInit = { headers: { authorization: `Bearer ${await host.key('acme', 'propose:crm')}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}/~acme/mcp`), { requestInit }))
  closing.push(client)

  const { resources } = await client.listResources()
  const { contents } = await client.readResource({ uri: resources[0]!.uri })

  const { extensions } = client.getServerCapabilities() as { extensions: object }
  expect(Object.keys(extensions)).toEqual(expect.arrayContaining([TASKS, APPS]))
  expect(contents[0]).toMatchObject({
    mimeType: 'text/html;profile=mcp-app',
    text: expect.stringContaining('<!doctype html>'),
  })
})
