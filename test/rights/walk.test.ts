import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../packages/server/src/doors/route-table.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { HIDDEN_VALUE, MARK, type Planted, plant, ROWS, TENANT } from './planted.ts'
import { PROBES, type Probe, probesOf } from './probes.ts'

let app: TestApp
let planted: Planted
const keys: Record<string, string> = {}
/** `npm run test:long` walks as people, too: the rights of a role are those of a key. */
const PEOPLE = process.env.TILDE_CALLERS === 'all' ? ['a person with a narrowed role', 'a person who proposes'] : []
/** What each kind of caller sends. */
const callers: Record<string, Record<string, string>> = { unknown: {} }
/** The planted rows as the operator sees them, before the walk. */
let before: string

beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
  planted = await plant(app)
  keys.narrowed = await app.key(TENANT, 'admin:all', { filter: ROWS })
  keys['of an area'] = await app.key(TENANT, 'admin:billing')
  keys['without scopes'] = await app.key(TENANT, '')
  for (const [kind, key] of Object.entries(keys)) callers[`a key that is ${kind}`] = { authorization: `Bearer ${key}` }
  callers['a key of another tenant'] = { authorization: `Bearer ${await app.key('elsewhere', 'admin:all')}` }
  if (PEOPLE.length > 0) {
    callers['a person with a narrowed role'] = await signedIn('Clerk', 'admin:all')
    callers['a person who proposes'] = await signedIn('Trainee', 'propose:all')
  }
  before = await hiddenRows()
})
afterAll(() => app.stop())

verifies('rights.walk', 'the walk knows every route, and no route that does not exist', () => {
  const known = routes.all.map(({ method, path }) => `${method} ${path}`)

  expect(Object.keys(PROBES).filter((route) => !known.includes(route))).toEqual([])
  expect(routes.all.filter((route) => probesOf(route, planted).length === 0)).toEqual([])
})

/** A person with a role that is narrowed to the visible rows. */
async function signedIn(role: string, scopes: string): Promise<Record<string, string>> {
  const send = async (method: string, path: string, body: object) => {
    const reply = await app.request(method, `/~${TENANT}${path}`, body)
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.text}`)
    return reply.body
  }
  await send('PUT', `/schema/roles/${role}`, { scopes, filter: ROWS })
  const { $id } = await send('POST', '/User', { name: role, email: `${role}@walk.example`, role })
  const { invitation } = await send('POST', `/User/${$id}/invite`, {})
  const accepted = await app.fetch(`/~${TENANT}/invitation/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: invitation.split('#')[1], password: 'a long enough password' }),
  })
  const { csrf } = (await accepted.json()) as { csrf: string }
  return { cookie: accepted.headers.get('set-cookie')!.split(';', 1)[0]!, 'x-tilde-csrf': csrf }
}

describe.each([
  'a key that is narrowed',
  'a key that is of an area',
  'a key that is without scopes',
  'a key of another tenant',
  'unknown',
  ...PEOPLE,
])('a caller: %s', (kind) => {
  test.each(routes.all)('$method $path answers with nothing that it may not see', async (route) => {
    for (const probe of probesOf(route, planted)) {
      const text = await answerTo(callers[kind]!, probe)
      const asked = JSON.stringify(probe)
      const ids = planted.secretIds.filter((id) => text.includes(id) && !asked.includes(id))
      // What the sender wrote itself may come back in a message.
      const echo = asked.includes(MARK)

      expect({ asked, found: echo ? text.replaceAll(MARK, '').match(/HIDDEN-\w+ \w+/) : text.includes(MARK) }).toEqual({
        asked,
        found: echo ? null : false,
      })
      expect({ asked, value: text.includes(String(HIDDEN_VALUE)), ids }).toEqual({ asked, value: false, ids: [] })
    }
  })
})

test('counts cover visible rows only', async () => {
  const send = app.as(keys.narrowed!)
  const count = async (path: string) => (await send('GET', `/~${TENANT}${path}`)).body
  const everything = (await app.request('GET', `/~${TENANT}/export/Contact?format=json`)).body
  const visible = everything.filter(({ title }: any) => title === 'mine').length
  const events = (await send('GET', `/~${TENANT}/export/Event?format=json`)).body

  expect((await count('/Contact')).total).toBe(visible)
  expect((await count('/Contact/count')).count).toBe(visible)
  expect((await count('/Contact/aggregate')).total).toBe(visible)
  expect((await count('/Event/count')).count).toBe(events.length)
  expect((await count('/Event')).total).toBe(events.length)
  expect((await count('/metrics')).pipeline).toMatchObject({ totalDeals: 1, totalValue: 10 })
  expect((await count('/status')).entities).not.toHaveProperty('Contact')
  expect((await app.as(keys['without scopes']!)('GET', `/~${TENANT}/status`)).body.entities).toEqual({})
})

test('no hidden row was changed, deleted or erased', async () => {
  expect(await hiddenRows()).toBe(before)
})

/** The hidden rows, as the operator reads them. */
async function hiddenRows(): Promise<string> {
  const rows: string[] = []
  for (const [type, id] of Object.entries(planted.hidden)) {
    rows.push((await app.request('GET', `/~${TENANT}/${type}/${id}`)).text)
  }
  return rows.join('\n')
}

/** The whole text of an answer: of a live one, what comes until it is quiet. */
async function answerTo(caller: Record<string, string>, { method, path, body, headers }: Probe): Promise<string> {
  const isLive = headers?.accept === 'text/event-stream'
  const response = await app.fetch(`/~${TENANT}${path}`, {
    method,
    headers: {
      ...caller,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const shown = JSON.stringify([...response.headers])
  if (!isLive || response.status !== 200) return shown + Buffer.from(await response.arrayBuffer()).toString('latin1')
  return shown + (await quiet(response.body!))
}

async function quiet(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  let text = ''
  for (;;) {
    const late = new Promise<null>((done) => setTimeout(done, 100, null))
    const chunk = await Promise.race([reader.read(), late])
    if (chunk === null || chunk.done) break
    text += Buffer.from(chunk.value).toString('utf8')
  }
  await reader.cancel()
  return text
}
