import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs, type Reply, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const CARS = 16_000
const FEW = 100
const OPERATIONS = 2_000
let app: TestApp

const data = mkdtempSync(join(tmpdir(), 'tildebase-tasks-'))

beforeAll(async () => {
  // What the tests need is made without a limit: on a busy machine it takes longer, too.
  app = await testApp({}, { workers: '0', data })
  await send('POST', '/Contact', { name: 'Ada' })
  const declared = await send('PUT', '/schema/Car', { name: 'string!', size: 'string', plate: 'string' })
  expect(declared.status).toBe(201)
  const rows = Array.from({ length: CARS }, (_, i) => JSON.stringify({ name: `car ${i}`, size: `${i}` }))
  const imported = await send('POST', '/import/Car', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
  expect(imported.body.imported).toBe(CARS)
  await app.stop()
  app = await testApp({ TILDE_QUERY_TIMEOUT: '300ms' }, { workers: '0', data })
})
afterAll(async () => {
  await app.stop()
  rmSync(data, { recursive: true })
})

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  app.request(method, `/~acme${path}`, body, headers)
/** Reads a list or a count. On a busy machine it may take longer than it may, too: then it is asked for again. */
async function list(path: string): Promise<Reply> {
  const reply = await send('GET', path)
  return reply.body.error === 'over_budget' ? list(path) : reply
}
const rename = (from: string, to: string) => send('POST', '/schema/Car/rename', { from, to })
const retype = (to: string, query = '') => send('POST', `/schema/Car/retype${query}`, { field: 'size', to })

/** Waits until a task has ended, and does something else meanwhile. */
async function ended(begun: Reply, meanwhile: (task: any) => unknown = () => {}): Promise<any> {
  expect([begun.status, begun.headers.get('location')]).toEqual([202, `/~acme/tasks/${begun.body.id}`])
  for (;;) {
    const { body } = await send('GET', `/tasks/${begun.body.id}`)
    if (body.state !== 'running') return body
    await meanwhile(body)
    await setTimeout(20)
  }
}

/** The kinds that the sizes of the oldest cars have, and those of the newest: each of one list. */
function kinds(): Promise<readonly string[]> {
  return Promise.all(
    ['', '-'].map(async (order) => {
      const { body } = await list(`/Car?limit=${FEW}&sort=${order}$createdAt`)
      expect(body).toMatchObject({ results: { length: FEW } })
      return [...new Set(body.results.map(({ size }: { size: unknown }) => typeof size))].join()
    }),
  )
}

verifies(
  'budget.transaction',
  'a migration over its time changes all or nothing, and others see no half of it',
  async () => {
    needs('second connection to a file')
    const seen: string[] = []
    const task = await ended(await retype('number'), async () => seen.push(...(await kinds())))
    const [newest] = (await list('/Car?limit=1')).body.results
    const verified = await app.request('GET', '/operator/tenants/acme/verify')

    expect(task).toMatchObject({ state: 'done', progress: CARS, total: CARS, result: { status: 200, migrated: CARS } })
    expect([...new Set(seen)].filter((kind) => kind !== 'string' && kind !== 'number')).toEqual([])
    expect(seen[0]).toBe('string')
    expect([...(await kinds()), newest.$version]).toEqual(['number', 'number', 2])
    expect(verified.body).toMatchObject({ ok: true })
  },
  60_000,
)

verifies(
  'budget.transaction',
  'a plan over its time is tried in slices, ended, and leaves nothing',
  async () => {
    needs('second connection to a file')
    const before = (await send('GET', '/schema/Car')).text
    const types = { Car: { name: 'string!', size: 'string', plate: 'string' } }
    const { status, body } = await send('POST', '/schema/plan', { types })
    const { tasks } = (await send('GET', '/tasks')).body

    expect([status, body.tested]).toEqual([200, false])
    expect(body.steps).toMatchObject([{ action: 'convert', migrates: null }])
    expect(tasks[0]).toMatchObject({ title: 'POST /schema/plan', state: 'cancelled' })
    expect((await send('GET', '/schema/Car')).text).toBe(before)
  },
  60_000,
)

verifies(
  'budget.tasks',
  'a task shows its progress, and can be cancelled by its sender alone',
  async () => {
    needs('second connection to a file')
    const admin = app.as(await app.key('acme', 'admin:platform,write:all'))
    const other = app.as(await app.key('acme', 'admin:platform,write:all'))
    const begun = await admin('POST', '/~acme/schema/Car/retype', { field: 'size', to: 'string' })
    const path = `/~acme/tasks/${begun.body.id}`
    const progress: number[] = []
    while (progress.length < 3) {
      const { body } = await admin('GET', path)
      expect(body.state).toBe('running')
      if (body.progress > (progress.at(-1) ?? -1)) progress.push(body.progress)
    }
    const ofAll = (await app.request('GET', '/operator/tasks')).body.results
    const hidden = [await other('GET', path), await other('DELETE', path)].map(({ status }) => status)
    const listed = (await other('GET', '/~acme/tasks')).body.tasks.filter(({ id }: any) => id === begun.body.id)
    const cancelled = await admin('DELETE', path)
    const again = await admin('DELETE', path)

    expect([hidden, listed]).toEqual([[404, 404], []])
    expect(ofAll).toMatchObject([{ tenant: 'acme', task: 'write', step: begun.body.title, id: begun.body.id }])
    expect(cancelled.body).toMatchObject({ state: 'cancelled', result: null, error: { code: 'conflict' } })
    expect(again.status).toBe(409)
    expect((await send('GET', path.slice('/~acme'.length))).body.state).toBe('cancelled')
    expect(await kinds()).toEqual(['number', 'number'])
  },
  60_000,
)

test('writes during a task wait for it, and are kept', async () => {
  needs('second connection to a file')
  const begun = await retype('string')
  const writes = Promise.all([
    send('POST', '/Car', { name: 'late', size: 'seven' }),
    send('POST', '/batch', { operations: [{ path: '/Contact', method: 'POST', body: { name: 'Bo' } }] }),
  ])
  const isHere = (await list('/Car?name=late')).body.total
  const task = await ended(begun)
  const [car, batch] = await writes

  // The size is text by then.
  expect([task.state, isHere, car.status, car.body.size, batch.body.results[0].status]).toEqual([
    'done',
    0,
    201,
    'seven',
    201,
  ])
  expect((await list('/Car?name=late')).body.results[0].$id).toBe(car.body.$id)
}, 60_000)

verifies(
  'budget.waiting',
  'at most 64 writes wait for a task; others are refused with the time to try again, and reads continue',
  async () => {
    needs('second connection to a file')
    const begun = await rename('size', 'length')
    // Writes wait from the first step on.
    for (let seen = begun.body; seen.progress === 0; ) seen = (await send('GET', `/tasks/${begun.body.id}`)).body
    const writes = Array.from({ length: 80 }, (_, i) => send('POST', '/Contact', { name: `waits ${i}` }))
    const read = await list('/Contact?limit=1')
    const replies = await Promise.all(writes)
    const task = await ended(begun)
    await ended(await rename('length', 'size'))
    const refused = replies.filter(({ status }) => status !== 201)
    const filter = encodeURIComponent(JSON.stringify({ name: { $regex: '^waits' } }))
    const kept = (await list(`/Contact?limit=1&filter=${filter}`)).body.total

    expect([task.state, read.status]).toEqual(['done', 200])
    expect([replies.length - refused.length, refused.length]).toEqual([64, 16])
    expect(kept).toBe(64)
    for (const { status, headers, body } of refused) {
      expect([status, body.error]).toEqual([503, 'busy'])
      expect(body.message).toMatch(/^A task is changing this tenant, and 64 writes wait for it. Try again in \d+ s.$/)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  },
  60_000,
)

test('a task that cannot be done says why, and a dry run leaves nothing', async () => {
  needs('second connection to a file')
  const failed = await ended(await retype('number'))
  const head = (await list('/Car?sort=-$createdAt&limit=1')).body.results[0]
  const dry = await ended(await send('POST', '/schema/Car/rename?dryRun=true', { from: 'size', to: 'length' }))
  const { body: type } = await send('GET', '/schema/Car')

  expect(failed).toMatchObject({ state: 'failed', error: { code: 'validation_error' } })
  expect(failed.error.message).toContain(head.$id)
  expect([dry.state, dry.result]).toEqual(['done', { dryRun: true, status: 200, result: { migrated: CARS + 1 } }])
  expect(Object.keys(type.own)).toEqual(['name', 'size', 'plate'])
}, 60_000)

test('a declaration, a sync and its undo over their time are tasks, and so is a large approval', async () => {
  needs('second connection to a file')
  const count = 5_000
  const car = { name: 'string!', size: 'string', plate: 'string#', copy: '= name' }
  const declared = await ended(await send('PUT', '/schema/Car', car))
  const changes = Array.from({ length: count }, (_, i) => ({
    type: 'Contact',
    id: `contact_${`${i}`.padStart(22, '0')}`,
    operation: 'create',
    timestamp: '2026-01-01T00:00:00Z',
    data: { name: `c${i}` },
  }))
  const synced = await ended(await send('POST', '/sync', { changes }, { 'x-correlation-id': 'sync-1' }))
  const contacts = (await list('/Contact/count')).body
  const undone = await ended(await send('POST', '/undo/sync-1'))
  const left = (await list('/Contact/count')).body
  const operations = Array.from({ length: OPERATIONS }, (_, i) => ({
    type: 'Contact',
    verb: 'create',
    data: { name: `d${i}` },
  }))
  const proposed = await send('POST', '/changesets', { title: 'many', operations })
  const changeset = proposed.status === 202 ? (await ended(proposed)).result.$id : proposed.body.$id
  const { body: review } = await send('GET', `/Changeset/${changeset}`)
  const approver = app.as(await app.key('acme', 'admin:all'))
  const approved = await approver('POST', `/~acme/Changeset/${changeset}/approve`)
  if (approved.status === 202) await ended(approved)

  expect([declared.state, declared.result]).toEqual(['done', { status: 200 }])
  expect((await list('/Car?plate=none')).body.total).toBe(0)
  expect((await list('/Car?limit=1&sort=$createdAt')).body.results[0].copy).toBe('car 0')
  expect(synced).toMatchObject({
    state: 'done',
    progress: count,
    result: { status: 200, applied: count, conflicts: 0 },
  })
  expect(undone).toMatchObject({ state: 'done', progress: count, result: { status: 200, undone: count } })
  expect(contacts.count - left.count).toBe(count)
  expect([review.diff.length, review.conflicts]).toEqual([OPERATIONS, []])
  expect([200, 202]).toContain(approved.status)
  expect((await list('/Contact/count')).body.count - left.count).toBe(OPERATIONS)
}, 120_000)

test('a task is at its address beside a type Task, whose entities are at theirs', async () => {
  needs('second connection to a file')
  const [task] = (await send('GET', '/tasks')).body.tasks
  await send('PUT', '/schema/Task', { title: 'string!' })

  const { body: made } = await send('POST', '/tasks', { title: 'Paint' })
  const found = await send('GET', `/tasks/${task.id}`)
  const entity = await send('GET', `/tasks/${made.$id}`)
  const { status } = await send('DELETE', `/tasks/${task.id}`)

  expect(found.body).toEqual(task)
  expect(entity.body).toMatchObject({ $id: made.$id, title: 'Paint' })
  expect(status).toBe(409)
})
