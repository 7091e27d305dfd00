import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { type Browser, person } from '../people/people.ts'
import { Receiver } from '../receiver.ts'
import { speak } from './wire.ts'

const WAITS = { tasks: true, urls: true }
const SECRET = `whsec_${randomBytes(32).toString('base64')}`

let app: TestApp
let admin: Browser
let receiver: Receiver
let agent: ReturnType<TestApp['as']>

beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
  admin = await person(app, 'acme', { email: 'admin@example.com', role: 'Admin' })
  const { access } = await connect(app, admin, 'acme', { asked: { scope: 'read:crm propose:crm' } })
  agent = app.as(access)
  receiver = await Receiver.start()
  receiver.answer(({ body }, response) => response.end(JSON.stringify({ challenge: body.challenge })))
})
afterAll(async () => {
  await receiver.stop()
  await app.stop()
})

test('a whole exchange of an agent is as it was recorded', async () => {
  const lines: string[] = []
  const say = async (method: string, params: Record<string, unknown>, declared: object = WAITS) => {
    const { status: _, jsonrpc: __, id: ___, ...answer } = await speak(agent, 'acme', method, params, declared)
    lines.push(`> ${method} ${JSON.stringify(params)}`, `< ${JSON.stringify(answer, null, 2)}`, '')
    return answer.result
  }
  const delivery = { mode: 'webhook', url: receiver.url, secret: SECRET }
  const subscription = { name: 'Contact.created', arguments: {} }

  await say('server/discover', {})
  await say('events/subscribe', { ...subscription, delivery })
  const code = "await $.Contact.create({ name: 'Grace', email: 'grace@example.com' })"
  const { taskId } = await say('tools/call', { name: 'do', arguments: { code, propose: 'Add Grace' } })
  const { inputRequests } = await say('tasks/get', { taskId })
  const { pathname, search } = new URL(inputRequests.decision.params.url)
  const { text } = await admin.send('GET', pathname + search)
  const [, csrf] = /name="csrf" value="([^"]*)"/.exec(text)!
  await admin.send('POST', pathname + search, `csrf=${csrf}&version=1&decision=approve`, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  await say('tasks/get', { taskId })
  const received = await receiver.got(2)
  lines.push(`> POST of the service to the agent`, JSON.stringify(received[1]!.body, null, 2), '')
  await say('events/unsubscribe', { ...subscription, delivery: { url: receiver.url } })
  await say('resources/list', {}, { apps: true })

  await expect(normal(lines.join('\n'))).toMatchFileSnapshot('exchange.txt')
})

/** The text without what differs with every run. */
function normal(text: string): string {
  const ids = new Map<string, string>()
  return text
    .replace(/(?<=signature=)[\w-]+/g, 'SIGNATURE')
    .replaceAll(SECRET, 'whsec_SECRET')
    .replace(/\bsub_[0-9a-f]{32}\b/g, 'sub_1')
    .replace(/\b(contact|changeset|event|agent|user|apiKey)_[A-Za-z0-9]{10,}\b/g, (id, kind) => {
      if (!ids.has(id)) ids.set(id, `${kind}_${[...ids.values()].filter((one) => one.startsWith(kind)).length + 1}`)
      return ids.get(id)!
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/127\.0\.0\.1:\d+/g, 'host')
    .replace(/"cursor": "\d+"/g, '"cursor": "POSITION"')
}
