import { expect, test } from 'vitest'
import { useTypes } from './use-types.ts'

const { sent } = useTypes()
const at = (path: string) => `/~acme/${path}`

test('a type Task is at its name and at /tasks, in batches too', async () => {
  const before = await sent('GET', at('tasks'))
  const post = await sent('POST', at('tasks'), { title: 'too early' })
  await sent('PUT', at('schema/Task'), {
    title: 'string!',
    state: 'Open | Done = Open',
    finish: { set: { state: 'Done' } },
  })

  const made = await sent('POST', at('tasks'), { title: 'Paint' })
  const id = made.body.$id
  const changed = await sent('PUT', at(`tasks/${id}`), { title: 'Paint it' })
  const finished = await sent('POST', at(`tasks/${id}/finish`))
  const list = await sent('GET', at('tasks?state=Done'))
  const count = await sent('GET', at('tasks/count'))
  const one = await sent('GET', at(`tasks/${id}`))
  const operations = [{ id: 'a', method: 'POST', path: '/tasks', body: { title: 'Second' } }]
  const batch = await sent('POST', at('batch'), { operations })
  const named = await sent('GET', at('Task'))
  const deleted = await sent('DELETE', at(`tasks/${id}`))

  expect([before.status, before.body]).toEqual([200, { tasks: [], total: 0 }])
  expect(post.status).toBe(405)
  expect([made.status, changed.status, finished.status, deleted.status]).toEqual([201, 200, 200, 204])
  expect(list.body.results).toMatchObject([{ $id: id, title: 'Paint it', state: 'Done' }])
  expect([count.body.count, one.body.$type, named.body.total]).toEqual([1, 'Task', 2])
  expect(batch.body.results[0]).toMatchObject({ status: 201, body: { $type: 'Task' } })
})

test.each(['File', 'Upload', 'Secret'])(
  'a type %s is at its name: its plural is a path of the service',
  async (type) => {
    await sent('PUT', at(`schema/${type}`), { title: 'string!' })

    const { status, body } = await sent('POST', at(type), { title: 'one' })
    const { body: list } = await sent('GET', at(type))

    expect([status, list.results]).toEqual([201, [body]])
  },
)

test('a type cannot be called Ask, which means the questions of workflows', async () => {
  const { status, body } = await sent('PUT', at('schema/Ask'), { title: 'string!' })

  expect([status, body.error]).toEqual([422, 'invalid_schema'])
  expect(body.message).toContain('Ask is reserved')
})
