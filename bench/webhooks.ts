import { type ChildProcess, fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { concurrently, stopProcess } from './compare/process.ts'
import { type BenchServer, quantile, startServer } from './hosts/server.ts'

/**
 * How fast events reach webhooks, next to the writes that cause them, and what a delivery costs the server.
 * Run it with `node bench/webhooks.ts [workers]`: the server, the receiver and the writers are a process each.
 */
const WORKERS = Number(process.argv[2] ?? 0)
const SINGLE = 200
const MANY = 5_000
const AT_ONCE = 64

if (process.argv[2] === 'receiver') receive()
else await bench()

async function bench(): Promise<void> {
  const receiver = fork(import.meta.filename, ['receiver'])
  const { port } = await told<{ port: number }>(receiver)
  const server = await startServer(WORKERS, { TILDE_WEBHOOKS_INSECURE: '1' })
  try {
    await concurrently(MANY, AT_ONCE, (i) => post(server, '/Contact', { name: `warm ${i}` }))
    const plain = await measure(server, receiver, 0)
    for (const webhooks of [1, 4]) {
      for (let i = webhooks === 1 ? 0 : 1; i < webhooks; i++)
        await post(server, '/webhooks', { url: `http://127.0.0.1:${port}/${i}`, events: ['Contact.created'] })
      if (webhooks === 1) await latencies(server, receiver, 1)
      const { cpu } = await measure(server, receiver, webhooks)
      const each = ((cpu - plain.cpu) / (MANY * webhooks)).toFixed(2)
      console.log(`  ${each} ms of computing per delivery, beside ${(plain.cpu / MANY).toFixed(2)} ms per write`)
    }
    for (let i = 0; i < 50; i++)
      await post(server, '/webhooks', { url: `http://127.0.0.1:${port}/hang`, events: ['Contact.created'] })
    console.log('beside 50 webhooks whose endpoint hangs:')
    await latencies(server, receiver, 4)
  } finally {
    await stopProcess(receiver, 'SIGKILL')
    await server.stop()
  }
}

/** Writes at once what can be written, and waits until the receiver has acknowledged all of it. */
async function measure(server: BenchServer, receiver: ChildProcess, webhooks: number): Promise<{ cpu: number }> {
  const expected = MANY * webhooks
  const [begun, before] = [performance.now(), server.cpu()]
  const delivered = expected > 0 ? awaited(receiver, { count: expected }) : Promise.resolve()
  await concurrently(MANY, AT_ONCE, (i) => post(server, '/Contact', { name: `many ${i}` }))
  const written = performance.now() - begun
  await delivered
  const rate = (count: number, ms: number) => `${Math.round((count * 1_000) / ms)}/s`
  console.log(
    `${webhooks} webhooks, ${WORKERS} workers: ${rate(MANY, written)} writes` +
      (expected > 0 ? `, ${rate(expected, performance.now() - begun)} deliveries acknowledged` : ''),
  )
  return { cpu: server.cpu() - before }
}

/** How long after it was sent a write is delivered everywhere, one at a time. */
async function latencies(server: BenchServer, receiver: ChildProcess, webhooks: number): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < SINGLE; i++) {
    const delivered = awaited(receiver, { count: webhooks })
    const begun = performance.now()
    await post(server, '/Contact', { name: `single ${i}` })
    await delivered
    times.push(performance.now() - begun)
  }
  const [median, late] = [0.5, 0.99].map((part) => quantile(times, part).toFixed(1))
  console.log(`  from a write to its delivery: median ${median} ms, 99th percentile ${late} ms`)
}

async function post(server: BenchServer, path: string, body: object): Promise<void> {
  const status = await server.ask('POST', `/~bench${path}`, body)
  if (status !== 201) throw new Error(`A write was answered with ${status}.`)
}

/** Has the receiver tell when it has acknowledged so many from now on. */
async function awaited(receiver: ChildProcess, question: { readonly count: number }): Promise<void> {
  receiver.send(question)
  await told(receiver)
}

function told<T>(receiver: ChildProcess): Promise<T> {
  return new Promise((done) => receiver.once('message', done as (message: unknown) => void))
}

/** The receiver's own process: acknowledges everything but what comes to /hang. */
function receive(): void {
  let left = 0
  process.on('message', ({ count }: { count: number }) => {
    left = count
  })
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/hang') return
    request.on('end', () => {
      response.writeHead(204).end()
      if (--left === 0) process.send!({ done: true })
    })
  })
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
}
