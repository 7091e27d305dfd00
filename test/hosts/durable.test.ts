import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, testHost } from '../host.ts'
import { type Received, Receiver, until } from '../receiver.ts'
import { type Stage, stageAt } from './ask.ts'
import { SERVICE, startWorkerd, type Workerd } from './workerd.ts'

const TIMEOUT_MS = 3_000
let workerd: Workerd
let stage: Stage

beforeAll(async () => {
  const variables = {
    TILDE_WEBHOOKS_INSECURE: '1',
    TILDE_WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
    TILDE_WEBHOOK_RETRIES: '300ms',
  }
  workerd = await startWorkerd({ ...SERVICE, variables })
  stage = stageAt(() => workerd.url)
})
afterAll(() => workerd?.stop())

/** The log of a tenant with so many contacts, made on another host. */
async function logOf(contacts: number): Promise<string> {
  const node = await testHost()
  try {
    const rows = Array.from({ length: contacts }, (_, i) => JSON.stringify({ name: `Contact ${i}` })).join('\n')
    await node.request('POST', '/~made/import/Contact', rows, { 'content-type': 'application/x-ndjson' })
    return (await node.request('GET', '/operator/tenants/made/log')).text
  } finally {
    await node.stop()
  }
}

/** Sends the first part of a body, and leaves the rest to be sent. */
function begin(path: string, part: string, length: number, method = 'PUT') {
  const headers = { authorization: `Bearer ${ROOT}`, 'content-length': length, 'content-type': 'application/x-ndjson' }
  const sent = httpRequest(`${workerd.url}${path}`, { method, headers })
  sent.on('error', () => {})
  sent.write(part)
  return sent
}

/** When a tenant's object is to be woken, as workerd keeps it, or null. */
function alarmOf(slug: string): number | null {
  const db = new DatabaseSync(join(workerd.storage, 'TenantObject', 'metadata.sqlite'), { readOnly: true })
  try {
    const row = db.prepare('SELECT scheduled_time / 1000000 AS at FROM _cf_ALARM WHERE actor_name = ?').get(slug)
    return row ? Number(row.at) : null
  } finally {
    db.close()
  }
}

const infoOf = async (slug: string) => (await stage.request('GET', `/operator/tenants/${slug}`)).body

describe('an unknown slug', () => {
  test('creates no database, for any request', async () => {
    // Not the logs next to them: those go when an object is put to rest.
    const files = () =>
      readdirSync(workerd.storage, { recursive: true }).filter((name) => /\.sqlite$/.test(String(name)))
    await stage.request('POST', '/~known/Contact', { name: 'Ada' })
    const before = files()

    for (let i = 0; i < 20; i++) {
      const slug = `unknown-${i}`
      const secret = `tilde_${'x'.repeat(32)}~${slug}`
      expect((await stage.as(secret)('GET', `/~${slug}/Contact`)).status).toBe(401)
      expect((await stage.as(secret)('POST', `/~${slug}/Contact`, { name: 'Ada' })).status).toBe(401)
      expect((await stage.as('')('POST', `/~${slug}/session`, { email: 'a@b.c', password: 'x' })).status).toBe(401)
      expect((await stage.as(secret)('GET', '/~known/Contact')).status).toBe(401)
    }

    expect(files().toSorted()).toEqual(before.toSorted())
  })
})

describe('a restore', () => {
  test('keeps clients out of its slug, and loses nothing that was acknowledged', async () => {
    const log = await logOf(3_000)
    const sent = begin('/operator/tenants/raced/log', log.slice(0, log.length / 2), Buffer.byteLength(log))
    await expect.poll(async () => (await infoOf('raced')).events, { timeout: 60_000 }).toBeGreaterThan(500)

    const written = await stage.request('POST', '/~raced/Contact', { name: 'Eve' })
    const second = await stage.request('PUT', '/operator/tenants/raced/log', log)
    sent.end(log.slice(log.length / 2))
    const [response] = await once(sent, 'response')

    expect([written.status, written.body.error]).toEqual([503, 'restoring'])
    expect([second.status, second.body.error]).toEqual([503, 'restoring'])
    expect(response.statusCode).toBe(201)
    expect((await stage.request('GET', '/~raced/Contact')).body.total).toBe(3_000)
    expect((await stage.request('GET', '/operator/tenants/raced/verify')).body.ok).toBe(true)
  })

  test('loses nothing of a request that was in progress before', async () => {
    const log = await logOf(5)
    const row = `${JSON.stringify({ name: 'Ada' })}\n`
    const sent = begin('/~slowly/import/Contact', row, row.length * 2, 'POST')
    const answered = once(sent, 'response')
    const put = await stage.request('PUT', '/operator/tenants/slowly/log', log)
    sent.end(row)
    const [{ statusCode }] = await answered

    // One of them was first. The other is refused, or is an import into the tenant that was restored.
    const { total } = (await stage.request('GET', '/~slowly/Contact')).body
    expect([
      [503, 200, 2],
      [409, 200, 2],
      [201, 503, 5],
      [201, 200, 7],
    ]).toContainEqual([put.status, statusCode, total])
  })

  test('is refused where a client wrote before, whose write stays', async () => {
    const log = await logOf(5)
    const { body } = await stage.request('POST', '/~taken/Contact', { name: 'Eve' })

    const refused = await stage.request('PUT', '/operator/tenants/taken/log', log)

    expect([refused.status, refused.body.seq]).toEqual([409, 1])
    expect((await stage.request('GET', `/~taken/Contact/${body.$id}`)).status).toBe(200)
  })

  test('that a kill -9 interrupts leaves no half tenant, and continues where it was', async () => {
    const log = await logOf(3_000)
    begin('/operator/tenants/killed/log', log.slice(0, log.length / 2), Buffer.byteLength(log))
    await expect.poll(async () => (await infoOf('killed')).events, { timeout: 60_000 }).toBeGreaterThan(500)
    await workerd.crash()

    const { restoring, events } = await infoOf('killed')
    const written = await stage.request('POST', '/~killed/Contact', { name: 'Eve' })
    const [head, ...lines] = log.trim().split('\n')
    const rest = [JSON.stringify({ ...JSON.parse(head!), after: events }), ...lines.slice(events), '']
    const resumed = await stage.request('PUT', '/operator/tenants/killed/log', rest.join('\n'))

    expect([restoring, written.status]).toEqual([true, 503])
    expect(events).toBeGreaterThan(500)
    expect([resumed.status, resumed.body.events]).toEqual([201, 3_000])
    expect((await stage.request('GET', '/operator/tenants/killed/verify')).body.ok).toBe(true)
    expect((await stage.request('GET', '/~killed/Contact')).body.total).toBe(3_000)
  })

  test('that a kill -9 interrupted can begin again, from a folder', async () => {
    for (let i = 0; i < 30; i++) await stage.request('POST', '/~again/Contact', { name: `Contact ${i}` })
    const log = (await stage.request('GET', '/operator/tenants/again/log')).text
    const tilde = tildeWith({ TILDE_URL: workerd.url, TILDE_ROOT_KEY: ROOT })
    await tilde('backup', 'again', '--to', 'again')
    const some = log.split('\n').slice(0, 11)
    await stage.request('PUT', '/operator/tenants/again-2/log?more=true', `${some.join('\n')}\n`)
    await workerd.crash()

    const restored = await tilde('restore', 'again', '--as', 'again-2', '--json', '--url', workerd.url)

    expect(restored.json).toMatchObject({ tenant: 'again-2', events: 30 })
    expect((await stage.request('GET', '/~again-2/Contact')).body.total).toBe(30)
  })
})

describe('a delivery', () => {
  test('that is in progress when the object dies is repeated without a request', async () => {
    const receiver = await Receiver.start()
    receiver.answer(() => {})
    await stage.request('POST', '/~flying/webhooks', { url: receiver.url, events: ['Contact.created'] })
    await stage.request('POST', '/~flying/Contact', { name: 'Ada' })
    const [{ at }] = (await receiver.got(1)) as [Received]
    // Not the alarm that began it, which is repeated if a crash interrupts it, nor that of other work.
    await until(() => (alarmOf('flying') ?? Number.POSITIVE_INFINITY) > at + TIMEOUT_MS)
    receiver.answer(204)
    await workerd.crash()

    const requests = await receiver.got(2)
    await receiver.stop()

    expect(requests[1]!.body.id).toBe(requests[0]!.body.id)
  })

  test('to hosts that hang holds up no other: four of them at most are asked at once', async () => {
    const hanging = await Promise.all(Array.from({ length: 8 }, () => Receiver.start()))
    const quick = await Receiver.start()
    let asked = 0
    for (const receiver of hanging) receiver.answer(() => void asked++)
    for (const { url } of [...hanging, quick])
      await stage.request('POST', '/~slow/webhooks', { url, events: ['Contact.created'] })

    await stage.request('POST', '/~slow/Contact', { name: 'Ada' })
    await expect.poll(() => asked).toBe(4)
    const askedFirst = asked
    await quick.got(1)
    await stage.request('POST', '/~slow/Contact', { name: 'Bob' })
    await quick.got(2)

    expect(askedFirst).toBe(4)
    await Promise.all([...hanging, quick].map((receiver) => receiver.stop()))
  })
})

describe('people', () => {
  test('sign in after their tenant has moved: both hosts derive the same from a password', async () => {
    const node = await testHost()
    const at = '/~people'
    const { body: user } = await node.request('POST', `${at}/User`, {
      name: 'Ada',
      email: 'a@b.example',
      role: 'Member',
    })
    const { body } = await node.request('POST', `${at}/User/${user.$id}/invite`)
    const password = 'correct horse battery'
    const token = body.invitation.split('#')[1]
    await node.as('')('POST', `${at}/invitation/accept`, { token, password })
    const { text } = await node.request('GET', '/operator/tenants/people/log')
    await node.stop()
    await stage.request('PUT', '/operator/tenants/people/log', text)

    const signIn = (given: string) => stage.as('')('POST', `${at}/session`, { email: 'a@b.example', password: given })

    expect((await signIn(password)).status).toBe(201)
    expect((await signIn('correct horse buttery')).status).toBe(401)
  })
})
