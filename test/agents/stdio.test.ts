import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

const MAIN = fileURLToPath(new URL('./stdio-main.ts', import.meta.url))

let host: TestHost
beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
})
afterAll(() => host.stop())

test.each(['auto', 'legacy'] as const)(
  'a client on standard input and output completes a session (%s)',
  async (mode) => {
    const client = await connect(mode, ROOT)

    const { tools } = await client.listTools()
    const [found, did] = await Promise.all([
      client.callTool({ name: 'search', arguments: { type: 'Contact' } }),
      client.callTool({ name: 'do', arguments: { code: 'await $.Contact.count()' } }),
    ])
    await client.close()

    expect(tools.map(({ name }) => name)).toEqual(['search', 'fetch', 'do'])
    expect(found.structuredContent).toMatchObject({ total: 1 })
    expect(did.structuredContent).toMatchObject({ result: 1 })
  },
)

test('a wrong key is reported in a sentence', async () => {
  await expect(connect('legacy', 'wrong')).rejects.toThrow(/Bearer/)
})

async function connect(mode: 'auto' | 'legacy', key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const args = [MAIN, `${host.url}/~acme/mcp`, key]
  await client.connect(new StdioClientTransport({ command: process.execPath, args }))
  return client
}
