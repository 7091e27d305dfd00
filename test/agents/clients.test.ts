import { randomBytes } from 'node:crypto'
import {
  experimental_createMCPClient as createMCPClient,
  experimental_createMCPEventWebhook as createMCPEventWebhook,
  mcpAppClientCapabilities,
  readMCPAppResource,
  splitMCPAppTools,
} from '@ai-sdk/mcp'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { type Browser, person } from '../people/people.ts'
import { Receiver } from '../receiver.ts'
import { APPS, addressIn, decide, TASKS } from './wire.ts'

let host: TestHost
let admin: Browser
let proposer: string
const closing: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
  admin = await person(host, 'acme', { email: 'admin@example.com', role: 'Admin' })
  proposer = await host.key('acme', 'read:crm,propose:crm')
})
afterAll(async () => {
  for (const one of closing) await one.close()
  await host.stop()
})

/** A schema that takes every answer: the client has none for methods of an extension. */
const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
  safeParse: (data: unknown) => ({ success: true, data }),
  parse: (data: unknown) => data,
}

/** What an agent gives to `do` to propose a contact. */
const proposal = (name: string) => ({
  code: `await $.Contact.create({ name: ${JSON.stringify(name)} })`,
  propose: `Add ${name}`,
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

/** The text of the answer of a tool. */
const textOf = (result: any): string => result.content.map(({ text }: { text: string }) => text).join('\n')
const added = async (name: string) => (await host.request('GET', `/~acme/Contact?name=${name}`)).body.total

test('the AI SDK proposes, and what a person approves is done', async () => {
  const client = await createMCPClient({
    transport: { type: 'http', url: `${host.url}/~acme/mcp`, headers: { authorization: `Bearer ${proposer}` } },
  })
  closing.push(client)
  const tools = (await client.tools()) as any
  const call = (name: string, args: object) => tools[name].execute(args, { toolCallId: '1', messages: [] })

  const proposed = textOf(await call('do', proposal('Hedy')))
  const before = await added('Hedy')
  const { sent } = await decide(admin, addressIn(proposed), 'approve')
  const changeset = /changeset_\w+/.exec(proposed)![0]
  const fetched = textOf(await call('fetch', { type: 'Changeset', id: changeset }))

  expect([before, sent.status, await added('Hedy')]).toEqual([0, 200, 1])
  expect(fetched).toContain('Approved')
})

test('the AI SDK loads the App of each tool, and shows what the tool answers', async () => {
  const client = await createMCPClient({
    transport: { type: 'http', url: `${host.url}/~acme/mcp`, headers: { authorization: `Bearer ${proposer}` } },
    capabilities: mcpAppClientCapabilities as never,
  })
  closing.push(client)
  const listed = await client.listTools()
  const tools = client.toolsFromDefinitions(listed) as any
  const pageOf = (name: string): string =>
    (listed.tools.find((tool) => tool.name === name)!._meta as any).ui.resourceUri

  const pages = await Promise.all(
    ['do', 'search', 'fetch'].map((name) => readMCPAppResource({ client, uri: pageOf(name) })),
  )
  const proposed = await tools.do.execute(proposal('Annie'), { toolCallId: '1', messages: [] })

  expect(splitMCPAppTools(listed).modelVisible.tools).toHaveLength(3)
  for (const { html, meta } of pages) {
    expect(html).toContain('<!doctype html>')
    expect(meta?.csp?.connectDomains ?? []).toEqual([])
  }
  expect(proposed.structuredContent).toMatchObject({
    changeset: { title: 'Add Annie', state: 'Open', url: addressIn(textOf(proposed)) },
  })
})

describe('the official client', () => {
  const declared = { extensions: { [TASKS]: {} }, elicitation: { url: {} } }
  const headers = () => ({ authorization: `Bearer ${proposer}` })
  let client: Client
  beforeAll(async () => {
    client = new Client(
      { name: 'test', version: '1.0.0' },
      { capabilities: declared as never, versionNegotiation: { mode: 'auto' } },
    )
    const transport = new StreamableHTTPClientTransport(new URL(`${host.url}/~acme/mcp`), {
      requestInit: { headers: headers() },
    })
    await client.connect(transport)
    closing.push(client)
  })

  test('sees the extensions and reads the page of a tool', async () => {
    const { resources } = await client.listResources()
    const { contents } = await client.readResource({ uri: resources[0]!.uri })

    const { extensions } = client.getServerCapabilities() as { extensions: object }
    expect(Object.keys(extensions)).toEqual(expect.arrayContaining([TASKS, APPS]))
    expect(contents[0]).toMatchObject({
      mimeType: 'text/html;profile=mcp-app',
      text: expect.stringContaining('<!doctype html>'),
    })
  })

  test('follows its proposal as a task until a person has approved it', async () => {
    const opened: string[] = []
    const session = createTaskSessionFromClient(client, {
      endpointId: 'acme',
      v2RequestFraming: {
        protocolVersion: '2026-07-28',
        clientInfo: { name: 'test', version: '1.0.0' },
        clientCapabilities: declared as never,
      },
      rawDispatch: async (message: unknown) => dispatch(message as never),
      // A chat client opens the address; the person decides there, with a session of their own.
      onInputRequest: async (request: any) => {
        opened.push(request.params.url)
        await decide(admin, request.params.url, 'approve')
        return { action: 'accept' } as never
      },
    } as never)
    const execution = await session.callTool('do', proposal('Katherine') as never)
    const { outcome } = await execution.settle()
    const result = resultFromTaskOutcome(outcome) as any
    await session.close()

    expect(opened).toHaveLength(1)
    expect(result.structuredContent).toMatchObject({ changeset: { state: 'Approved', reviewer: admin.user.$id } })
    expect(await added('Katherine')).toBe(1)
  })

  test('subscribes to events, which are signed with its secret', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const receiver = await Receiver.start()
    closing.push({ close: () => receiver.stop() })
    receiver.answer(({ body }, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ challenge: body.challenge }))
    })
    const delivery = { mode: 'webhook', url: receiver.url, secret }
    const send = (method: string, params: object) => client.request({ method, params } as never, anything as never)

    const { id } = (await send('events/subscribe', { name: 'Contact.created', arguments: {}, delivery })) as any
    await host.request('POST', '/~acme/Contact', { name: 'Mary' })
    await expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBe(2)
    await send('events/unsubscribe', { name: 'Contact.created', arguments: {}, delivery: { url: receiver.url } })

    const { headers: signed, text } = receiver.requests[1]!
    expect(new Webhook(secret).verify(text, signed as Record<string, string>)).toMatchObject({ data: { name: 'Mary' } })
    expect(signed['x-mcp-subscription-id']).toBe(id)
  })

  /** Sends a message of the tasks extension: the client has no method for it. */
  async function dispatch({ method, params }: { method: string; params: Record<string, unknown> }) {
    const name = params.taskId ?? params.name
    const response = await fetch(`${host.url}/~acme/mcp`, {
      method: 'POST',
      headers: {
        ...headers(),
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': String(name),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as any
    return error === undefined ? { kind: 'result' as const, result } : { kind: 'error' as const, error }
  }
})
