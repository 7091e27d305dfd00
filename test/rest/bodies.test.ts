import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY, type Server, startServer } from '../faults/server.ts'
import { verifies } from '../verifies.ts'

const data = mkdtempSync(join(tmpdir(), 'tildebase-bodies-'))
// In its own process: two ends of a connection that share a thread never meet in the middle.
let server: Server
beforeAll(async () => {
  server = await startServer(data, { TILDE_BODY_TIMEOUT: '2s' })
})
afterAll(async () => {
  await server.kill()
  rmSync(data, { recursive: true, force: true })
})

async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

function head(path: string, ...more: string[]): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${KEY}`, ...more]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** What comes until the other side closes the connection. */
async function heard(socket: Socket): Promise<{ status: number; headers: string; body: any }> {
  let text = ''
  for await (const chunk of socket) text += chunk
  const [headers = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), headers, body: JSON.parse(body) }
}

describe('a body that is too large', () => {
  verifies(['limit.body', 'limit.status'], 'is answered also to a client that first sends all of it', async () => {
    const size = 40 * 1_048_576
    const socket = await connected()
    await sent(socket, head('/~acme/Contact', `Content-Length: ${size}`, 'Connection: close', 'Origin: https://a.page'))
    for (let n = 0; n < size / 1_048_576; n++) await sent(socket, 'x'.repeat(1_048_576))

    const { status, headers, body } = await heard(socket)

    expect([status, body.error, body.limit]).toEqual([413, 'too_large', 10_485_760])
    expect(headers).toMatch(/access-control-allow-origin: \*/i)
  })

  test.each([
    ['values', '[],'.repeat(400_000), 1_500_000],
    ['names', `{${Array.from({ length: 21_000 }, (_, n) => `"k${n}":1`).join(',')}},`, 20_000],
  ])('is refused for its many %s before it is parsed', async (what, values, limit) => {
    const refused = await fetch(`${server.url}/~acme/Contact`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: `{"name": "Ada", "notes": [${values}1]}`,
    })

    expect(refused.status).toBe(413)
    expect(await refused.json()).toMatchObject({ error: 'too_large', limit, message: expect.stringContaining(what) })
  })

  test('is answered to one that does not say how large it is', async () => {
    const socket = await connected()
    await sent(socket, head('/~acme/Contact', 'Transfer-Encoding: chunked', 'Connection: close'))
    for (let n = 0; n < 40; n++) await sent(socket, `100000\r\n${'x'.repeat(1_048_576)}\r\n`)
    await sent(socket, '0\r\n\r\n')

    expect((await heard(socket)).status).toBe(413)
  })
})

describe('a body that does not continue', () => {
  test.each([
    ['of an entity', '/~acme/Contact', 'application/json', '{"na'],
    ['of an import', '/~acme/import/Contact', 'application/x-ndjson', '{"name":"Ada"}\n{"na'],
  ])('%s is answered 408, and the connection closed', async (_, path, type, begun) => {
    const socket = await connected()
    socket.write(head(path, `Content-Type: ${type}`, 'Content-Length: 1000') + begun)

    const { status, headers, body } = await heard(socket)

    expect([status, body.error]).toEqual([408, 'body_timeout'])
    expect(body.requestId).toMatch(/./)
    expect(headers).toMatch(/connection: close/i)
  })

  test('is waited for as long as it does continue', async () => {
    const socket = await connected()
    socket.write(
      head(
        '/~slow/import/Contact',
        'Content-Type: application/x-ndjson',
        'Transfer-Encoding: chunked',
        'Connection: close',
      ),
    )
    for (let n = 0; n < 6; n++) {
      socket.write(`400\r\n{"name":"${'A'.repeat(1_012)}"}\n\r\n`)
      await wait(500)
    }
    socket.write('0\r\n\r\n')

    expect((await heard(socket)).body).toMatchObject({ success: true, imported: 6 })
  })
})

describe('what is not a request', () => {
  const noRequests = [
    ['is not HTTP', 'HELLO\r\n\r\n', 400, 'invalid_request'],
    ['has letters in its path that must be escaped', 'GET /~\xe9 HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'invalid_request'],
    ['has a longer path than is read', `GET /${'x'.repeat(70_000)} HTTP/1.1\r\n\r\n`, 431, 'header_too_large'],
  ] as const

  verifies(['error.shape', 'error.requestId'], 'is refused in the form of every other refusal', async () => {
    for (const [, text, status, error] of noRequests) {
      const socket = await connected()
      socket.write(text, 'latin1')

      const reply = await heard(socket)

      expect([reply.status, reply.body.error]).toEqual([status, error])
      expect(reply.headers).toContain(`x-request-id: ${reply.body.requestId}`)
    }
  })

  test('is not answered into an answer in progress', async () => {
    const socket = await connected()
    const request = head('/~acme/Contact').replace('POST /~acme/Contact', 'GET /~acme/events?since=now')
    socket.write(request.replace('Host', 'Accept: text/event-stream\r\nHost'))
    let text = String((await once(socket, 'data'))[0])
    socket.write('HELLO\r\n\r\n')
    for await (const chunk of socket) text += chunk

    expect(text.match(/HTTP\/1.1/g)).toHaveLength(1)
  })

  test('is not what names the whole address, as a proxy does', async () => {
    const socket = await connected()
    socket.write(`${head(`${server.url}/~proxied/Contact`, 'Content-Length: 2', 'Connection: close')}{}`)

    expect((await heard(socket)).body.error).toBe('validation_error')
  })

  verifies('limit.filter', 'does not apply to a long filter in the path', async () => {
    const filter = { $or: Array.from({ length: 800 }, () => ({ leadScore: { $gt: 100 } })) }
    const reply = await fetch(`${server.url}/~acme/Contact?filter=${encodeURIComponent(JSON.stringify(filter))}`, {
      headers: { authorization: `Bearer ${KEY}` },
    })

    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_filter', limit: 500 })
  })
})

/** Done when the text has been handed to the system. */
function sent(socket: Socket, text: string): Promise<void> {
  return new Promise((done, failed) => socket.write(text, (fault) => (fault ? failed(fault) : done())))
}
