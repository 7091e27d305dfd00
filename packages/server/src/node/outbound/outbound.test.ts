import { execFileSync } from 'node:child_process'
import dns from 'node:dns'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whyNot } from '../../../../../test/needs.ts'
import { Receiver } from '../../../../../test/receiver.ts'
import { verifies } from '../../../../../test/verifies.ts'
import { isPublic } from './addresses.ts'
import { createOutbound } from './outbound.ts'
import { Connections, createConnect } from './outbound-connections.ts'

const CLOSED = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'not an address',
]
const OPEN = [
  '8.8.8.8',
  '1.1.1.1',
  '100.63.0.1',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
]

describe('addresses', () => {
  test.each(CLOSED)('%s is not public', (address) => expect(isPublic(address)).toBe(false))
  test.each(OPEN)('%s is public', (address) => expect(isPublic(address)).toBe(true))
})

const request = { headers: {}, body: '{}', timeoutMs: 30_000 }

describe('a guarded outbound', () => {
  const guarded = createOutbound({ insecure: false })

  verifies('webhook.address', 'sends to no address that is not public, whatever its spelling', async () => {
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
      '10.0.0.1',
      '[fd00::1]',
      '[64:ff9b::a9fe:a9fe]',
      '0',
    ]) {
      const answer = await guarded.send({ ...request, url: `https://${host}/` })
      expect([host, answer]).toEqual([host, { error: expect.stringContaining('is not public') }])
    }
  })

  verifies('webhook.address.connection', 'looks at what a name leads to when it connects', async () => {
    const receiver = await Receiver.start()

    const answer = await guarded.send({ ...request, url: `https://localhost:${receiver.port}/` })
    await receiver.stop()

    expect(answer).toEqual({ error: expect.stringContaining('is not public') })
    expect(receiver.requests).toHaveLength(0)
  })

  test('sends to no name whose address is not public', async () => {
    const receiver = await Receiver.start()
    const { lookup } = dns
    const connected: string[] = []
    // A name of the public DNS that leads to this machine.
    dns.lookup = ((name: string, options: object, done: (...found: unknown[]) => void) => {
      connected.push(name)
      lookup('127.0.0.1', options, done)
    }) as typeof lookup
    syncBuiltinESMExports()

    const answer = await guarded.send({ ...request, url: `https://receiver.example:${receiver.port}/` })
    dns.lookup = lookup
    syncBuiltinESMExports()
    await receiver.stop()

    expect(answer).toEqual({ error: expect.stringContaining('is not public') })
    expect(connected).toEqual(['receiver.example'])
  })

  test('sends by https only', async () => {
    expect(await guarded.send({ ...request, url: 'http://8.8.8.8/' })).toEqual({ error: 'Only https is allowed.' })
  })
})

verifies('webhook.insecure', 'insecure mode lifts both rules', async () => {
  const receiver = await Receiver.start()

  const answer = await createOutbound({ insecure: true }).send({ ...request, url: receiver.url })
  await receiver.stop()

  expect(answer).toEqual({ status: 204 })
})

verifies('webhook.address', 'an address that cannot be asked is an error, in both modes', async () => {
  const asked = { headers: {}, body: '', timeoutMs: 1_000 }
  const errors = await Promise.all(
    [true, false].map(async (insecure) => {
      const outbound = createOutbound({ insecure })
      const urls = ['https://%ff:x@example.org/', 'file:///etc/passwd']
      const sent = await Promise.all(urls.map((url) => outbound.send({ ...asked, url })))
      expect(urls.map((url) => ({ error: outbound.refuses!(url) }))).toEqual(sent)
      return sent
    }),
  )

  const encoded = { error: 'The user or the password in the address is not percent-encoded.' }
  expect(errors).toEqual([
    [encoded, { error: 'Only http and https are allowed.' }],
    [encoded, { error: 'Only https is allowed.' }],
  ])
})

test('a request has the host, the credentials of its address and its own headers', async () => {
  const receiver = await Receiver.start()
  const outbound = createOutbound({ insecure: true })
  const { host } = new URL(receiver.url)
  const url = receiver.url.replace('//', '//ada:p%40ss@')

  const answers = [
    await outbound.send({ ...request, url, headers: { 'x-one': '1', 'content-type': 'text/plain' }, body: '"é"' }),
    await outbound.send({ ...request, url: receiver.url }),
  ]
  await receiver.stop()

  expect(answers).toEqual([{ status: 204 }, { status: 204 }])
  const [first, second] = receiver.requests
  expect(first).toMatchObject({
    path: '/hook',
    text: '"é"',
    headers: {
      host,
      authorization: `Basic ${btoa('ada:p@ss')}`,
      'x-one': '1',
      'content-type': 'text/plain',
      'content-length': '4',
      connection: 'keep-alive',
    },
  })
  expect(second!.headers).not.toHaveProperty('authorization')
})

test('a kept connection that the other side has closed meanwhile is not a failure', async () => {
  const receiver = await Receiver.start()
  const outbound = createOutbound({ insecure: true })
  await outbound.send({ ...request, url: receiver.url })
  let resets = 0
  receiver.answer((_, response) => {
    if (resets++ === 0) response.destroy()
    else response.writeHead(204).end()
  })

  const answer = await outbound.send({ ...request, url: receiver.url })
  await receiver.stop()

  expect([answer, resets]).toEqual([{ status: 204 }, 2])
})

describe('an answer', () => {
  test('with a body leaves its connection for the next request', async () => {
    const receiver = await Receiver.start()
    const outbound = createOutbound({ insecure: true })
    const ports = new Set<number | undefined>()
    receiver.answer((_, response) => {
      ports.add(response.socket?.remotePort)
      response.writeHead(500).end('not now')
    })

    const answers = []
    for (let i = 0; i < 3; i++) answers.push(await outbound.send({ ...request, url: receiver.url, answerLimit: 100 }))
    await receiver.stop()

    expect(answers).toMatchObject(Array(3).fill({ status: 500, text: 'not now' }))
    expect(ports.size).toBe(1)
  })

  test('that is longer than the limit, or breaks off, is an error', async () => {
    const receiver = await Receiver.start()
    const outbound = createOutbound({ insecure: true })
    receiver.answer((_, response) => response.end('x'.repeat(101)))
    const long = await outbound.send({ ...request, url: receiver.url, answerLimit: 100 })
    receiver.answer((_, response) => {
      response.writeHead(200, { 'content-length': '50' }).write('x', () => response.destroy())
    })
    const broken = await outbound.send({ ...request, url: receiver.url, answerLimit: 100 })
    await receiver.stop()

    expect([long, broken]).toEqual(Array(2).fill({ error: 'The answer ended early, or is too long.' }))
  })

  test('that does not come in time is an error, on a new and on a kept connection', async () => {
    const receiver = await Receiver.start()
    const outbound = createOutbound({ insecure: true })
    const late = { error: 'No answer within 50 ms.' }
    receiver.answer(() => {})
    const first = await outbound.send({ ...request, url: receiver.url, timeoutMs: 50 })
    receiver.answer(204)
    await outbound.send({ ...request, url: receiver.url })
    receiver.answer(() => {})
    const second = await outbound.send({ ...request, url: receiver.url, timeoutMs: 50 })
    await receiver.stop()

    expect([first, second]).toEqual([late, late])
    expect(receiver.requests).toHaveLength(3)
  })

  test('after which the other side closes is followed by another connection', async () => {
    const receiver = await Receiver.start()
    const outbound = createOutbound({ insecure: true })
    receiver.answer((_, response) => response.writeHead(204, { connection: 'close' }).end())

    const answers = []
    for (let i = 0; i < 3; i++) answers.push(await outbound.send({ ...request, url: receiver.url }))
    await receiver.stop()

    expect(answers).toEqual(Array(3).fill({ status: 204 }))
    expect(receiver.requests).toHaveLength(3)
  })

  test('after which the other side closes leaves no connection behind', async () => {
    const receiver = await Receiver.start()
    receiver.answer((_, response) => response.writeHead(204, { connection: 'close' }).end())
    const { promise: emptied, resolve } = Promise.withResolvers<void>()
    const connections = new Connections(new URL(receiver.url).origin, createConnect(undefined), resolve)

    expect(await connections.send('/', [], { ...request, url: receiver.url })).toEqual({ status: 204 })
    await emptied
    await receiver.stop()

    expect(connections.isEmpty).toBe(true)
  })
})

const noCertificate = whyNot('openssl')

describe.skipIf(noCertificate)(`by https${noCertificate ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-outbound-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names: unknown[] = []
  const server = createServer((_, response) => response.writeHead(204).end())
  const trusted = getCACertificates('default')

  beforeAll(async () => {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    execFileSync('openssl', [...made, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
    server.setSecureContext({ key: readFileSync(key), cert: readFileSync(certificate) })
    server.on('secureConnection', (socket) => names.push(socket.servername))
    await new Promise<void>((done) => server.listen(0, done))
  })
  afterAll(() => {
    setDefaultCACertificates(trusted)
    server.close()
    rmSync(folder, { recursive: true })
  })

  test('a certificate of an unknown authority or for another name is refused', async () => {
    const { port } = server.address() as AddressInfo
    const outbound = createOutbound({ insecure: true })

    const unknown = await outbound.send({ ...request, url: `https://localhost:${port}/` })
    setDefaultCACertificates([...trusted, readFileSync(certificate, 'utf8')])
    const known = await outbound.send({ ...request, url: `https://localhost:${port}/` })
    const another = await outbound.send({ ...request, url: `https://127.0.0.1:${port}/` })

    expect(unknown).toEqual({ error: expect.stringContaining('certificate') })
    expect(known).toEqual({ status: 204 })
    expect(another).toEqual({ error: expect.stringContaining('altnames') })
    expect(names).toContain('localhost')
  })
})

test('a tenant whose requests to an address are not answered leaves connections for others', async () => {
  const receiver = await Receiver.start()
  const outbound = createOutbound({ insecure: true })
  const open: (() => void)[] = []
  receiver.answer(({ path }, response) => {
    if (path.endsWith('quick')) response.writeHead(204).end()
    else open.push(() => response.writeHead(204).end())
  })
  const from = (owner: string, path: string) =>
    outbound.send({ ...request, url: `${receiver.url}/${path}`, owner, timeoutMs: 30_000 })

  const slow = Array.from({ length: 300 }, () => from('first', 'slow'))
  await receiver.got(128)
  const quick = await from('second', 'quick')
  const openThen = open.length
  const answering = setInterval(() => {
    for (const answer of open.splice(0)) answer()
  }, 5)
  const answers = await Promise.all(slow)
  clearInterval(answering)
  await receiver.stop()

  expect([quick, openThen]).toEqual([{ status: 204 }, 128])
  expect(answers).toEqual(Array(300).fill({ status: 204 }))
})
