import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { countTokens } from 'gpt-tokenizer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

const INFO = { name: 'test', version: '1.0.0' }
const MODES = ['auto', 'legacy'] as const

let host: TestHost
let ada: { $id: string }
const clients: { close(): Promise<void> }[] = []

beforeAll(async () => {
  host = await testHost()
  const org = (await host.request('POST', '/~acme/Organization', { name: 'Analytical', industry: 'Healthcare' })).body
  ada = (await host.request('POST', '/~acme/Contact', { name: 'Ada', organization: org.$id })).body
  await host.request('POST', '/~acme/Contact', { name: 'Bob' })
  await host.request('POST', '/~other/Contact', { name: 'Hidden' })
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await host.stop()
})

async function connect(options: { key?: string; path?: string; mode?: (typeof MODES)[number] } = {}): Promise<Client> {
  const { key = ROOT, path = '/~acme/mcp', mode = 'auto' } = options
  const client = new Client(INFO, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}${path}`), { requestInit }))
  clients.push(client)
  return client
}

interface Called {
  readonly answer: any
  readonly isError: boolean
  readonly text: any
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Called> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args })
  const [block] = content as { text: string }[]
  return { answer: structuredContent, isError: isError === true, text: JSON.parse(block!.text) }
}

describe.each(MODES)('a session with the official client (%s)', (mode) => {
  verifies(['mcp.three', 'mcp.tools', 'mcp.http', 'mcp.path'], 'has exactly search, fetch and do', async () => {
    const client = await connect({ mode })

    const { tools } = await client.listTools()

    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25')
    expect(tools.map(({ name }) => name)).toEqual(['search', 'fetch', 'do'])
    for (const tool of tools) expect(tool.outputSchema).toBeDefined()
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, true, false])
    expect(tools[2]!.annotations?.destructiveHint).toBe(true)
  })

  verifies(['mcp.search', 'mcp.search.sort'], 'searches with filter, sort and limit', async () => {
    const client = await connect({ mode })

    const { answer, text } = await call(client, 'search', {
      type: 'Contact',
      filter: { name: { $in: ['Ada', 'Bob'] } },
      sort: { name: -1 },
      limit: 1,
    })

    expect(answer).toMatchObject({ results: [{ name: 'Bob' }], total: 2, hasMore: true, cursor: expect.any(String) })
    expect(text).toEqual(answer)
    const next = await call(client, 'search', {
      type: 'Contact',
      filter: { name: { $in: ['Ada', 'Bob'] } },
      sort: { name: -1 },
      limit: 1,
      cursor: answer.cursor,
    })
    expect(next.answer.results[0].name).toBe('Ada')
  })

  verifies('mcp.fetch', 'fetches one with its relations', async () => {
    const client = await connect({ mode })

    const { answer } = await call(client, 'fetch', { type: 'Contact', id: ada.$id, include: ['organization'] })

    expect(answer).toMatchObject({ name: 'Ada', organization: { name: 'Analytical' } })
  })

  verifies('mcp.do', 'runs code and takes it back', async () => {
    const client = await connect({ mode })

    const { answer } = await call(client, 'do', {
      code: "const c = await $.Contact.create({ name: 'Cleo' }); console.log('made'); (await $.Contact.qualify(c.$id)).stage",
    })
    const dry = await call(client, 'do', { code: "await $.Contact.create({ name: 'Dry' }); 1", dryRun: true })

    expect(answer).toMatchObject({ result: 'Qualified', logs: ['made'], correlation: expect.any(String) })
    expect(dry.answer.events[0].type).toBe('Contact.created')
    expect((await host.request('POST', `/~acme/undo/${answer.correlation}`)).body.undone).toBe(2)
  })
})

test('the client of the years before completes a session', async () => {
  const client = new OldClient(INFO)
  const requestInit = { headers: { authorization: `Bearer ${ROOT}` } }
  await client.connect(new OldTransport(new URL(`${host.url}/~acme/mcp`), { requestInit }))
  clients.push(client)

  const { tools } = await client.listTools()
  const found = await client.callTool({ name: 'search', arguments: { type: 'Contact', filter: { name: 'Ada' } } })

  expect(tools).toHaveLength(3)
  expect(found.structuredContent).toMatchObject({ total: 1 })
})

describe('the tools', () => {
  verifies('mcp.sort.forms', 'sort takes 1, -1, asc, desc and the REST string', async () => {
    const client = await connect()
    const first = async (sort: unknown) =>
      (await call(client, 'search', { type: 'Contact', filter: { name: { $in: ['Ada', 'Bob'] } }, sort })).answer
        .results[0].name

    expect(await Promise.all([{ name: 1 }, { name: 'asc' }, 'name'].map(first))).toEqual(Array(3).fill('Ada'))
    expect(await Promise.all([{ name: -1 }, { name: 'desc' }, '-name'].map(first))).toEqual(Array(3).fill('Bob'))
  })

  verifies('mcp.fetch.special', 'fetch serves Schema, Metric and Status', async () => {
    const client = await connect()

    const one = await call(client, 'fetch', { type: 'Schema', id: 'Deal' })
    const all = await call(client, 'fetch', { type: 'Schema' })
    const metric = await call(client, 'fetch', { type: 'Metric', id: 'pipeline' })
    const status = await call(client, 'fetch', { type: 'Status' })

    expect(one.answer).toMatchObject({ name: 'Deal', fields: { value: {} }, verbs: { create: {} } })
    expect(all.answer.types).toEqual(expect.arrayContaining([expect.stringMatching(/^Contact: /)]))
    expect(metric.answer).toMatchObject({ name: 'pipeline', history: expect.any(Array) })
    expect(status.answer).toMatchObject({ tenant: 'acme', key: { id: 'operator' }, entities: { Organization: 1 } })
  })

  verifies('mcp.bound', 'no tool reaches another tenant', async () => {
    const client = await connect()

    expect((await call(client, 'search', { type: 'Contact', filter: { name: 'Hidden' } })).answer.total).toBe(0)
  })

  test.each<[string, string, Record<string, unknown>, string, RegExp]>([
    ['an unknown type', 'search', { type: 'Contct' }, 'unknown_type', /Schema/],
    ['a wrong filter', 'search', { type: 'Contact', filter: { $near: 1 } }, 'invalid_filter', /Schema/],
    ['a missing entity', 'fetch', { type: 'Contact', id: 'contact_0' }, 'not_found', /[Ss]earch/],
    ['a word of a path', 'fetch', { type: 'Contact', id: 'count' }, 'not_found', /[Ss]earch/],
    ['no id', 'fetch', { type: 'Contact' }, 'invalid_parameter', /./],
    ['no type', 'search', {}, 'invalid_parameter', /./],
    ['code that breaks', 'do', { code: 'null.x' }, 'script_error', /Correct/],
    ['an unknown verb', 'do', { code: "await $.Contact.fly('contact_0')" }, 'script_error', /Correct/],
    ['a limit too high', 'search', { type: 'Contact', limit: 1000 }, 'invalid_limit', /./],
  ])('%s is a result that tells what to do next', async (_, tool, args, error, next) => {
    const { isError, text } = await call(await connect(), tool, args)

    expect(isError).toBe(true)
    expect(text).toMatchObject({ error, message: expect.any(String) })
    expect(`${text.next} ${text.message}`).toMatch(next)
  })

  test.each(MODES)('another tool is an error of the protocol (%s)', async (mode) => {
    const client = await connect({ mode })

    await expect(client.callTool({ name: 'drop' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('The tools are search, fetch and do.'),
    })
  })

  verifies('secret.mcp', 'secrets are out of reach of every tool', async () => {
    const secret = await host.key('acme', 'read:crm')
    const client = await connect()

    const found = await call(client, 'search', { type: 'ApiKey' })
    const byHash = await call(client, 'search', { type: 'ApiKey', filter: { secret } })
    const code = await call(client, 'do', {
      code: 'JSON.stringify([await $.ApiKey.find(), await $.events({ type: "ApiKey" })])',
    })

    expect(JSON.stringify([found.answer, byHash, code.answer])).not.toContain(secret.slice(9, 40))
  })

  test('a key sees and does through the tools what its scopes allow', async () => {
    const client = await connect({ key: await host.key('acme', 'read:crm') })

    const { tools } = await client.listTools()
    const refused = await call(client, 'search', { type: 'Invoice' })
    const inCode = await call(client, 'do', { code: "await $.Contact.create({ name: 'Ada' })" })

    expect(tools[0]!.description).toContain('Contact')
    expect(tools[0]!.description).not.toContain('Invoice')
    expect(refused.text).toMatchObject({ error: 'forbidden', next: expect.stringContaining('scope') })
    expect(inCode.text).toMatchObject({ error: 'script_error', next: expect.stringContaining('scope') })
  })

  test('without a key there is no session, nor with one of another tenant', async () => {
    const foreign = await host.key('other', 'admin:all')

    expect((await host.as('')('POST', '/~acme/mcp', {})).status).toBe(401)
    expect((await host.as(foreign)('POST', '/~acme/mcp', {})).status).toBe(403)
    expect((await host.request('GET', '/~acme/mcp')).status).toBe(405)
  })
})

describe('what the tools cost', () => {
  const tokens = async (path: string) => countTokens(JSON.stringify(await (await connect({ path })).listTools()))

  verifies('lens.mcp', 'the lens chooses the types that are described', async () => {
    const { tools } = await (await connect({ path: '/billing/~acme/mcp' })).listTools()

    expect(tools[0]!.description).toMatch(/Invoice: /)
    expect(tools[0]!.description).not.toMatch(/Contact: /)
  })

  test('the industry of a lens filters what is found', async () => {
    const client = await connect({ path: '/healthcare/~acme/mcp' })

    expect((await call(client, 'search', { type: 'Contact' })).answer.results).toMatchObject([{ name: 'Ada' }])
  })

  test('the industry of a lens filters what code finds, counts and measures, also in a dry run', async () => {
    const client = await connect({ path: '/healthcare/~acme/mcp' })
    const code = `const { results, total } = await $.Contact.findPage()
      const names = [await $.Contact.findOne(), ...await $.Contact.find(), ...results].map(({ name }) => name)
      return [names, total, await $.Contact.count(), (await $.Contact.aggregate({ group: 'name' })).total]`
    const { answer } = await call(client, 'do', { code })
    const dry = await call(client, 'do', { code, dryRun: true })

    expect(answer.result).toEqual([['Ada', 'Ada', 'Ada'], 1, 1, 1])
    expect(dry.answer.result).toEqual(answer.result)
  })

  test('the list of tools is under 1,500 tokens, whatever the lens', async () => {
    for (const path of ['/~acme/mcp', '/crm/~acme/mcp', '/grow/~acme/mcp', '/billing/~acme/mcp']) {
      expect(await tokens(path)).toBeLessThan(1_500)
    }
  })

  test('types of the tenant’s own come first, and many of them do not make it longer', async () => {
    for (let i = 0; i < 120; i++) {
      await host.request('PUT', `/~many/schema/Kind${'abcdefghij'[i % 10]}${'klmnopqrstuv'[Math.floor(i / 10)]}`, {
        name: 'string!',
        state: 'Open | Closed = Open',
        close: { event: 'closed', from: 'Open', set: { state: 'Closed' } },
      })
    }

    const { tools } = await (await connect({ path: '/~many/mcp' })).listTools()

    expect(tools[0]!.description).toMatch(/Kindak: name\*, state\(Open\|Closed\); verbs close/)
    expect(tools[0]!.description).toMatch(/and \d+ more/)
    expect(await tokens('/~many/mcp')).toBeLessThan(1_500)
  })
})

describe('a message that cannot be read', () => {
  const posted = (body: string | Uint8Array) =>
    host.request('POST', '/~acme/mcp', body, { accept: 'application/json, text/event-stream' })

  test.each([
    ['is no JSON', '{', -32700],
    ['is not UTF-8', new Uint8Array([34, 255, 34]), -32700],
    ['is nested without end', '['.repeat(100) + ']'.repeat(100), -32600],
    ['is no message', '{"id":1,"method":"ping"}', -32600],
    ['is of another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['is empty', '', -32600],
  ] as const)('because it %s is refused in the words of JSON-RPC', async (_, message, code) => {
    const { status, body } = await posted(message)

    expect(status).toBe(400)
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } })
    if (code === -32700) expect(body.id).toBeNull()
  })
})

verifies('tenant.absent.disk', 'a search in a tenant that does not exist leaves nothing behind', async () => {
  const client = await connect({ path: '/~zz-absent/mcp' })

  const { answer } = await call(client, 'search', { type: 'Contact' })

  expect(answer.total).toBe(0)
  expect(await host.tenants()).not.toContain('zz-absent')
})

test.each(['application/json', '*/*', 'application/*;q=0.9'])(
  'a client that accepts %s and no streams gets JSON',
  async (accept) => {
    const posted = (method: string, params: object) =>
      host.request('POST', '/~acme/mcp', { jsonrpc: '2.0', id: 7, method, params }, { accept })

    const listed = await posted('tools/list', {})
    const found = await posted('tools/call', {
      name: 'search',
      arguments: { type: 'Contact', filter: { name: 'Bob' } },
    })

    expect([listed.status, listed.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(listed.body).toMatchObject({ jsonrpc: '2.0', id: 7, result: { tools: [{ name: 'search' }, {}, {}] } })
    expect(found.body.result.structuredContent.results).toMatchObject([{ name: 'Bob' }])
  },
)

describe('the revision of the protocol', () => {
  test.each([
    ['the newest client, pinned', { versionNegotiation: { mode: { pin: '2026-07-28' } } }, '2026-07-28'],
    ['the newest client, which tries', { versionNegotiation: { mode: 'auto' } }, '2026-07-28'],
    ['the newest client, as it is', {}, '2025-11-25'],
    ['a client of June 2025', { supportedProtocolVersions: ['2025-06-18'] }, '2025-06-18'],
    ['a client of March 2025', { supportedProtocolVersions: ['2025-03-26'] }, '2025-03-26'],
  ] as const)('is what %s asked for', async (_, options, version) => {
    const client = new Client(INFO, options as never)
    const requestInit = { headers: { authorization: `Bearer ${ROOT}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}/~acme/mcp`), { requestInit }))
    clients.push(client)

    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect((await client.listTools()).tools).toHaveLength(3)
  })

  test('is the newest one with a handshake, for a handshake that names one without', async () => {
    const params = { protocolVersion: '2026-07-28', capabilities: {}, clientInfo: INFO }
    const asked = { jsonrpc: '2.0', id: 1, method: 'initialize', params }

    const { body } = await host.request('POST', '/~acme/mcp', asked, { accept: 'application/json' })

    expect(body.result.protocolVersion).toBe('2025-11-25')
  })
})

describe('a request of another origin', () => {
  const posted = (headers: Record<string, string>) =>
    new Promise<number>((told, failed) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      const sent = { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json', accept: 'application/json' }
      request(`${host.url}/~acme/mcp`, { method: 'POST', headers: { ...sent, ...headers } }, (response) => {
        response.resume()
        told(response.statusCode!)
      })
        .on('error', failed)
        .end(body)
    })

  test.each([
    ['no Origin', {}, 200],
    ['a page of this machine', { origin: 'http://localhost:6274' }, 200],
    ['a page of a lens', { origin: 'http://crm.localhost' }, 200],
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a name that was made to lead here', { host: 'evil.example' }, 403],
    ['a page of such a name', { host: 'evil.example', origin: 'http://evil.example' }, 403],
    ['an address', { host: '192.168.1.5:8787', origin: 'http://192.168.1.5:8787' }, 200],
    ['a name that only ends alike', { host: 'evillocalhost' }, 403],
  ])('with %s is answered or refused', async (_, headers, status) => {
    expect(await posted(headers)).toBe(status)
  })

  test('is let in where the operator says so', async () => {
    const other = await testHost({
      TILDE_BASE_URL: 'https://tilde.example',
      TILDE_MCP_ORIGINS: 'https://agent.example',
    })
    const status = async (origin: string) =>
      (
        await other.request(
          'POST',
          '/~acme/mcp',
          { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          { origin, accept: 'application/json' },
        )
      ).status

    expect(await status('https://agent.example')).toBe(200)
    expect(await status('https://tilde.example')).toBe(200)
    expect(await status('https://other.example')).toBe(403)
    await other.stop()
  })
})

describe('the past', () => {
  verifies('mcp.asOf', 'is searched and fetched with asOf', async () => {
    const { body: deal } = await host.request('POST', '/~past/Deal', { name: 'Old', value: 1 })
    const { seq } = (await host.request('GET', '/~past/events')).body.results.at(-1)
    await host.request('PUT', `/~past/Deal/${deal.$id}`, { name: 'New' })
    await host.request('POST', '/~past/Deal', { name: 'Later' })
    const client = await connect({ path: '/~past/mcp' })

    const found = await call(client, 'search', { type: 'Deal', asOf: String(seq), fields: ['name'] })
    const fetched = await call(client, 'fetch', { type: 'Deal', id: deal.$id, asOf: String(seq) })

    expect(found.answer.results).toEqual([{ $id: deal.$id, $type: 'Deal', name: 'Old' }])
    expect(fetched.answer.name).toBe('Old')
    expect((await call(client, 'search', { type: 'Deal', asOf: '7d ago' })).answer.total).toBe(0)
    expect((await call(client, 'search', { type: 'Deal', asOf: 'then' })).text.error).toBe('invalid_as_of')
  })

  test('a parameter that a tool does not take is refused, not dropped', async () => {
    const client = await connect()

    const search = await call(client, 'search', { type: 'Contact', since: 'yesterday' })
    const fetched = await call(client, 'fetch', { type: 'Status', asOf: '7d ago' })
    const run = await call(client, 'do', { code: `await $.Contact.create({ name: 'Dry' })`, dryrun: true })

    expect(search).toMatchObject({ isError: true, text: { error: 'invalid_parameter', field: 'since' } })
    expect(fetched).toMatchObject({ isError: true, text: { error: 'invalid_parameter' } })
    expect(run).toMatchObject({ isError: true, text: { error: 'invalid_parameter', field: 'dryrun' } })
    expect(run.text.message).toMatch(/did you mean dryRun\?$/)
    expect((await call(client, 'search', { type: 'Contact', filter: { name: 'Dry' } })).answer.total).toBe(0)
  })

  test.each([[['contact_1']], [1], [{ $eq: 'contact_1' }], [true]])('the id %j is refused', async (id) => {
    const client = await connect()
    for (const type of ['Contact', 'Schema', 'Ask']) {
      const { isError, text } = await call(client, 'fetch', { type, id })
      expect([isError, text.error, text.field]).toEqual([true, 'invalid_parameter', 'id'])
    }
  })

  test('an unknown field is reported, and refused with strict, as in REST', async () => {
    const client = await connect()
    const { $id: id } = (await call(client, 'search', { type: 'Contact', limit: 1 })).answer.results[0]

    const known = await call(client, 'fetch', { type: 'Contact', id, fields: ['name', 'email'], strict: true })
    const warned = await call(client, 'fetch', { type: 'Contact', id, fields: ['naem'] })
    const fetched = await call(client, 'fetch', { type: 'Contact', id, fields: ['naem'], strict: true })
    const searched = await call(client, 'search', { type: 'Contact', sort: 'naem', strict: true })

    expect([known.isError, known.answer.warnings]).toEqual([false, undefined])
    expect(warned.answer.warnings).toEqual([{ field: 'naem', nearest: 'name' }])
    expect(fetched).toMatchObject({ isError: true, text: { error: 'invalid_parameter', field: 'naem' } })
    expect(searched).toMatchObject({ isError: true, text: { error: 'invalid_parameter', field: 'naem' } })
  })
})
