import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { EventSource } from 'eventsource'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

const EVENTS = 300
/** After so many bytes the line is cut, again and again. */
const CUT_AFTER = 4_000

let host: TestHost

beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** A line to the host that breaks off after some bytes of an answer. */
async function brittleLine(): Promise<{
  readonly url: string
  readonly cuts: () => number
  readonly close: () => void
}> {
  const { port } = new URL(host.url)
  let cuts = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const service = connect(Number(port), '127.0.0.1')
    let bytes = 0
    for (const socket of [client, service]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(service)
    service.on('data', (part) => {
      bytes += part.length
      client.write(part)
      if (bytes < CUT_AFTER) return
      cuts++
      client.destroy()
      service.destroy()
    })
    service.on('end', () => client.end())
    client.on('close', () => service.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, cuts: () => cuts, close }
}

test('an EventSource has each event once and in order, though its line breaks again and again', async () => {
  const line = await brittleLine()
  await host.request('POST', '/~judge/Contact', { name: 'First' })
  const source = new EventSource(`${line.url}/~judge/events?since=2000-01-01T00:00:00Z`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${ROOT}` } }),
  })
  const seen: number[] = []
  const hear = ({ data }: { readonly data: string }) => seen.push(JSON.parse(data).seq)
  source.addEventListener('message', hear)
  source.addEventListener('Contact.created', hear)

  for (let i = 2; i <= EVENTS; i++) await host.request('POST', '/~judge/Contact', { name: `Contact ${i}` })
  await expect.poll(() => seen.at(-1), { timeout: 100_000 }).toBe(EVENTS)
  source.close()
  line.close()

  expect(seen).toEqual(Array.from({ length: EVENTS }, (_, i) => i + 1))
  expect(line.cuts()).toBeGreaterThan(3)
})
