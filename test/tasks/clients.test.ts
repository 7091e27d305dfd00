import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { needs, ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

const CARS = 6_000
const PARTS = 2_000
let host: TestHost

beforeAll(async () => {
  host = await testHost({ TILDE_QUERY_TIMEOUT: '250ms' })
  await send('PUT', '/schema/Car', { name: 'string!', size: 'string' })
  const rows = Array.from({ length: CARS }, (_, i) => JSON.stringify({ name: `car ${i}`, size: `${i}` }))
  await send('POST', '/import/Car', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
}, 60_000)
afterAll(() => host.stop())

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  host.request(method, `/~acme${path}`, body, headers)

verifies(
  'budget.client',
  'a write that becomes a task gives the client the answer that it would have had at once',
  async () => {
    needs('second connection to a file')
    const states: string[] = []
    const onTask = ({ state }: { readonly state: string }) => states.push(state)
    const $ = tildebase({ tenant: 'acme', apiKey: ROOT, baseUrl: host.url, onTask })

    const retyped = await $.request('POST', '/schema/Car/retype', { body: { field: 'size', to: 'number' } })
    const declared = await $.request('PUT', '/schema/Car', {
      body: { name: 'string!', size: 'number', copy: '= name' },
    })
    const { results } = (await send('GET', '/Car?limit=1')).body

    expect(states).toEqual(expect.arrayContaining(['running', 'done']))
    expect(retyped).toMatchObject({ migrated: CARS, type: { name: 'Car' } })
    expect(declared).toMatchObject({ name: 'Car', fields: { copy: {} } })
    expect(results[0].copy).toBe(results[0].name)
  },
  60_000,
)

test('the command waits for the task, or prints it with --no-wait', async () => {
  needs('second connection to a file')
  const tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'acme' })

  const waited = await tilde('schema', 'retype', 'Car', 'size', 'string', '--json')
  const left = await tilde('schema', 'retype', 'Car', 'size', 'number', '--json', '--no-wait')
  const task = await send('GET', `/tasks/${left.json.id}`)

  expect([waited.code, waited.json.name]).toEqual([0, 'Car'])
  expect([left.code, left.json.title]).toEqual([0, 'POST /schema/Car/retype'])
  expect(task.status).toBe(200)
}, 60_000)

test('code of do waits for a write that takes long, and gets its result', async () => {
  needs('second connection to a file')
  await send('PUT', '/schema/Hub', { label: 'string' })
  await send('PUT', '/schema/Part', { hub: '-> Hub', copy: '= hub.label' })
  const { $id } = (await send('POST', '/Hub', { label: 'a' })).body
  const rows = Array.from({ length: PARTS }, () => JSON.stringify({ hub: $id }))
  await send('POST', '/import/Part', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
  const $ = tildebase({ tenant: 'acme', apiKey: ROOT, baseUrl: host.url })

  const { result, correlation } = await $.do(`(await $.Hub.update('${$id}', { label: 'b' })).label`)
  const followed = (await send('GET', '/Part?copy=b&limit=1')).body.total
  const undone = await $.do(`await $.undo('${correlation}')`)
  const back = (await send('GET', '/Part?copy=a&limit=1')).body.total
  const { tasks } = (await send('GET', '/tasks')).body

  expect([result, followed, back]).toEqual(['b', PARTS, PARTS])
  expect(undone.result.undone).toBeGreaterThan(0)
  expect(tasks.filter(({ title }: { title: string }) => title === 'do').length).toBeGreaterThan(0)
}, 60_000)

test.each(['timer', 'workflow', 'hook'])(
  'what a %s changes in many entities is a task: all of it follows, and the next one runs',
  async (kind) => {
    needs('second connection to a file')
    const [hub, part] = [`${kind}-hub`, `${kind}-part`].map((name) =>
      name.replace(/(?:^|-)(.)/g, (_, a) => a.toUpperCase()),
    )
    const turn = { event: 'turned', set: { label: 'b' } }
    await send('PUT', `/schema/${hub}`, {
      label: 'string',
      due: 'datetime',
      turn,
      $timers: { t: { at: 'due', run: 'turn' } },
    })
    await send('PUT', `/schema/${part}`, { hub: `-> ${hub}`, copy: '= hub.label' })
    const { $id } = (await send('POST', `/${hub}`, { label: 'a' })).body
    const rows = Array.from({ length: PARTS }, () => JSON.stringify({ hub: $id }))
    await send('POST', `/import/${part}`, rows.join('\n'), { 'content-type': 'application/x-ndjson' })
    if (kind === 'workflow') {
      const steps = [
        { verb: 'turn', type: hub, id: $id },
        { verb: 'create', type: 'Activity', args: { subject: 'after', type: 'Note' } },
      ]
      const made = await send('POST', '/Workflow', { name: 'w', triggerEvent: 'Lead.created', steps })
      await send('POST', `/Workflow/${made.body.$id}/activate`)
    }
    const code = `(async (entity, $) => { await $.${hub}.turn('${$id}'); await $.Activity.create({ subject: 'after', type: 'Note' }) })`
    if (kind === 'hook') await send('PUT', '/schema/Product/hooks/created', { code })

    if (kind === 'timer') await send('PATCH', `/${hub}/${$id}`, { due: new Date().toISOString() })
    else await send('POST', kind === 'workflow' ? '/Lead' : '/Product', { name: 'first' })
    const followed = () => send('GET', `/${part}?copy=b&limit=1`)
    await expect.poll(async () => (await followed()).body.total, { timeout: 40_000, interval: 100 }).toBe(PARTS)
    if (kind !== 'timer') {
      const notes = () => send('GET', '/Activity?subject=after&limit=1')
      const before = kind === 'workflow' ? 1 : 2
      await expect.poll(async () => (await notes()).body.total, { timeout: 10_000 }).toBe(before)
    }
    const { tasks } = (await send('GET', '/tasks')).body
    const verified = await host.request('GET', '/operator/tenants/acme/verify')

    expect(tasks.some(({ title, state }: any) => title.includes(kind) && state === 'done')).toBe(true)
    expect(verified.body).toMatchObject({ ok: true })
  },
  60_000,
)
