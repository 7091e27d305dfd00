import { afterAll, beforeAll, expect } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

const COUNT = 10_000
const AT_ONCE = 200
const MINUTES = 60_000

let smtp: TestSmtp
let host: TestHost

beforeAll(async () => {
  smtp = await openSmtp()
  host = await testHost({
    TILDE_SMTP_URL: smtp.url,
    TILDE_SMTP_FROM: 'service@example.org',
    TILDE_WEBHOOKS_INSECURE: '1',
    TILDE_RATE_LIMIT: '0',
  })
})

afterAll(async () => {
  await host.stop()
  await smtp.close()
})

verifies(
  'mail.flood',
  '10,000 messages that come in at once are kept, each once, and another tenant is served meanwhile',
  async () => {
    await host.request('PUT', '/~flood/inbox', { addresses: ['desk@acme.example'], ticket: true })
    const raw = (i: number) =>
      `From: p${i % 1_000}@example.org\r\nTo: desk@acme.example\r\nSubject: ${i}\r\nMessage-ID: <${i}@example.org>\r\n\r\nHelp`
    const type = { 'content-type': 'message/rfc822' }
    const statuses = new Set<number>()
    const refused: number[] = []
    let isDone = false

    const flood = inParallel(COUNT, async (i) => {
      // A service that is busy says so, and the mail server tries again.
      for (;;) {
        const { status } = await host.request('POST', '/~flood/inbox/email', raw(i), type)
        if (status === 201 || status === 200) return
        statuses.add(status)
        await pause(100)
      }
    }).finally(() => {
      isDone = true
    })
    while (!isDone) {
      const { status } = await host.request('POST', '/~quiet/Contact', { name: 'Ada' })
      if (status !== 201) refused.push(status)
      await pause(20)
    }
    await flood

    expect([...statuses].filter((status) => status !== 429 && status !== 503)).toEqual([])
    expect(refused).toEqual([])
    expect(await Promise.all(['Message', 'Contact', 'Ticket'].map(total))).toEqual([COUNT, 1_000, COUNT])
  },
  5 * MINUTES,
)

verifies(
  'mail.flood',
  '10,000 messages that are sent at once arrive, each with an id of its own',
  async () => {
    const draft = (i: number) => ({ channel: 'Email', to: [`p${i}@example.org`], subject: `${i}`, body: 'Hello' })
    for (let from = 0; from < COUNT; from += 100) {
      const numbers = Array.from({ length: 100 }, (_, i) => from + i)
      const created = await batch(numbers.map((i) => ({ path: '/Message', body: draft(i) })))
      await batch(created.map(({ body }) => ({ path: `/Message/${body.$id}/send`, body: {} })))
    }

    await expect.poll(() => smtp.delivered.length, { timeout: 4 * MINUTES, interval: 200 }).toBe(COUNT)

    expect(new Set(smtp.delivered.map(({ mail }) => mail.messageId)).size).toBe(COUNT)
    const sent = encodeURIComponent(JSON.stringify({ direction: 'Out', status: 'Delivered' }))
    await expect.poll(() => total(`Message?filter=${sent}`), { timeout: MINUTES, interval: 200 }).toBe(COUNT)
  },
  10 * MINUTES,
)

async function batch(operations: readonly { path: string; body: object }[]): Promise<{ body: any }[]> {
  const numbered = operations.map((operation, i) => ({ id: `${i}`, method: 'POST', ...operation }))
  const { status, body } = await host.request('POST', '/~flood/batch', { operations: numbered })
  expect(status).toBe(200)
  return body.results
}

async function total(path: string): Promise<number> {
  const { body } = await host.request('GET', `/~flood/${path}${path.includes('?') ? '&' : '?'}limit=1`)
  return body.total
}

async function inParallel(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
