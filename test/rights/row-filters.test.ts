import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.stop())

describe('a field that a row filter reads is neither renamed nor retyped', () => {
  const at = (path: string) => `/~rows/${path}`
  const hidden = { Doc: { level: { $ne: 'secret' } } }

  beforeAll(async () => {
    await app.request('PUT', at('schema/Doc'), { title: 'string', level: 'string', author: '-> User' })
    await app.request('PUT', at('schema/Note'), { text: 'string', doc: '-> Doc.notes' })
    await app.request('POST', at('Doc'), { title: 'open', level: 'public' })
    await app.request('POST', at('Doc'), { title: 'closed', level: 'secret' })
  })

  /** What both migrations of a field answer. */
  async function migrations(type: string, field: string) {
    const rename = await app.request('POST', at(`schema/${type}/rename`), { from: field, to: 'renamed' })
    const retype = await app.request('POST', at(`schema/${type}/retype`), { field, to: 'json' })
    return [rename, retype].map(({ status, body }) => [status, body.details?.[0]?.message])
  }

  test.each([
    ['Doc', 'level', hidden],
    ['Doc', 'level', { Note: { 'doc.level': 'public' } }],
    ['Note', 'doc', { Note: { $or: [{ text: 'a' }, { 'doc.level': { $not: { $eq: 'secret' } } }] } }],
  ])('of an API key: %s.%s', async (type, field, filter) => {
    const { body: key } = await app.request('POST', at('api-keys'), { name: 'k', scopes: 'read:all', filter })

    const refused = await migrations(type, field)
    await app.request('POST', at(`api-keys/${key.$id}/revoke`))
    const other = await app.request('POST', at(`schema/${type}/rename?dryRun=true`), { from: field, to: 'renamed' })

    const message = 'is read by the row filter of an active API key. Revoke the key, and create another one afterwards.'
    expect(refused).toEqual([
      [422, message],
      [422, message],
    ])
    expect(other.status, other.text).toBe(200)
  })

  test('of a role', async () => {
    await app.request('PUT', at('schema/roles/Reader'), {
      scopes: 'read:Doc',
      filter: { Doc: { $or: [{ author: '$user.$id' }, hidden.Doc] } },
    })

    const refused = await migrations('Doc', 'level')
    await app.request('DELETE', at('schema/roles/Reader'))

    expect(refused.map(([status]) => status)).toEqual([422, 422])
    expect(refused[0]![1]).toContain('a role')
  })

  test('of a webhook whose key was revoked', async () => {
    const { body: key } = await app.request('POST', at('api-keys'), {
      name: 'k',
      scopes: 'admin:platform,read:Doc',
      filter: hidden,
    })
    const { body: webhook } = await app.as(key.secret)('POST', at('webhooks'), {
      url: 'https://example.org/hook',
      events: ['Doc.*'],
    })
    await app.request('POST', at(`api-keys/${key.$id}/revoke`))

    const refused = await migrations('Doc', 'level')
    await app.request('DELETE', at(`webhooks/${webhook.$id}`))
    const other = await app.request('POST', at('schema/Doc/rename?dryRun=true'), { from: 'level', to: 'renamed' })

    expect(refused.map(([status]) => status)).toEqual([422, 422])
    expect(refused[0]![1]).toContain('the author of a webhook')
    expect(other.status, other.text).toBe(200)
  })

  test.each([
    ['a timer', 'schema/Alarm', { at: 'datetime', ring: {}, $timers: { ring: { at: 'at', run: 'ring' } } }],
    ['a computed field', 'schema/Sheet', { width: 'number', double: '= width * 2' }],
    ['a hook', 'schema/Note/hooks/created', { code: '() => {}' }],
  ])('of %s whose key was revoked', async (_, path, body) => {
    const { body: key } = await app.request('POST', at('api-keys'), { name: 'k', scopes: 'admin:all', filter: hidden })
    const stored = await app.as(key.secret)('PUT', at(path), body)
    await app.request('POST', at(`api-keys/${key.$id}/revoke`))

    const refused = await migrations('Doc', 'level')
    await app.request('DELETE', at(path))
    const other = await app.request('POST', at('schema/Doc/rename?dryRun=true'), { from: 'level', to: 'renamed' })

    expect(stored.status, stored.text).toBe(201)
    expect(refused.map(([status]) => status)).toEqual([422, 422])
    expect(other.status, other.text).toBe(200)
  })

  test('of a run that began before its workflow was stored again', async () => {
    const { body: key } = await app.request('POST', at('api-keys'), { name: 'k', scopes: 'admin:all', filter: hidden })
    const fields = { name: 'w', triggerEvent: 'Note.created', steps: [{ wait: '1d' }] }
    const { body: workflow } = await app.as(key.secret)('POST', at('Workflow'), fields)
    const path = at(`Workflow/${workflow.$id}`)
    await app.as(key.secret)('POST', `${path}/activate`)
    await app.request('POST', at(`api-keys/${key.$id}/revoke`))
    await app.request('POST', at('Note'), { text: 'begins' })
    await expect.poll(async () => (await app.request('GET', `${path}/runs`)).body.results[0]?.startedAt).toBeTruthy()
    await app.request('PUT', path, { steps: [{ wait: '2d' }] })

    const refused = await migrations('Doc', 'level')
    const { body: runs } = await app.request('GET', `${path}/runs`)
    await app.request('POST', `${path}/runs/${runs.results[0].id}/cancel`)
    const other = await app.request('POST', at('schema/Doc/rename?dryRun=true'), { from: 'level', to: 'renamed' })

    expect(refused.map(([status]) => status)).toEqual([422, 422])
    expect(other.status, other.text).toBe(200)
  })

  test('of a consent', async () => {
    const boss = await person(app, 'rows', { email: 'boss@example.org', role: 'Admin' })
    const chosen = { rows: JSON.stringify(hidden) }
    await connect(app, boss, 'rows', { asked: { scope: 'read:all' }, chosen })

    const refused = await migrations('Doc', 'level')

    expect(refused.map(([status]) => status)).toEqual([422, 422])
    expect(refused[0]![1]).toContain('what a person allowed an agent')
  })
})
