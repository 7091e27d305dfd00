import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
/** The last event before the migrations. */
let before: number
const ids: { [title: string]: string } = {}

const at = (path: string) => `/~past/${path}`
const send = async (method: string, path: string, body?: object) => {
  const reply = await app.request(method, at(path), body)
  expect(reply.status, reply.text).toBeLessThan(300)
  return reply.body
}

beforeAll(async () => {
  app = await testApp({})
  await send('PUT', 'schema/Doc', { title: 'string', grade: 'string', rank: 'string' })
  await send('PUT', 'schema/Note', { title: 'string', paper: '-> Doc' })
  for (const [title, grade, rank] of [
    ['open', 'public', '1'],
    ['closed', 'secret', '3'],
    ['plain', null, null],
  ]) {
    ids[title!] = (await send('POST', 'Doc', { title, grade, rank })).$id
    await send('POST', 'Note', { title: `about ${title}`, paper: ids[title!] })
  }
  before = (await send('GET', 'events?limit=1000')).results.at(-1).seq
  await send('POST', 'schema/Doc/rename', { from: 'grade', to: 'level' })
  await send('POST', 'schema/Doc/retype', { field: 'rank', to: 'number' })
  await send('POST', 'schema/Note/rename', { from: 'paper', to: 'doc' })
  await send('PUT', 'schema/Doc', { title: 'string', level: 'string', rank: 'number', notes: '<- Note.doc[]' })
})
afterAll(() => app.stop())

/** What a key with a row filter reads. */
async function as(filter: object) {
  const { secret } = await send('POST', 'api-keys', { name: 'k', scopes: 'read:all', filter })
  const request = app.as(secret)
  return async (path: string) => {
    const { status, body } = await request('GET', at(path))
    return { status, titles: titlesIn(body), body }
  }
}

/** The titles of all entities in an answer, sorted. */
function titlesIn(body: unknown): string[] {
  const found = [...JSON.stringify(body).matchAll(/"title":"([^"]*)"/g)].map(([, title]) => title!)
  return [...new Set(found)].sort()
}

describe('a row filter reads the past with the names and kinds of today', () => {
  const then = () => `asOf=${before}`

  test.each([
    ['a renamed field', 'Doc', { Doc: { level: { $ne: 'secret' } } }, ['open', 'plain']],
    ['the value of a renamed field', 'Doc', { Doc: { level: 'public' } }, ['open']],
    ['no value of a renamed field', 'Doc', { Doc: { level: null } }, ['plain']],
    ['a field of another kind', 'Doc', { Doc: { rank: { $ne: 3 } } }, ['open', 'plain']],
    ['the value of a field of another kind', 'Doc', { Doc: { rank: { $gte: 3 } } }, ['closed']],
    [
      'a renamed field behind a renamed relation',
      'Note',
      { Note: { 'doc.level': { $ne: 'secret' } } },
      ['about open', 'about plain'],
    ],
    [
      'the inverse of a renamed relation',
      'Doc',
      { Doc: { 'notes.title': { $ne: 'about closed' } } },
      ['open', 'plain'],
    ],
    [
      'a key that is narrowed on the type behind the relation',
      'Doc',
      { Doc: { 'notes.title': 'about open' }, Note: { 'doc.level': { $ne: 'secret' } } },
      ['open'],
    ],
  ])('%s', async (_, type, filter, seen) => {
    const read = await as(filter)

    const past = await read(`${type}?${then()}`)
    const count = await read(`${type}/count?${then()}`)
    const exported = await read(`export/${type}?${then()}`)
    const groups = await read(`${type}/aggregate?group=title&${then()}`)
    const each = await Promise.all(Object.values(ids).map((id) => read(`${type}/${id}?${then()}`)))
    const now = await read(type)

    expect(past.titles).toEqual(seen)
    expect([past.body.total, count.body.count]).toEqual([seen.length, seen.length])
    expect(exported.titles).toEqual(seen)
    expect(groups.body.total).toBe(seen.length)
    if (type === 'Doc') expect(each.flatMap(({ titles }) => titles).sort()).toEqual(seen)
    expect(now.titles).toEqual(seen)
  })

  test.each([
    ['a renamed field', { Doc: { level: { $ne: 'secret' } } }],
    ['a field of another kind', { Doc: { rank: { $ne: 3 } } }],
  ])('in history, events and differences: %s', async (_, filter) => {
    const read = await as(filter)

    const histories = await Promise.all(Object.values(ids).map((id) => read(`Doc/${id}/history`)))
    const differences = await Promise.all(Object.values(ids).map((id) => read(`Doc/${id}/diff?from=1&to=now`)))
    const events = await read('events?type=Doc&limit=1000')
    const collection = await read('events?name=Doc.created&limit=100')

    expect(histories.map(({ status }) => status)).toEqual([200, 404, 200])
    expect(differences.map(({ status }) => status)).toEqual([200, 404, 200])
    expect(events.titles).toEqual(['open', 'plain'])
    expect(collection.body.total).toBe(2)
    expect(collection.titles).toEqual(['open', 'plain'])
  })

  test('and relations that are embedded', async () => {
    const read = await as({ Doc: { level: { $ne: 'secret' } } })

    const { body } = await read(`Note?include=doc&${then()}`)
    const { body: now } = await read('Note?include=doc')

    expect(titlesIn(now)).not.toContain('closed')
    expect(titlesIn(body)).not.toContain('closed')
  })

  test('and every other filter reads the past as it is shown', async () => {
    const filter = (json: object) => encodeURIComponent(JSON.stringify(json))

    const old = await send('GET', `Doc?filter=${filter({ grade: 'secret' })}&${then()}`)
    const today = await send('GET', `Doc?filter=${filter({ level: 'secret' })}&${then()}`)

    expect([old.total, today.total]).toEqual([1, 0])
    expect(old.results[0]).toMatchObject({ grade: 'secret' })
  })
})
