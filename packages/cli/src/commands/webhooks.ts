import type { Call, Command } from '../command.ts'
import { listen } from '../listen.ts'
import { UsageError } from '../usage-error.ts'
import { oneWord } from '../words.ts'

const COLUMNS = ['$id', 'url', 'events', 'status', 'createdAt']

export const command: Command = {
  usage: [
    'webhooks list',
    'webhooks create URL --events PATTERN,…',
    'webhooks delete ID',
    'webhooks deliveries ID',
    'webhooks redeliver ID [--delivery ID]',
    'webhooks rotate ID',
    'webhooks test ID',
    'webhooks listen --forward-to URL',
  ].join('\n'),
  summary: 'manages webhooks, or sends events to a program on this machine as a webhook would',
  flags: {
    events: { type: 'string', help: 'what to send: Contact.created, *.updated, Deal.* or *; with commas' },
    secret: { type: 'string', help: 'the secret to sign with; one is made up unless told' },
    delivery: { type: 'string', help: 'redeliver only this one' },
    'forward-to': { type: 'string', help: 'listen: where to send events' },
  },
  examples: [
    "tilde webhooks create https://example.com/hook --events 'Contact.*'",
    'tilde webhooks deliveries webhook_…',
    "tilde webhooks listen --forward-to http://localhost:3000/hook --events 'Deal.*'",
  ],
  async run(call) {
    const [action = 'list', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`webhooks has ${Object.keys(ACTIONS).join(', ')}, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async list({ link, out }) {
    const page = await link().$.request('GET', '/webhooks', { query: { limit: 100 } })
    out.list(page.results, COLUMNS, page)
  },
  async create(call) {
    const url = oneWord(call, 'the address to send to')
    const events = call.flags.text('events')?.split(',')
    if (!events) throw new UsageError("Say which events: --events 'Contact.*'")
    const webhook = await call.link().$.request('POST', '/webhooks', {
      body: { url, events, secret: call.flags.text('secret') },
    })
    call.out.record(webhook)
    call.out.note('The secret is shown this once: keep it.')
  },
  async delete(call) {
    await ask(call, 'POST', 'delete')
    call.out.note('Deleted.')
  },
  async deliveries(call) {
    const page = await ask(call, 'GET', 'deliveries')
    call.out.list(page.results, Object.keys(page.results[0] ?? {}), page)
  },
  redeliver: async (call) =>
    call.out.record(await ask(call, 'POST', 'redeliver', { deliveryId: call.flags.text('delivery') })),
  async rotate(call) {
    call.out.record(await ask(call, 'POST', 'rotate'))
    call.out.note('The new secret is shown this once. The old one signs alongside for a day.')
  },
  test: async (call) => call.out.record(await ask(call, 'POST', 'test')),
  listen,
}

async function ask(call: Call, method: string, action: string, body: object = {}) {
  const id = encodeURIComponent(oneWord(call, 'the id of a webhook: tilde webhooks list'))
  return call.link().$.request(method, `/webhooks/${id}/${action}`, method === 'POST' ? { body } : {})
}
