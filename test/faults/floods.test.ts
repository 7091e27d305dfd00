import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { ask, KEY, startServer } from './server.ts'

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
function opened(text: string, url = host.url): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text, () => done(socket)))
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

test('a sender who goes away is not a fault of ours', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-away-'))
  const server = await startServer(data, { TILDE_LOG: 'requests' })
  let log = ''
  server.process.stderr!.on('data', (chunk) => {
    log += chunk
  })
  const part = 'POST /~acme/Contact HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"na'
  try {
    for (let i = 0; i < 20; i++) (await opened(part, server.url)).destroy()
    while (!log.includes('/~acme/last')) await ask(server.url, 'GET', '/~acme/last')

    expect(log).not.toContain('"level":"error"')
  } finally {
    await server.kill()
    rmSync(data, { recursive: true, force: true })
  }
})

test('idle streams cost little, and each hears of the next event', { timeout: 240_000 }, async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-idle-'))
  // In its own process, which then has one end of every connection and no more.
  const most = String(STREAMS + 1)
  const server = await startServer(data, {
    TILDE_TENANT_POLLS: most,
    TILDE_ADDRESS_SOCKETS: most,
    TILDE_ADDRESS_REQUESTS: most,
  })
  try {
    await ask(server.url, 'POST', '/~acme/Contact', { name: 'Ada' })
    const before = memoryOf(server.process.pid!)
    const streams: Socket[] = []
    const head = `GET /~acme/events?since=now HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nAccept: text/event-stream\r\n\r\n`
    for (let i = 0; i < STREAMS; i += 100)
      streams.push(...(await Promise.all(Array.from({ length: 100 }, () => opened(head, server.url)))))
    const heard = streams.map((socket) => hears(socket, 'Contact.created'))
    await Promise.all(streams.map((socket) => hears(socket, 'text/event-stream')))
    const made = await ask(server.url, 'POST', '/~acme/Contact', { name: 'Bob' })

    expect(made?.status).toBe(201)
    expect((await Promise.all(heard)).filter(Boolean)).toHaveLength(STREAMS)
    if (before !== null) expect((memoryOf(server.process.pid!)! - before) / STREAMS).toBeLessThan(100_000)
  } finally {
    await server.kill()
    rmSync(data, { recursive: true, force: true })
  }
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

/** Whether a word comes over a connection before it ends. */
function hears(socket: Socket, word: string): Promise<boolean> {
  return new Promise((done) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      if (text.includes(word)) done(true)
    })
    socket.on('close', () => done(false))
  })
}

/** The bytes of a process in memory, or null where the system does not tell. */
function memoryOf(pid: number): number | null {
  const path = `/proc/${pid}/status`
  if (!existsSync(path)) return null
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(path, 'utf8'))![1]) * 1_024
}
