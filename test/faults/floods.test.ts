import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

const STREAMS = Number(process.env.TILDE_STREAMS ?? 1_000)

let host: TestHost
const sockets: Socket[] = []

beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await host.stop()
})

/** A connection that sends this much and then nothing. */
function opened(text: string): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1', () => socket.write(text, () => done(socket)))
    socket.on('error', failed)
    sockets.push(socket)
  })
}

test('senders that never finish their request do not keep others waiting', async () => {
  await Promise.all(
    Array.from({ length: 300 }, () => opened('GET /~acme/Contact HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')),
  )
  await Promise.all(
    Array.from({ length: 100 }, () =>
      opened('POST /~acme/Contact HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"na'),
    ),
  )

  const replies = await Promise.all(Array.from({ length: 20 }, () => host.request('GET', '/~acme/Contact')))

  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
})

test('idle streams cost little, and each hears of the next event', { timeout: 120_000 }, async () => {
  const ask = `GET /~acme/events?since=now HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ROOT}\r\nAccept: text/event-stream\r\n\r\n`
  const before = process.memoryUsage().rss
  const streams: Socket[] = []
  for (let i = 0; i < STREAMS; i += 100)
    streams.push(...(await Promise.all(Array.from({ length: 100 }, () => opened(ask)))))
  // A stream that has begun to answer is listening.
  await Promise.all(streams.map((socket) => once(socket, 'data')))
  const heard = streams.map(
    (socket) =>
      new Promise<boolean>((done) => {
        let text = ''
        socket.on('data', (chunk) => {
          text += chunk
          if (text.includes('Contact.created')) done(true)
        })
        socket.on('close', () => done(false))
      }),
  )
  const made = await host.request('POST', '/~acme/Contact', { name: 'Bob' })

  expect(made.status).toBe(201)
  expect((await Promise.all(heard)).filter(Boolean)).toHaveLength(STREAMS)
  // Both ends of every connection live in this process.
  expect((process.memoryUsage().rss - before) / STREAMS).toBeLessThan(200_000)
})

test('headers, paths and queries that are too long are refused, and the door stays open', async () => {
  const long = 'x'.repeat(100_000)
  const answers = await Promise.all(
    [`/~acme/Contact?filter=${long}`, `/${long}`, `/~${long}/Contact`].map((path) =>
      host.request('GET', path).catch(() => ({ status: 0 })),
    ),
  )
  const header = await host.request('GET', '/~acme/Contact', undefined, { 'x-long': long }).catch(() => ({ status: 0 }))

  for (const { status } of [...answers, header]) expect([400, 404, 414, 431, 0]).toContain(status)
  expect((await host.request('GET', '/~acme/Contact')).status).toBe(200)
})
