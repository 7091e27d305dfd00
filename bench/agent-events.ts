import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KEY, quantile, startServer } from './hosts/server.ts'

/**
 * How long after a write its signed event reaches the subscription of an agent.
 * Run it with `npm run bench -- agent-events [workers]`: the server is a process of its own.
 */
const WORKERS = Number(process.argv[2] ?? 0)
const WARM = 300
const COUNT = 1_000

const waiting = new Map<string, (at: number) => void>()
const receiver = createServer(async (request, response) => {
  const at = performance.now()
  const { challenge, data } = JSON.parse(await textOf(request))
  response.end(JSON.stringify({ challenge }))
  if (data) waiting.get(data.name)?.(at)
})
await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
const server = await startServer(WORKERS, { TILDE_WEBHOOKS_INSECURE: '1' })
try {
  await write('first')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await subscribe({ name: 'Contact.created', arguments: {}, delivery: { mode: 'webhook', url, secret } })
  for (let i = 0; i < WARM; i++) await delivered(`warm ${i}`)
  const times: number[] = []
  for (let i = 0; i < COUNT; i++) times.push(await delivered(`measured ${i}`))
  const [median, high] = [0.5, 0.99].map((part) => quantile(times, part).toFixed(1))
  console.log(`${COUNT} writes, ${WORKERS} workers: median ${median} ms, p99 ${high} ms from request to delivery`)
} finally {
  receiver.closeAllConnections()
  receiver.close()
  await server.stop()
}

/** Writes a contact and gives the milliseconds until its event has arrived. */
async function delivered(name: string): Promise<number> {
  const arrival = new Promise<number>((done) => waiting.set(name, done))
  const begun = performance.now()
  await write(name)
  const took = (await arrival) - begun
  waiting.delete(name)
  return took
}

async function write(name: string): Promise<void> {
  const { status } = await send('/Contact', { name })
  if (status !== 201) throw new Error(`The write returned ${status}.`)
}

async function subscribe(params: object): Promise<void> {
  const meta = 'io.modelcontextprotocol'
  const _meta = { [`${meta}/protocolVersion`]: '2026-07-28', [`${meta}/clientCapabilities`]: {} }
  const method = 'events/subscribe'
  const response = await send(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, accept: 'application/json' },
  )
  const { result } = (await response.json()) as { result?: object }
  if (!result) throw new Error(`The subscription returned ${response.status}.`)
}

function send(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/~bench${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
