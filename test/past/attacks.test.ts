import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.stop())

test('a key with a row filter imports no past, and so changes no rows that are hidden from it', async () => {
  const at = (path: string) => `/~narrow-past/${path}`
  const create = { type: 'Contact', verb: 'create', source: 'a:1', timestamp: '2024-01-01T00:00:00Z' }
  await app.request('POST', at('import/history'), [{ ...create, data: { name: 'Hugo', title: 'theirs' } }])
  const [hidden] = (await app.request('GET', at('Contact'))).body.results
  const send = app.as(await app.key('narrow-past', 'admin:all', { filter: { Contact: { title: 'mine' } } }))
  const rows = [
    { type: 'Contact', verb: 'update', id: hidden.$id, data: { title: 'mine' } },
    { type: 'Contact', verb: 'delete', source: 'a:1' },
    { type: 'Contact', verb: 'create', source: 'a:1', data: { name: 'Eve', title: 'mine' } },
  ]

  for (const row of rows) {
    const { status, text } = await send('POST', at('import/history'), [{ ...row, timestamp: '2024-02-01T00:00:00Z' }])
    expect(status, text).toBe(403)
    expect(text).not.toContain(hidden.$id)
  }

  expect((await app.request('GET', at(`Contact/${hidden.$id}`))).body).toMatchObject({ $version: 1, title: 'theirs' })
})

test('a query is not explained to a key with a row filter', async () => {
  await app.request('POST', '/~explained/Contact', { name: 'Hugo', title: 'theirs' })
  const send = app.as(await app.key('explained', 'admin:all', { filter: { Contact: { title: 'mine' } } }))

  expect((await send('GET', '/~explained/Contact?explain=true')).status).toBe(403)
  expect((await app.request('GET', '/~explained/Contact?explain=true')).status).toBe(200)
})
