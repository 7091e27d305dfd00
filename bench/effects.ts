import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KEY, quantile, startServer } from './hosts/server.ts'

/**
 * E-mails in, requests of workflows, and many waiting runs, in one tenant.
 * Run it with `npm run bench -- effects [mail|requests|waiting]`: the server is a process of its own. Figures with the CPU
 * time of the server per piece, which other work on the machine changes little.
 */
const ONLY = process.argv[2]
const MAILS = Number(process.env.MAILS ?? 10_000)
const REQUESTS = Number(process.env.REQUESTS ?? 10_000)
const WAITING = Number(process.env.WAITING ?? 100_000)
const AT_ONCE = 64

const env = { TILDE_WEBHOOKS_INSECURE: '1', TILDE_AUTOMATION_RATE: '0', TILDE_RATE_LIMIT: '0' }
const server = await startServer(1, env)
let requests = 0
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    requests++
    response.end('{}')
  })
})
await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
try {
  if (ONLY === undefined || ONLY === 'mail') await mails()
  if (ONLY === undefined || ONLY === 'requests') await requested()
  if (ONLY === undefined || ONLY === 'waiting') await waited()
} finally {
  receiver.closeAllConnections()
  receiver.close()
  await server.stop()
}

/** Ten thousand messages at once, of a thousand people; every second one answers an earlier one. */
async function mails(): Promise<void> {
  await json('PUT', '/~mail/inbox', { addresses: ['desk@acme.example'], ticket: true })
  const raw = (i: number) => {
    const thread = i % 2 === 1 ? `In-Reply-To: <${i - 1}@example.org>\r\n` : ''
    const head = `From: P${i % 1_000} <p${i % 1_000}@example.org>\r\nTo: desk@acme.example\r\nSubject: Help ${i >> 1}\r\n`
    const type = 'MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n'
    const text =
      '--b\r\nContent-Type: text/plain\r\n\r\nIt leaks.\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>It leaks.</p>\r\n--b--'
    return `${head}Message-ID: <${i}@example.org>\r\n${thread}${type}\r\n${text}`
  }
  await measured('e-mails', MAILS, async () => {
    await inParallel(MAILS, async (i) => {
      const status = await server.ask('POST', '/~mail/inbox/email', raw(i), 'message/rfc822')
      if (status !== 201) throw new Error(`An e-mail returned ${status}.`)
    })
  })
  const [messages, tickets, contacts] = await Promise.all(
    ['Message', 'Ticket', 'Contact'].map((type) => total('mail', type)),
  )
  console.log(`  kept: ${messages} messages, ${tickets} tickets, ${contacts} contacts`)
}

async function requested(): Promise<void> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const request = { method: 'POST', url, body: { name: '$event.data.name' } }
  // All runs wait for one moment: what is measured begins with their requests.
  const moment = Date.now() + 5_000 + REQUESTS
  await workflow('requests', [{ until: new Date(moment).toISOString() }, { request }])
  await contacts('requests', REQUESTS)
  if (Date.now() > moment - 2_000) throw new Error('The runs began before all of them waited.')
  await new Promise((done) => setTimeout(done, moment - Date.now()))
  await measured('requests of workflows', REQUESTS, async () => {
    while (requests < REQUESTS) await new Promise((done) => setTimeout(done, 20))
  })
}

async function waited(): Promise<void> {
  await contacts('waiting', 10)
  const before = await gets()
  await workflow('waiting', [{ wait: '30d' }])
  await measured('runs that begin to wait', WAITING, async () => {
    await contacts('waiting', WAITING)
    for (;;) {
      const { results } = await json('GET', '/~waiting/Workflow')
      const { total: waiting } = await json('GET', `/~waiting/Workflow/${results[0].$id}/runs?status=Waiting&limit=1`)
      const { results: newest } = await json('GET', `/~waiting/Workflow/${results[0].$id}/runs?limit=1`)
      if (waiting === WAITING && newest[0].nextAttemptAt !== null) break
      await new Promise((done) => setTimeout(done, 500))
    }
  })
  await new Promise((done) => setTimeout(done, 5_000))
  const cpu = server.cpu()
  await new Promise((done) => setTimeout(done, 10_000))
  console.log(`  CPU in 10 s of rest: ${Math.round(server.cpu() - cpu)} ms`)
  console.log(`  get, median and p99: ${before} without, ${await gets()} with ${WAITING} waiting runs`)
}

async function gets(): Promise<string> {
  const { results } = await json('GET', '/~waiting/Contact?limit=1')
  const times: number[] = []
  const cpu = server.cpu()
  for (let i = 0; i < 2_000; i++) {
    const begun = performance.now()
    await server.ask('GET', `/~waiting/Contact/${results[0].$id}`)
    times.push(performance.now() - begun)
  }
  const [median, high] = [0.5, 0.99].map((part) => quantile(times, part).toFixed(2))
  return `${median}/${high} ms (${((server.cpu() - cpu) / 2_000).toFixed(2)} ms CPU)`
}

async function workflow(tenant: string, steps: object[]): Promise<void> {
  const draft = { name: 'w', triggerEvent: 'Contact.created', steps }
  const { $id } = await json('POST', `/~${tenant}/Workflow`, draft)
  await json('POST', `/~${tenant}/Workflow/${$id}/activate`, {})
}

/** Creates contacts by imports, each of one commit or a few. */
async function contacts(tenant: string, count: number): Promise<void> {
  for (let begun = 0; begun < count; begun += 10_000) {
    const length = Math.min(10_000, count - begun)
    const rows = Array.from({ length }, (_, i) => JSON.stringify({ name: `Contact ${begun + i}` }))
    const status = await server.ask('POST', `/~${tenant}/import/Contact`, rows.join('\n'), 'application/x-ndjson')
    if (status !== 200) throw new Error(`An import returned ${status}.`)
  }
}

async function measured(what: string, count: number, work: () => Promise<void>): Promise<void> {
  const [begun, cpu] = [performance.now(), server.cpu()]
  await work()
  const [ms, used] = [performance.now() - begun, server.cpu() - cpu]
  console.log(`${count} ${what}: ${Math.round((count * 1_000) / ms)}/s, ${(used / count).toFixed(2)} ms CPU each`)
}

async function inParallel(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

async function total(tenant: string, type: string): Promise<number> {
  return (await json('GET', `/~${tenant}/${type}?limit=1`)).total
}

async function json(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${server.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const value = await response.json()
  if (response.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(value).slice(0, 300)}`)
  return value
}
