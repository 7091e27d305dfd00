import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server as SessionServer } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '@tildebase/nouns'
import type { Grant } from '@tildebase/tenant'
import type { OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MINUTE, openAutomation, SECOND } from '../automation/bench.ts'
import { type TestApp, testApp } from '../host.ts'
import { Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'

const SECRET = 'sk_agent_0123456789'
const WARNINGS = 'x-tilde-warnings'

describe('an agent behind a socket', () => {
  let app: TestApp
  const stops: (() => unknown)[] = []
  /** The headers that the MCP servers got. */
  const seen: Record<string, unknown>[] = []

  beforeAll(async () => {
    app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
    await app.request('PUT', '/~acme/secrets/AGENT_KEY', { value: SECRET })
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
    await app.stop()
  })

  const agent = async (fields: object): Promise<string> => {
    const headers = { authorization: 'Bearer $secrets.AGENT_KEY' }
    const { body } = await app.request('POST', '/~acme/Agent', { name: 'Helper', headers, ...fields })
    return body.$id
  }
  const outcomeOf = async (id: string): Promise<any> => {
    const outcome = async () => {
      const { body } = await app.request('GET', `/~acme/Agent/${id}/history?limit=50`)
      return body.results.find(({ event }: any) => ['answered', 'failed'].includes(event))
    }
    await expect.poll(outcome, { timeout: 10_000 }).toBeDefined()
    return outcome()
  }

  verifies('agent.http', 'an HTTP endpoint is called, and its answer is an event', async () => {
    const receiver = await Receiver.start()
    stops.push(() => receiver.stop())
    receiver.answer(({ headers }, response) => {
      const text = JSON.stringify({ text: 'Ada', by: headers.authorization })
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })
    const id = await agent({ endpoint: receiver.url })

    const asked = await app.request('POST', `/~acme/Agent/${id}/ask`, { message: 'Who?' })
    const { args } = await outcomeOf(id)

    expect(asked.headers.get(WARNINGS)).toBeNull()
    expect(receiver.requests[0]).toMatchObject({
      headers: { authorization: `Bearer ${SECRET}`, 'idempotency-key': `${args.run}-0` },
      body: { id: args.call, verb: 'ask', agent: id, tenant: 'acme', args: { message: 'Who?' } },
    })
    expect(args).toMatchObject({ verb: 'ask', answer: { text: 'Ada', by: 'Bearer [secret AGENT_KEY]' } })
    expect(app.stored()).not.toContain(SECRET)
  })

  verifies(
    'agent.runs',
    'the calls of an agent are listed with their request and answer, as far as a key may see',
    async () => {
      const receiver = await Receiver.start()
      stops.push(() => receiver.stop())
      const id = await agent({ endpoint: receiver.url })
      await app.request('POST', `/~acme/Agent/${id}/ask`, { message: 'Who?' })
      const { args } = await outcomeOf(id)
      const reader = app.as(await app.key('acme', 'read:platform'))

      const { body } = await app.request('GET', `/~acme/Agent/${id}/runs?status=Succeeded`)
      const one = await app.request('GET', `/~acme/Agent/${id}/runs/${args.run}`)
      const hidden = await reader('GET', `/~acme/Agent/${id}/runs/${args.run}`)

      expect(body).toMatchObject({ total: 1, results: [{ id: args.run, agent: id, trigger: 'call' }] })
      expect(one.body.steps).toMatchObject([{ status: 'Succeeded', input: { body: { args: { message: 'Who?' } } } }])
      expect(hidden.body).toMatchObject({ event: null, steps: [{ request: null, hidden: true }] })
      expect((await app.request('GET', '/~acme/Agent/agent_none/runs')).status).toBe(404)
      expect((await app.request('GET', `/~acme/Workflow/${id}/runs`)).status).toBe(404)
    },
  )

  verifies('secret.users', 'a secret names the workflows and agents that use it', async () => {
    const id = await agent({ endpoint: 'http://127.0.0.1:9/$secrets.AGENT_KEY', headers: {} })
    const steps = [{ request: { method: 'GET', url: 'http://127.0.0.1:9/', headers: { key: '$secrets.AGENT_KEY' } } }]
    const workflow = await app.request('POST', '/~acme/Workflow', { name: 'w', steps })

    const { body } = await app.request('GET', '/~acme/secrets')

    expect(body.results[0].usedBy).toEqual(expect.arrayContaining([id, workflow.body.$id]))
  })

  verifies('secret.list', 'the names of secrets are listed page by page', async () => {
    const names = ['KEY_0', 'PAGE_A', 'PAGE_B', 'PAGE_C']
    for (const name of names) await app.request('PUT', `/~paged/secrets/${name}`, { value: `value of ${name}` })

    const first = await app.request('GET', '/~paged/secrets?limit=3')
    const second = await app.request('GET', `/~paged/secrets?limit=3&cursor=${first.body.cursor}`)

    expect([...first.body.results, ...second.body.results].map(({ name }) => name)).toEqual(names)
    expect([first.body, second.body]).toMatchObject([
      { total: 4, hasMore: true, cursor: 'PAGE_B' },
      { total: 4, hasMore: false, cursor: null },
    ])
  })

  test('a redirect is an answer: it is not followed', async () => {
    const [inside, outside] = [await Receiver.start(), await Receiver.start()]
    stops.push(
      () => inside.stop(),
      () => outside.stop(),
    )
    outside.answer((_, response) => response.writeHead(302, { location: inside.url }).end())
    const id = await agent({ endpoint: outside.url })
    const steps = [{ request: { method: 'GET', url: outside.url } }]
    const draft = { name: 'w', triggerEvent: 'Agent.answered', steps }
    const { body: workflow } = await app.request('POST', '/~acme/Workflow', draft)
    await app.request('POST', `/~acme/Workflow/${workflow.$id}/activate`, {})

    await app.request('POST', `/~acme/Agent/${id}/ask`, { message: 'Who?' })
    await outcomeOf(id)
    const ended = async () =>
      (await app.request('GET', `/~acme/Workflow/${workflow.$id}/runs?status=Succeeded`)).body.total
    await expect.poll(ended, { timeout: 10_000 }).toBe(1)

    expect([outside.requests.length, inside.requests.length]).toEqual([2, 0])
  })

  const INFO = [{ name: 'agent', version: '1' }, { capabilities: { tools: {} } }] as const
  const callTool = async ({ params }: any) => {
    const text = params.name === 'ask' ? `re: ${params.arguments.message}` : 'I cannot.'
    return { content: [{ type: 'text' as const, text }], isError: params.name !== 'ask' }
  }

  verifies('agent.mcp', 'a tool of an MCP server of revision 2026-07-28 is called', () => called('2026-07-28'))
  test('a tool of an MCP server with sessions is called', () => called('2025-11-25'))

  const called = async (revision: string) => {
    const url = revision === '2026-07-28' ? await modern() : await withSessions()
    const id = await agent({ endpoint: url, protocol: 'MCP' })

    await app.request('POST', `/~acme/Agent/${id}/ask`, { message: 'Who?' })
    const { event, args } = await outcomeOf(id)

    expect([event, args.verb, args.answer]).toEqual(['answered', 'ask', 're: Who?'])
    expect(seen.at(-1)).toMatchObject({ authorization: `Bearer ${SECRET}`, 'mcp-protocol-version': revision })
  }

  const listen = async (handle: (request: any, response: any, text: string) => unknown): Promise<string> => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      seen.push(request.headers)
      await handle(request, response, Buffer.concat(chunks).toString())
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    stops.push(() => new Promise((done) => server.close(done).closeAllConnections()))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  }

  const modern = () => {
    const handler = createMcpHandler(
      () => {
        const server = new Server(...INFO)
        server.setRequestHandler('tools/call', callTool as never)
        return server
      },
      { legacy: 'reject' } as never,
    )
    return listen(async (request, response, body) => {
      const init = { method: request.method, headers: request.headers, body }
      const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, init))
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    })
  }

  const withSessions = async () => {
    const transports = new Map<string, StreamableHTTPServerTransport>()
    return listen(async (request, response, text) => {
      const known = transports.get(request.headers['mcp-session-id'])
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (id) => void transports.set(id, transport),
        })
      if (!known) {
        const server = new SessionServer(...INFO)
        server.setRequestHandler(CallToolRequestSchema, callTool)
        await server.connect(transport as never)
      }
      await transport.handleRequest(request, response, JSON.parse(text || 'null'))
    })
  }
})

interface Call {
  readonly w: ReturnType<typeof openAutomation>
  readonly sent: OutboundRequest[]
  respond: (request: OutboundRequest) => OutboundAnswer
}

function open(): Call {
  const w = openAutomation()
  const sent: OutboundRequest[] = []
  const call: Call = { w, sent, respond: () => ({ status: 200, text: 'Yes', headers: {} }) }
  w.tenant.equip({
    outbound: {
      send: async (request) => {
        sent.push(request)
        return call.respond(request)
      },
      refuses: (url) => (url.startsWith('https://10.') ? 'The address is not public.' : null),
    },
  })
  return call
}

const ENDPOINT = 'https://agent.example.org/ask'
const events = ({ w }: Call, pattern: RegExp): any[] => w.events(pattern)

verifies('agent.retries', 'a call is tried again with the same key, and ends as an event', async () => {
  const call = open()
  const { w, sent } = call
  const { $id } = w.run('Agent', 'create', undefined, { name: 'a', endpoint: ENDPOINT })
  call.respond = () => (sent.length < 3 ? { status: 503 } : { status: 200, text: 'Yes', headers: {} })
  w.run('Agent', 'do', $id, { task: 'Tidy up' })
  await w.settle()
  const [before, early] = [events(call, /^Agent\.answered$/).length, sent.length]
  await w.advance(30 * SECOND + MINUTE)
  const answered = events(call, /^Agent\.answered$/)

  call.respond = () => ({ error: 'connection refused' })
  w.run('Agent', 'notify', $id, {})
  await w.advance(60 * MINUTE)

  expect([before, early]).toEqual([0, 1])
  expect(new Set(sent.slice(0, 3).map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(answered).toHaveLength(1)
  expect(sent).toHaveLength(3 + 6)
  expect(events(call, /^Agent\.failed$/)).toHaveLength(1)
})

test('a call that was queued is cancelled with its agent, and a paused agent is not called', async () => {
  const call = open()
  const { w, sent } = call
  const { $id } = w.run('Agent', 'create', undefined, { name: 'a', endpoint: ENDPOINT, status: 'Deployed' })
  w.run('Agent', 'ask', $id, { message: 'one' })
  w.run('Agent', 'delete', $id)
  await w.settle()
  w.run('Agent', 'restore', $id)
  w.run('Agent', 'pause', $id)
  const { warnings } = w.tenant.run(admin(), { type: 'Agent', verb: 'ask', id: $id, data: {} }) as any
  await w.settle()

  expect(sent).toEqual([])
  expect(warnings).toEqual([{ warning: 'not_called', status: 'Paused' }])
})

verifies('agent.endpoint', 'an endpoint is checked, and one with a secret is for administrators', async () => {
  const { w } = open()
  const create = (fields: JsonObject, grant?: Grant) => () => w.run('Agent', 'create', undefined, fields, grant)
  const writer: Grant = { actor: 'apiKey_writer', scopes: [{ action: 'write', area: 'platform' }], rows: {} }
  const headers = { authorization: '$secrets.KEY' }

  expect(create({ name: 'a', endpoint: 'https://10.0.0.1/' })).toThrow('not public')
  expect(create({ name: 'a', endpoint: 'file:///etc/passwd' })).toThrow('endpoint')
  expect(create({ name: 'a', endpoint: ENDPOINT, headers: { host: 'x' } })).toThrow('headers')
  expect(create({ name: 'a', endpoint: ENDPOINT, headers }, writer)).toThrow('admin:platform')
  const { $id } = create({ name: 'a', endpoint: ENDPOINT, headers })()
  // The secret would go to the writer's own address.
  expect(() => w.run('Agent', 'update', $id, { endpoint: 'https://evil.example' }, writer)).toThrow('more rights')
  w.run('Agent', 'update', $id, { description: 'Quiet' }, writer)
  w.run('Agent', 'ask', $id, { message: 'by a writer' }, writer)
})

test('an answer that cannot be part of an event is kept as a text', async () => {
  const call = open()
  const { w } = call
  call.respond = () => ({ status: 200, text: '{"__proto__":1}', headers: { 'content-type': 'application/json' } })
  const { $id } = w.run('Agent', 'create', undefined, { name: 'a', endpoint: ENDPOINT })
  w.run('Agent', 'ask', $id, { message: '$secrets.KEY $event.id' })
  await w.settle()
  const rows = w.tenant.sql.rows(`SELECT args FROM events WHERE event = 'answered'`)

  expect(JSON.parse(call.sent[0]!.body).args).toEqual({ message: '$secrets.KEY $event.id' })
  expect(rows.map(([args]) => JSON.parse(args).answer)).toEqual(['{"__proto__":1}'])
})

test('an answer that is nested too deeply is kept as a text, and that of a tool fails its call', async () => {
  const call = open()
  const { w } = call
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const text = (protocol: string) => (protocol === 'MCP' ? `{"jsonrpc":"2.0","id":1,"result":${deep}}` : deep)
  for (const protocol of ['HTTP', 'MCP']) {
    call.respond = () => ({ status: 200, text: text(protocol), headers: { 'content-type': 'application/json' } })
    const { $id } = w.run('Agent', 'create', undefined, { name: 'a', endpoint: ENDPOINT, protocol })
    w.run('Agent', 'ask', $id, { message: 'Who?' })
    await w.advance(60 * MINUTE)
  }

  const rows = w.tenant.sql.rows(`SELECT event, args FROM events WHERE event IN ('answered', 'failed') ORDER BY seq`)
  expect(rows.map(([event]) => event)).toEqual(['answered', 'failed'])
  expect(JSON.parse(rows[0]![1] as string).answer).toBe(deep)
})

function admin(): Grant {
  return { actor: 'apiKey_admin', scopes: [{ action: 'admin', area: 'all' }], rows: {} }
}
