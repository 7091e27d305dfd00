import type { TestApp } from '../host.ts'

/** A string that only hidden rows hold: in the present, in the past, in events. */
export const MARK = 'HIDDEN-7f3a'
/** A number that only hidden rows hold. */
export const HIDDEN_VALUE = 987_654_321

export const TENANT = 'walk'

/** What was planted, by what a narrowed key may see of it. */
export interface Planted {
  readonly visible: { readonly [type: string]: string }
  readonly hidden: { readonly [type: string]: string }
  /** Ids that no answer may contain, unless the request named them. */
  readonly secretIds: readonly string[]
  readonly correlation: string
  readonly webhook: string
  readonly hiddenWebhook: string
  /** A run of the visible workflow for a hidden contact, and the event that it ran for. */
  readonly run: string
  readonly hiddenEvent: string
  /** Proposed by a key with the same filter, about a row that was hidden afterwards. */
  readonly changeset: string
  /** A task of the operator. */
  readonly task: string
  readonly hiddenChangesets: readonly string[]
}

/** The rows that a narrowed key may see: those whose owner field says so. */
export const ROWS = {
  Contact: { title: 'mine' },
  Organization: { website: 'mine' },
  Deal: { description: 'mine' },
  Ticket: { source: 'Email' },
  Metric: { description: 'mine' },
  FeatureFlag: { description: 'mine' },
  Funnel: { description: 'mine' },
  Event: { $or: [{ type: 'verb' }, { name: 'mine' }] },
  Webhook: { description: 'mine' },
  Workflow: { description: 'mine' },
  Asset: { license: 'mine' },
}

/** The content of the hidden file. */
export const HIDDEN_CONTENT = `${MARK} content`

/** Fills a tenant with visible and hidden rows of several types, with a past that was hidden, and with events. */
export async function plant(app: TestApp): Promise<Planted> {
  const made: { visible: Record<string, string>; hidden: Record<string, string> } = { visible: {}, hidden: {} }
  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const reply = await app.request(method, `/~${TENANT}${path}`, body, headers)
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.text}`)
    return reply.body
  }
  const both = async (type: string, fields: object, visible: object, hidden: object) => {
    made.visible[type] = (await send('POST', `/${type}`, { name: `seen ${type}`, ...fields, ...visible })).$id
    made.hidden[type] = (await send('POST', `/${type}`, { name: `${MARK} ${type}`, ...fields, ...hidden })).$id
  }
  await both('Organization', {}, { website: 'mine' }, { website: 'theirs' })
  await both(
    'Contact',
    {},
    { title: 'mine', organization: made.visible.Organization, email: 'seen@example.org' },
    { title: 'theirs', organization: made.hidden.Organization, email: `${MARK}@example.org` },
  )
  await both('Deal', { value: 10 }, { description: 'mine' }, { description: MARK, value: HIDDEN_VALUE })
  await both('Ticket', { subject: 's' }, { source: 'Email' }, { source: 'Chat', subject: MARK })
  await both('Metric', { value: 1 }, { description: 'mine' }, { description: MARK, value: HIDDEN_VALUE })
  await both(
    'FeatureFlag',
    { type: 'String', status: 'Enabled' },
    { key: 'seen', description: 'mine', defaultValue: 'seen' },
    { key: 'hidden', description: 'theirs', defaultValue: MARK },
  )
  await both('Funnel', { steps: ['a'] }, { description: 'mine' }, { description: MARK })
  await both('Asset', {}, { license: 'mine' }, { license: 'theirs' })
  const upload = (id: string, name: string, content: string) =>
    send('POST', `/Asset/${id}/file?name=${name}`, content, { 'content-type': 'text/plain' })
  await upload(made.hidden.Asset!, `${MARK}.txt`, HIDDEN_CONTENT)
  // It was hidden with another file, and is visible now.
  await send('PUT', `/Asset/${made.visible.Asset}`, { license: 'theirs' })
  await upload(made.visible.Asset!, `${MARK}-before.txt`, `${HIDDEN_CONTENT} before`)
  await send('PUT', `/Asset/${made.visible.Asset}`, { license: 'mine', file: null, filename: null })
  await upload(made.visible.Asset!, 'seen.txt', 'seen')
  const steps = [{ code: '(event) => event.data' }]
  await both('Workflow', { triggerEvent: 'Contact.created', steps }, { description: 'mine' }, { description: MARK })
  await send('POST', `/Workflow/${made.visible.Workflow}/activate`)
  await send('POST', '/events', { name: 'mine', type: 'track', userId: 'u1' })
  const tracked = await send('POST', '/events', { name: MARK, type: 'track', userId: MARK })
  // A contact that was hidden and is visible now, and one that was visible and is hidden now.
  const entered = await send('POST', '/Contact', { name: `${MARK} before`, title: 'theirs' })
  await send('PUT', `/Contact/${entered.$id}`, { name: 'seen now', title: 'mine' })
  const left = await send('POST', '/Contact', { name: 'seen once', title: 'mine' })
  await send('PUT', `/Contact/${left.$id}`, { name: `${MARK} after`, title: 'theirs' })
  const deleted = await send('POST', '/Contact', { name: `${MARK} deleted`, title: 'theirs' })
  await send('DELETE', `/Contact/${deleted.$id}`)
  const correlation = 'walk-run'
  const run = await send(
    'POST',
    '/Contact',
    { name: `${MARK} run`, title: 'theirs' },
    { 'x-correlation-id': correlation },
  )
  const runs = await settled(async () => (await send('GET', `/Workflow/${made.visible.Workflow}/runs`)).results)
  const webhook = await send('POST', '/webhooks', {
    url: 'http://127.0.0.1:9/',
    events: ['Nothing.*'],
    description: 'mine',
  })
  const other = await send('POST', '/webhooks', {
    url: `http://127.0.0.1:9/${MARK}`,
    events: ['Nothing.*'],
    description: 'theirs',
  })
  const propose = async (path: string, body: unknown, key?: string) => {
    const { status, body: changeset } = await (key ? app.as(key) : app.request)('PUT', `/~${TENANT}${path}`, body)
    if (status !== 202) throw new Error(`${path}: ${JSON.stringify(changeset)}`)
    return changeset.$id as string
  }
  const moved = await send('POST', '/Contact', { name: 'seen until now', title: 'mine' })
  const own = await app.key(TENANT, 'admin:all', { filter: ROWS })
  const changeset = await propose(`/Contact/${moved.$id}?propose=seen`, { phone: '1', name: 'seen' }, own)
  await send('PUT', `/Contact/${moved.$id}`, { name: `${MARK} moved`, title: 'theirs' })
  const hiddenChangesets = [
    await propose(`/Contact/${made.hidden.Contact}?propose=${MARK}`, { phone: MARK }),
    await propose(`/Contact/${made.visible.Contact}?propose=${MARK}`, { phone: MARK }),
  ]
  await send('POST', `/changesets/${hiddenChangesets[0]}/comment`, { text: MARK })
  const task = await plantTask(send)
  return {
    ...made,
    changeset,
    task,
    hiddenChangesets,
    secretIds: [...Object.values(made.hidden), tracked.$id, deleted.$id, run.$id, task, ...hiddenChangesets],
    correlation,
    webhook: webhook.$id,
    hiddenWebhook: other.$id,
    run: runs[0]!.id,
    hiddenEvent: runs[0]!.event.id,
  }
}

/** Declares a computed field of so many entities that it is not done in one commit with others. */
async function plantTask(
  send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => any,
) {
  await send('PUT', '/schema/Boat', { name: 'string!' })
  const rows = Array.from({ length: 3_000 }, (_, i) => JSON.stringify({ name: `boat ${i}` }))
  await send('POST', '/import/Boat', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
  await send('PUT', '/schema/Boat', { name: 'string!', copy: '= name' })
  const { tasks } = await send('GET', '/tasks')
  return tasks[0].id as string
}

/** The runs of a workflow, once they have ended. */
async function settled(list: () => Promise<{ id: string; status: string; event: { id: string } }[]>) {
  for (;;) {
    const runs = await list()
    if (runs.length > 0 && runs.every(({ status }) => status === 'Succeeded')) return runs
    await new Promise((done) => setTimeout(done, 20))
  }
}
