import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'

/** How fast events reach a webhook: one at a time, and as many as can be written. Run it with `node bench/webhooks.ts`. */
const KEY = 'bench'
const SINGLE = 200
const MANY = 5_000
const AT_ONCE = 64

const arrivals = new Map<string, number>()
let hung = 0
const receiver = createServer((request, response) => {
  if (request.url === '/hang') return void hung++
  let text = ''
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', () => {
    arrivals.set(JSON.parse(text).data.name, performance.now())
    response.writeHead(204).end()
  })
})
await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
const { port } = receiver.address() as AddressInfo
const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
const env = { TILDE_ROOT_KEY: KEY, TILDE_WEBHOOKS_INSECURE: '1' }
const host = await startHost(readSettings({ port: '0', workers: '0', data }, env))

await plain()
await withWebhook('/well')
console.log('with 50 webhooks beside it whose endpoint hangs:')
for (let i = 0; i < 50; i++) await post('/webhooks', { url: `http://127.0.0.1:${port}/hang`, events: ['*'] })
await measure('hang')
console.log(`  (${hung} deliveries hung)`)
receiver.closeAllConnections()
receiver.close()
await host.stop()
rmSync(data, { recursive: true, force: true })

async function plain(): Promise<void> {
  const ms = await writes('plain', MANY)
  console.log(`without a webhook: ${rate(MANY, ms)} writes/s`)
}

async function withWebhook(path: string): Promise<void> {
  await post('/webhooks', { url: `http://127.0.0.1:${port}${path}`, events: ['Contact.created'] })
  console.log('with one webhook:')
  await measure('one')
}

async function measure(label: string): Promise<void> {
  const latencies: number[] = []
  for (let i = 0; i < SINGLE; i++) {
    await post('/Contact', { name: `${label}-single-${i}` })
    const answered = performance.now()
    await arrived(`${label}-single-${i}`)
    latencies.push(arrivals.get(`${label}-single-${i}`)! - answered)
  }
  latencies.sort((a, b) => a - b)
  const [median, late] = [0.5, 0.95].map((part) => latencies[Math.floor(part * SINGLE)]!.toFixed(1))
  console.log(`  from the answer to the delivery: median ${median} ms, 95th percentile ${late} ms`)
  const began = performance.now()
  const ms = await writes(label, MANY)
  await arrived(`${label}-${MANY - 1}`)
  console.log(
    `  ${rate(MANY, ms)} writes/s, ${rate(MANY, performance.now() - began)} deliveries/s, one after the other`,
  )
}

async function writes(label: string, count: number): Promise<number> {
  const began = performance.now()
  let next = 0
  const writer = async () => {
    while (next < count) await post('/Contact', { name: `${label}-${next++}` })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, writer))
  return performance.now() - began
}

async function arrived(name: string): Promise<void> {
  while (!arrivals.has(name)) await new Promise((done) => setImmediate(done))
}

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(`${host.url}/~bench${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
}

function rate(count: number, ms: number): string {
  return String(Math.round((count / ms) * 1_000))
}
