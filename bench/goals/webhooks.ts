import { type ChildProcess, fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { concurrently, stopProcess } from '../compare/process.ts'
import { startServer } from '../hosts/server.ts'
import { print } from './figure.ts'

const RECEIVERS = 10
const EVENTS = 3_000
const AT_ONCE = 16

if (process.argv[2] === 'receiver') receive()

/** The same events to ten webhooks, each with its own receiver. */
export async function webhooks(): Promise<void> {
  const receiver = fork(import.meta.filename, ['receiver'])
  const { ports } = await said<{ ports: number[] }>(receiver)
  const server = await startServer(0, { TILDE_WEBHOOKS_INSECURE: '1' })
  const post = async (path: string, body: object) => {
    const status = await server.ask('POST', `/~bench${path}`, body)
    if (status !== 201) throw new Error(`A write was answered with ${status}.`)
  }
  try {
    for (const port of ports) await post('/webhooks', { url: `http://127.0.0.1:${port}/`, events: ['Contact.created'] })
    const round = async () => {
      const [begun, before] = [performance.now(), server.cpu()]
      receiver.send({ count: EVENTS * RECEIVERS })
      const delivered = said(receiver)
      await concurrently(EVENTS, AT_ONCE, (i) => post('/Contact', { name: `many ${i}` }))
      await delivered
      const count = EVENTS * RECEIVERS
      return { rate: (count * 1_000) / (performance.now() - begun), each: (server.cpu() - before) / count }
    }
    await round()
    const { rate, each } = await round()
    const more = `${(each * 1_000).toFixed(0)} µs of CPU time each, a tenth of a write included`
    print({ text: `deliveries to ${RECEIVERS} receivers`, unit: '/s', atLeast: 5_000 }, rate, more)
  } finally {
    await stopProcess(receiver, 'SIGKILL')
    await server.stop()
  }
}

function said<T>(receiver: ChildProcess): Promise<T> {
  return new Promise((done) => receiver.once('message', done as (message: unknown) => void))
}

/** The receivers' own process: each has a port and acknowledges everything. */
function receive(): void {
  let left = 0
  process.on('message', ({ count }: { count: number }) => {
    left = count
  })
  const servers = Array.from({ length: RECEIVERS }, () =>
    createServer((request, response) => {
      request.resume()
      request.on('end', () => {
        response.writeHead(204).end()
        if (--left === 0) process.send!({ done: true })
      })
    }),
  )
  const listening = servers.map(
    (server) =>
      new Promise<number>((done) => server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port))),
  )
  Promise.all(listening).then((ports) => process.send!({ ports }))
}
