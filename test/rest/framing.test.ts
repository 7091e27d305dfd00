import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '@tildebase/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs, type TestHost, testHost } from '../host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** What comes back for these bytes, when the service closes the connection. */
async function sent(bytes: string): Promise<string> {
  const { port } = new URL(host.url)
  const socket = connect(Number(port), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write(bytes)
  await once(socket, 'close')
  return text
}

test.each([
  ['two Host headers', 'GET /healthz HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\nConnection: close\r\n\r\n'],
  ['twice the same Host', 'GET /healthz HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\nConnection: close\r\n\r\n'],
  ['a request line without a version', 'GET /healthz\r\n\r\n'],
  ['another version of HTTP', 'GET /healthz HTTP/2.0\r\nHost: a.example\r\nConnection: close\r\n\r\n'],
])('%s is refused', async (_, bytes) => {
  needs('socket of its own')
  expect(await sent(bytes)).toMatch(/^HTTP\/1.1 400 /)
})

test('headers that are not completed end the connection', async () => {
  needs('socket of its own')
  expect(await sent('GET /healthz HTTP/1.1\r\nHost: a.example\r\n')).toMatch(/^HTTP\/1.1 408 /)
}, 25_000)

test('only the user of the service can read its files', async () => {
  needs('folder of data')
  // A mailbox that cannot be reached: its addresses are kept in a file.
  const own = await testHost({ TILDE_IMAP_URL: 'imaps://desk:password@127.0.0.1:9' })
  await own.request('POST', '/~private/Contact', { name: 'Ada' })
  await own.request('PUT', '/~private/inbox', { addresses: ['ada@example.org'] })
  const files = readdirSync(own.data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

  const open = files.filter(({ parentPath, name }) => (statSync(join(parentPath, name)).mode & 0o077) !== 0)
  await own.stop()
  expect(open.map(({ name }) => name)).toEqual([])
  expect(files.map(({ name }) => name)).toContain('mail-addresses.db')
})

test('files that others could read become private when the service opens them', async () => {
  needs('folder of data')
  const data = mkdtempSync(join(tmpdir(), 'tildebase-modes-'))
  const files = () => readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const databases = () => files().filter(({ name }) => /\.db(-wal|-shm)?$/.test(name))
  const before = await testHost({}, { data })
  await before.request('POST', '/~older/Contact', { name: 'Ada' })
  await before.stop()
  for (const { parentPath, name } of databases()) chmodSync(join(parentPath, name), 0o644)

  const after = await testHost({}, { data })
  expect((await after.request('GET', '/~older/Contact')).body.results).toHaveLength(1)

  const open = databases().filter(({ parentPath, name }) => (statSync(join(parentPath, name)).mode & 0o077) !== 0)
  expect(open.map(({ name }) => name)).toEqual([])
  expect(databases().map(({ name }) => name)).toEqual(expect.arrayContaining(['alarms.db', 'operator.db']))
  await after.stop()
  rmSync(data, { recursive: true, force: true })
})

test.each([
  ['a client', {}, 'http:'],
  ['a proxy of the operator', { TILDE_PROXIES: '127.0.0.1' }, 'https:'],
])('only the proxies of the operator say that a client uses TLS: %s', async (_, settings, expected) => {
  needs('socket of its own')
  const behind = await testHost(settings)

  const { body } = await behind.request('POST', '/~acme/Contact', { name: 'Ada' }, { 'x-forwarded-proto': 'https' })
  await behind.stop()

  expect(new URL(body.$context).protocol).toBe(expected)
})

test('the message about a name of a node says the rule', () => {
  const settings = (name: string) => () => readSettings({ 'node-name': name }, { TILDE_CLUSTER: 'postgres://x' })

  expect(settings('C')).toThrow(/lower-case letters.*C does not/)
  expect(settings('c')).not.toThrow()
})
