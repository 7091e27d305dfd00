import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../packages/server/src/doors/route-table.ts'
import type { Planted } from '../rights/planted.ts'
import { probesOf } from '../rights/probes.ts'
import { type Stage, stageAt } from './ask.ts'
import { SERVICE, startWorkerd, type Workerd } from './workerd.ts'

/** A Worker without the bindings that it can do without. */
let bare: Workerd
let stage: Stage
let planted: Planted

beforeAll(async () => {
  bare = await startWorkerd({ ...SERVICE, objects: { TENANTS: 'TenantObject' }, loader: false })
  stage = stageAt(() => bare.url)
  const made = async (path: string, body: object) => (await stage.request('POST', `/~bare/${path}`, body)).body.$id
  const contact = await made('Contact', { name: 'Ada' })
  const webhook = await made('webhooks', { url: 'https://hooks.example.org/', events: ['Nothing.*'] })
  const steps = [{ verb: 'create', type: 'Comment', args: { body: 'x' } }]
  const workflow = await made('Workflow', { name: 'w', triggerEvent: 'Contact.created', steps })
  planted = {
    visible: { Contact: contact, Workflow: workflow },
    hidden: { Contact: contact, Workflow: workflow },
    secretIds: [],
    correlation: 'none',
    webhook,
    hiddenWebhook: webhook,
    run: '1',
    hiddenEvent: 'evt_1',
    changeset: 'changeset_1',
    task: 'task_none',
    hiddenChangesets: ['changeset_1'],
  }
})
afterAll(() => bare?.stop())

test('the document of the API has no route that answers 501, and every other one', { timeout: 240_000 }, async () => {
  const { body: document } = await stage.request('GET', '/~bare/openapi.json')
  const { body: whole } = await withLoader()
  const faults: string[] = []
  for (const route of routes.all) {
    const { method, path } = route
    const statuses = new Set<number>()
    for (const { method: verb, path: at, body, headers } of probesOf(route, planted).slice(0, 3)) {
      if (headers?.accept === 'text/event-stream') continue
      statuses.add((await stage.request(verb, `/~bare${at}`, body, headers)).status)
    }
    const name = path.replace(/:(\w+)/g, '{$1}')
    const isDescribed = document.paths[name]?.[method.toLowerCase()] !== undefined
    const isDescribedElsewhere = whole.paths[name]?.[method.toLowerCase()] !== undefined
    if (statuses.has(501) && isDescribed) faults.push(`${method} ${path} answers 501 and is described`)
    if (!statuses.has(501) && isDescribedElsewhere && !isDescribed) faults.push(`${method} ${path} is not described`)
  }

  expect(faults).toEqual([])
  expect(JSON.stringify(document)).not.toContain('"501"')
})

test('agents have no tool for what the host does not do', async () => {
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

  const { text } = await stage.request('POST', '/~bare/mcp', call, headers)

  expect([...text.matchAll(/"name":"(search|fetch|do)"/g)].map(([, name]) => name)).toEqual(['search', 'fetch'])
  expect((await stage.request('POST', '/~bare/do', { code: '1' })).status).toBe(501)
  expect((await stage.request('GET', '/operator/tenants')).status).toBe(501)
})

/** The document of a host that has everything. */
async function withLoader() {
  const complete = await startWorkerd(SERVICE)
  const { request } = stageAt(() => complete.url)
  try {
    await request('POST', '/~whole/Contact', { name: 'Ada' })
    return await request('GET', '/~whole/openapi.json')
  } finally {
    await complete.stop()
  }
}
