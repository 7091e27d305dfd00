import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { blobsOf, hashOf, send } from './content.ts'

let app: TestApp
let deal: string

beforeAll(async () => {
  app = await testApp()
  const declared = await app.request('PUT', '/~acme/schema/Deal', { contract: 'file', papers: 'file[]' })
  expect(declared.status).toBeLessThan(300)
})
afterAll(() => app.stop())

async function newDeal(more: object = {}): Promise<string> {
  const { body } = await app.request('POST', '/~acme/Deal', { name: 'Engine', ...more })
  return `/~acme/Deal/${body.$id}`
}

verifies(
  ['file.kind', 'file.value', 'file.upload', 'file.upload.name', 'file.download', 'file.once'],
  'content that is sent to a field is stored, set by one update, and read again',
  async () => {
    deal = await newDeal()
    const bytes = randomBytes(100_000)

    const sent = await send(app, 'POST', `${deal}/contract?name=ignored.txt`, bytes, {
      'content-type': 'application/pdf; version=1',
      'content-disposition': `attachment; filename="a.pdf"; filename*=UTF-8''Vertrag%20%C3%A4.pdf`,
    })

    expect(sent.status).toBe(200)
    const value = { hash: hashOf(bytes), size: 100_000, type: 'application/pdf', name: 'Vertrag ä.pdf' }
    expect(sent.body.contract).toEqual(value)
    expect(sent.body.$version).toBe(2)
    const read = await send(app, 'GET', `${deal}/contract`, null)
    expect(read.status).toBe(200)
    expect(hashOf(read.bytes)).toBe(value.hash)
    const { body: page } = await app.request('GET', '/~acme/events?type=Deal.updated')
    expect(page.results).toHaveLength(1)
    expect(page.results[0]).toMatchObject({ verb: 'update', data: { contract: value }, previous: { contract: null } })
    const before = blobsOf(app.data, 'acme').whole.length
    await send(app, 'POST', `${await newDeal()}/contract`, bytes, { 'content-type': 'application/pdf' })
    expect(blobsOf(app.data, 'acme')).toEqual({ whole: expect.any(Array), parts: [] })
    expect(blobsOf(app.data, 'acme').whole).toHaveLength(before)
  },
)

test.each([
  ['?name=', 'plain.txt', {}, '?name=plain.txt'],
  ['a path', 'passwd', { 'content-disposition': 'attachment; filename="../../etc/passwd"' }, ''],
  ['a line break', 'aX-Evil: 1', { 'content-disposition': "attachment; filename*=UTF-8''a%0D%0AX-Evil%3A%201" }, ''],
  ['nothing', 'file', {}, ''],
  ['dots', 'file', {}, '?name=..'],
  ['a hidden direction', 'codgpj.exe', {}, `?name=${encodeURIComponent('cod\u202egpj.exe')}`],
])('the name of a file comes from %s', async (_, name, headers, query) => {
  const path = await newDeal()

  const sent = await send(app, 'POST', `${path}/contract${query}`, 'x', { 'content-type': 'text/plain', ...headers })

  expect(sent.body.contract).toMatchObject({ name, type: 'text/plain' })
  const read = await send(app, 'GET', `${path}/contract`, null)
  expect(read.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"\r\n]*"/)
  expect(read.headers.get('x-evil')).toBeNull()
})

test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', ''])(
  'bytes of the type %s are content, whatever they look like',
  async (type) => {
    const path = await newDeal()
    const json = new TextEncoder().encode('{"name": "Not the name"}')

    const sent = await send(app, 'POST', `${path}/contract`, json, { 'content-type': type })

    expect(sent.status).toBe(200)
    expect(sent.body).toMatchObject({ name: 'Engine', contract: { hash: hashOf(json), size: json.length } })
  },
)

test('JSON and text larger than a JSON body may be are content as well', async () => {
  const path = await newDeal()
  const text = 'word '.repeat(3_000_000)

  const sent = await send(app, 'POST', `${path}/contract`, text, { 'content-type': 'text/plain' })
  const verb = await send(app, 'POST', `${path}/advance`, JSON.stringify({ note: text }), {
    'content-type': 'application/json',
  })

  expect(sent.body.contract).toMatchObject({ hash: hashOf(text), size: text.length })
  expect(verb.status).toBe(413)
})

test('the bytes of a program that runs the service itself stay its own', async () => {
  const path = await newDeal()
  const bytes = new Uint8Array(300_000).fill(7)
  const body = new ReadableStream({
    start(stream) {
      for (let i = 0; i < 4; i++) stream.enqueue(bytes)
      stream.close()
    },
  })

  const headers = { authorization: `Bearer ${ROOT}` }
  const answer = await app.fetch(`${path}/contract`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)

  expect((await answer.json()).contract.hash).toBe(hashOf(Buffer.concat([bytes, bytes, bytes, bytes])))
  expect(bytes).toHaveLength(300_000)
})

test('an empty file has no bytes', async () => {
  const path = await newDeal()

  const sent = await send(app, 'POST', `${path}/contract`, new Uint8Array(), { 'content-type': 'text/plain' })

  expect(sent.body.contract).toMatchObject({ hash: hashOf(''), size: 0 })
  expect((await send(app, 'GET', `${path}/contract`, null)).bytes).toHaveLength(0)
})

verifies('file.upload.list', 'content for a list is added to its end', async () => {
  const path = await newDeal()

  for (const name of ['a', 'b', 'c']) await send(app, 'POST', `${path}/papers?name=${name}`, name)

  const { body } = await app.request('GET', path)
  expect(body.papers.map((one: { name: string }) => one.name)).toEqual(['a', 'b', 'c'])
  expect((await send(app, 'GET', `${path}/papers/1`, null)).text).toBe('b')
  expect((await send(app, 'GET', `${path}/papers/3`, null)).status).toBe(404)
  expect((await send(app, 'GET', `${path}/papers`, null)).status).toBe(404)
  expect((await send(app, 'GET', `${path}/papers/x`, null)).status).toBe(404)
})

verifies('file.upload.update', 'an upload is an update: If-Match, Idempotency-Key, propose, dryRun', async () => {
  const path = await newDeal()
  const up = (bytes: string, headers: Record<string, string> = {}, query = '') =>
    send(app, 'POST', `${path}/contract${query}`, bytes, { 'content-type': 'text/plain', ...headers })

  expect((await up('one', { 'if-match': '"7"' })).status).toBe(412)
  const once = await up('one', { 'if-match': '"1"', 'idempotency-key': 'k' })
  const again = await up('one', { 'if-match': '"1"', 'idempotency-key': 'k' })
  const other = await up('two', { 'if-match': '"1"', 'idempotency-key': 'k' })
  const dry = await up('three', {}, '?dryRun=true')
  const proposed = await up('four', {}, '?propose=New%20contract')

  expect([once.status, again.status, other.status, dry.status, proposed.status]).toEqual([200, 200, 422, 200, 202])
  expect(other.body.error).toBe('idempotency_mismatch')
  expect(again.body).toEqual(once.body)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect((await app.request('GET', path)).body).toMatchObject({ $version: 2, contract: { hash: hashOf('one') } })
  const review = await app.request('GET', `/~acme/changesets/${proposed.body.$id}`)
  expect(review.body.diff[0].changes.contract).toMatchObject({
    from: { hash: hashOf('one') },
    to: { hash: hashOf('four') },
  })
  const approver = await app.key('acme', 'admin:all')
  const approved = await app.as(approver)('POST', `/~acme/changesets/${proposed.body.$id}/approve`, {})
  expect(approved.status).toBe(200)
  expect((await send(app, 'GET', `${path}/contract`, null)).text).toBe('four')
})

verifies('file.upload.update', 'a BEFORE hook refuses an upload, which leaves nothing', async () => {
  await app.request('PUT', '/~hooked/schema/Deal', { contract: 'file' })
  const { body } = await app.request('POST', '/~hooked/Deal', { name: 'x' })
  const code = '(deal, $, args) => { if (args.contract.size > 3) throw new Error("too long") }'
  expect((await app.request('PUT', '/~hooked/schema/Deal/hooks/updating', { code })).status).toBeLessThan(300)

  const refused = await send(app, 'POST', `/~hooked/Deal/${body.$id}/contract`, 'four')
  const taken = await send(app, 'POST', `/~hooked/Deal/${body.$id}/contract`, 'one')

  expect(refused.status).toBe(422)
  expect(refused.body.message).toContain('too long')
  expect(taken.status).toBe(200)
  expect(blobsOf(app.data, 'hooked').whole).toHaveLength(1)
})

verifies('file.store', 'a form brings content without an entity', async () => {
  const form = new FormData()
  form.append('file', new Blob(['a letter'], { type: 'text/plain' }), 'letter.txt')
  const other = new FormData()
  other.append('scan', new Blob(['x']), 'x')

  const sent = await send(app, 'POST', '/~acme/files', form)
  const refused = await send(app, 'POST', '/~acme/files', other)

  expect(sent.status).toBe(201)
  expect(sent.body).toEqual({ hash: hashOf('a letter'), size: 8, type: 'text/plain', name: 'letter.txt' })
  expect([refused.status, refused.body.field]).toEqual([400, 'scan'])
})

verifies(['file.upload.form', 'file.create.form'], 'forms bring files and fields', async () => {
  const form = new FormData()
  form.set('name', 'From a form')
  form.set('value', '12.5')
  form.set('note', '007')
  form.set('contract', new File(['the contract'], 'c.pdf', { type: 'application/pdf' }))
  form.append('papers', new File(['p1'], 'p1.txt', { type: 'text/plain' }))
  form.append('papers', new File(['p2'], 'p2.txt', { type: 'text/plain' }))

  const made = await send(app, 'POST', '/~acme/Deal', form)

  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    name: 'From a form',
    value: 12.5,
    note: '007',
    contract: { hash: hashOf('the contract'), size: 12, type: 'application/pdf', name: 'c.pdf' },
  })
  expect(made.body.papers.map((one: { name: string }) => one.name)).toEqual(['p1.txt', 'p2.txt'])
  const path = `/~acme/Deal/${made.body.$id}`
  for (const name of ['file', 'contract']) {
    const one = new FormData()
    one.set(name, new File([`as ${name}`], 'x.txt', { type: 'text/plain' }))
    expect((await send(app, 'POST', `${path}/contract`, one)).body.contract.hash).toBe(hashOf(`as ${name}`))
  }
  const wrong = new FormData()
  wrong.set('other', new File(['x'], 'x'))
  expect((await send(app, 'POST', `${path}/contract`, wrong)).status).toBe(400)
  const refused = new FormData()
  refused.set('contract', new File(['never kept'], 'x'))
  const before = blobsOf(app.data, 'acme').whole.length
  expect((await send(app, 'POST', '/~acme/Deal', refused)).status).toBe(422)
  expect(blobsOf(app.data, 'acme').whole).toHaveLength(before)
})

verifies(
  ['file.store', 'file.write.hash', 'file.filter'],
  'content without an entity is named by its hash',
  async () => {
    const stored = await send(app, 'POST', '/~acme/files?name=plan.txt', 'a plan', { 'content-type': 'text/plain' })

    expect(stored.status).toBe(201)
    const value = { hash: hashOf('a plan'), size: 6, type: 'text/plain', name: 'plan.txt' }
    expect(stored.body).toEqual(value)
    const make = (contract: unknown) => app.request('POST', '/~acme/Deal', { name: 'x', contract })
    expect((await make({ hash: value.hash })).body.contract).toEqual(value)
    const renamed = await make({ hash: value.hash, name: 'other.txt' })
    expect(renamed.body.contract).toEqual({ ...value, name: 'other.txt' })
    const whole = await app.request('PUT', `/~acme/Deal/${renamed.body.$id}`, renamed.body)
    expect([whole.status, whole.body.$version]).toEqual([200, 1])
    for (const wrong of [
      { ...value, size: 7 },
      { ...value, type: 'text/html' },
      { ...value, more: 1 },
      { name: 'x' },
      value.hash,
      { hash: value.hash.toUpperCase() },
      { hash: `sha256:${'0'.repeat(64)}` },
    ])
      expect((await make(wrong)).status, JSON.stringify(wrong)).toBe(422)
    const count = async (filter: object) =>
      (await app.request('GET', `/~acme/Deal/count?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body.count
    expect(await count({ 'contract.size': 6, 'contract.type': 'text/plain' })).toBe(2)
    expect(await count({ 'contract.name': 'other.txt' })).toBe(1)
    expect((await app.request('GET', '/~acme/Deal/count?contract.name=other.txt')).body.count).toBe(1)
    const wrong = encodeURIComponent(JSON.stringify({ 'contract.width': 1 }))
    expect((await app.request('GET', `/~acme/Deal?filter=${wrong}`)).status).toBe(400)
  },
)

verifies(['file.reserved', 'file.names'], 'names of file fields and paths', async () => {
  const declare = (type: string, notation: object) => app.request('PUT', `/~acme/schema/${type}`, notation)

  for (const name of ['history', 'diff', 'timers', 'runs', 'erase'])
    expect((await declare('Paper', { [name]: 'file' })).status, name).toBe(422)
  expect((await declare('Paper', { sign: 'file' })).status).toBe(201)
  expect((await declare('Sheet', { qualify: 'file' })).status).toBe(201)
  expect((await declare('Contact', { qualify: 'file' })).status).toBe(422)
  for (const path of ['files', 'uploads']) expect((await declare('Thing', { $path: path })).status, path).toBe(422)
  for (const wrong of ['file#', 'file##', 'file = x'])
    expect((await declare('Bad', { x: wrong })).status, wrong).toBe(422)
})
