import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { person } from '../people/people.ts'

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
const INSPECTOR = join(PACKAGE, '..', 'clients/launcher/build/index.js')

let host: TestHost
let ada: { $id: string }
beforeAll(async () => {
  host = await testHost()
  const { body: org } = await host.request('POST', '/~acme/Organization', { name: 'Analytical' })
  ada = (await host.request('POST', '/~acme/Contact', { name: 'Ada', organization: org.$id })).body
  await host.request('POST', '/~acme/Contact', { name: 'Bob' })
})
afterAll(() => host.stop())

// The newest revision of the protocol, and the ones before it.
test.each(['modern', 'legacy'])('the inspector completes a session (%s)', { timeout: 300_000 }, async (era) => {
  const session = await Promise.all([
    inspect(era, 'tools/list', '--strict'),
    tool(era, 'search', { type: 'Contact', filter: { name: { $in: ['Ada', 'Bob'] } }, sort: { name: -1 } }),
    tool(era, 'fetch', { type: 'Contact', id: ada.$id, include: ['organization'] }),
    tool(era, 'fetch', { type: 'Schema', id: 'Pipeline' }),
    tool(era, 'do', { code: "await $.Contact.create({ name: 'Dry' })", dryRun: true }),
    tool(era, 'do', { code: "console.log('on it'); (await $.Contact.create({ name: 'Cleo' })).stage" }),
    tool(era, 'do', { code: 'await $.Contact.fly(1)' }),
    tool(era, 'search', { type: 'Contct' }),
  ])

  await expect(steady(session.join('\n'))).toMatchFileSnapshot(`inspector-${era}.txt`)
})

test('the inspector reads a page, proposes, and waits until a person has approved', { timeout: 300_000 }, async () => {
  const admin = await person(host, 'acme', { email: 'admin@example.com', role: 'Admin' })
  const code = "await $.Contact.create({ name: 'Dorothy' })"
  const page = inspect('modern', 'resources/read', '--uri', 'ui://tildebase/changeset')
  const proposed = tool('modern', 'do', { code, propose: 'Add Dorothy' })
  const open = () => admin.send('GET', '/~acme/Changeset?title=Add%20Dorothy').then(({ body }) => body.results[0])
  await expect.poll(open, { timeout: 120_000 }).toBeDefined()
  const approved = await admin.send('POST', `/~acme/Changeset/${(await open()).$id}/approve`)

  expect(approved.status, approved.text).toBe(200)
  expect(await proposed).toContain('Approved')
  expect(await page).toContain('text/html;profile=mcp-app')
  expect((await host.request('GET', '/~acme/Contact?name=Dorothy')).body.total).toBe(1)
})

test('the inspector has no method for events: the other clients show subscriptions', { timeout: 300_000 }, async () => {
  const said = await inspect('modern', 'events/subscribe')

  // When this fails, the inspector has learned it: let it complete a subscription.
  expect(said).toContain('Unsupported method: events/subscribe')
})

function tool(era: string, name: string, args: Record<string, unknown>): Promise<string> {
  const pairs = Object.entries(args).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return inspect(era, 'tools/call', '--tool-name', name, '--tool-arg', ...pairs)
}

/** One command of the inspector, and all that it says: its answer, its complaints, how it ended. */
function inspect(era: string, method: string, ...more: string[]): Promise<string> {
  const args = ['--method', method, ...more]
  const target = ['--cli', `${host.url}/~acme/mcp`, '--protocol-era', era, '--header', `Authorization: Bearer ${ROOT}`]
  // Its own files stay out of the home folder of the user.
  const env = { ...process.env, HOME: join(host.data, 'home'), MCP_CATALOG_PATH: join(host.data, 'home', 'mcp.json') }
  return new Promise((tell) => {
    execFile(process.execPath, [INSPECTOR, ...target, ...args], { env, timeout: 100_000 }, (failed, stdout, stderr) => {
      tell(`$ inspector --cli ${args.join(' ')}\n${stdout}${stderr}exit ${failed?.code ?? 0}\n`)
    })
  })
}

/** The transcript without what differs from run to run: where, when, and the tokens of ids. */
function steady(text: string): string {
  const names = new Map<string, string>()
  const name = (id: string, kind: string) => {
    if (!names.has(id)) names.set(id, `${kind}_${names.size + 1}`)
    return names.get(id)!
  }
  return text
    .replaceAll(host.url, 'http://host')
    .replaceAll(/("version": ")\d+\.\d+\.\d+/g, '$1VERSION')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b([a-z][A-Za-z]*)_[0-9A-Za-z]{16,}\b/g, name)
    .replaceAll(/"seq": ?\d+|\\"seq\\":\d+/g, (seq) => seq.replace(/\d+/, '0'))
}
