import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { until } from '../receiver.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
const sockets: Socket[] = []
beforeAll(async () => {
  host = await testHost({ TILDE_ANSWER_MEMORY: '160MiB' })
  const note = 'x'.repeat(700_000)
  for (let i = 0; i < 30; i++) await host.request('POST', '/~acme/Contact', { name: `c${i}`, note })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await host.stop()
})

/** Asks for a list, and reads no more than the first bytes of the answer. */
async function askUnread(key: string): Promise<number> {
  const { port } = new URL(host.url)
  const socket = connect(Number(port), '127.0.0.1')
  sockets.push(socket)
  socket.write(`GET /~acme/Contact?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  await once(socket, 'readable')
  return Number(/^HTTP\/1.1 (\d+)/.exec(String(socket.read(16) ?? socket.read()))?.[1])
}

verifies('answers.bounded', 'a key that does not read its answers is refused, and no other key is', async () => {
  const [careless, other] = [await host.key('acme', 'read:all'), await host.key('acme', 'read:all')]
  const statuses: number[] = []

  for (let i = 0; i < 8; i++) statuses.push(await askUnread(careless))

  expect(statuses[0]).toBe(200)
  expect(statuses.at(-1)).toBe(503)
  expect((await host.as(other)('GET', '/~acme/Contact?limit=100')).body.results).toHaveLength(30)
  for (const socket of sockets.splice(0)) socket.destroy()
  await until(async () => (await host.as(careless)('GET', '/~acme/Contact?limit=100')).status === 200)
})
