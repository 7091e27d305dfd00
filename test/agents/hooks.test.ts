import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, startServer } from '../faults/server.ts'
import { type Reply, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let tenants = 0
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** A tenant of its own with these hooks. */
async function tenantWith(hooks: { [step: string]: string }) {
  const tenant = `t${++tenants}`
  const request = (method: string, path: string, body?: unknown): Promise<Reply> =>
    host.request(method, `/~${tenant}${path}`, body)
  for (const [step, code] of Object.entries(hooks)) {
    const [type, name] = step.split('.')
    const { status, body } = await request('PUT', `/schema/${type}/hooks/${name}`, { code })
    expect([status, body.message]).toEqual([201, undefined])
  }
  return { tenant, request }
}

async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 40_000; Date.now() < end; ) {
    const seen = await look()
    if (seen) return seen
    await new Promise((done) => setTimeout(done, 25))
  }
  throw new Error('It did not come to pass.')
}

describe('hooks as data', () => {
  verifies(['hook.put', 'hook.code'], 'a hook is stored, read, listed, replaced and taken away', async () => {
    const { request } = await tenantWith({})
    const put = (code: string) => request('PUT', '/schema/contacts/hooks/creating', { code })

    expect((await put('(contact) => ({ title: "a" })')).status).toBe(201)
    expect((await put('(contact) => ({ title: "b" })')).status).toBe(200)
    expect((await request('GET', '/schema/Contact/hooks/creating')).body).toEqual({
      type: 'Contact',
      name: 'creating',
      runs: 'before',
      code: '(contact) => ({ title: "b" })',
      version: 2,
      failures: [],
    })
    expect((await request('GET', '/schema/Contact/hooks')).body).toMatchObject({
      total: 1,
      steps: {
        before: expect.arrayContaining(['creating', 'qualifying']),
        after: expect.arrayContaining(['qualified']),
      },
    })
    expect((await request('DELETE', '/schema/Contact/hooks/creating')).status).toBe(204)
    expect((await request('GET', '/schema/Contact/hooks/creating')).status).toBe(404)
    expect((await request('POST', '/Contact', { name: 'Ada' })).body.title).toBeUndefined()
    expect((await put('() => {}')).status).toBe(201)
  })

  verifies('hook.put.admin', 'storing a hook needs admin on the platform', async () => {
    const { tenant } = await tenantWith({})
    const put = async (scopes: string) =>
      (
        await host.as(await host.key(tenant, scopes))('PUT', `/~${tenant}/schema/Contact/hooks/creating`, {
          code: '() => {}',
        })
      ).status

    expect(await put('write:all,admin:crm')).toBe(403)
    expect(await put('admin:platform')).toBe(201)
  })

  test.each([
    ['a step that the type has not', 'Contact', 'flying', '() => {}', 404, /creating/],
    ['a type that is not there', 'Nothing', 'creating', '() => {}', 404, /no type/],
    ['code that is no function', 'Contact', 'creating', '{ a: 1 }', 422, /function/],
    ['code that cannot be read', 'Contact', 'creating', '(a => ', 422, /./],
    ['no code', 'Contact', 'creating', '', 400, /code/],
  ])('%s is refused', async (_, type, step, code, status, message) => {
    const reply = await host.request('PUT', `/~refused/schema/${type}/hooks/${step}`, { code })

    expect(reply.status).toBe(status)
    expect(reply.body.message).toMatch(message)
  })

  verifies('hook.put.tenant', 'a stored hook runs in its own tenant only', async () => {
    await tenantWith({ 'Contact.creating': '() => { throw new Error("no") }' })
    const { request } = await tenantWith({})

    expect((await request('POST', '/Contact', { name: 'Ada' })).status).toBe(201)
  })
})

describe('before a verb', () => {
  verifies(['hook.code.before', 'hook.before.change'], 'a hook may return fields to change', async () => {
    const { request } = await tenantWith({
      'Contact.creating': '(contact: any) => ({ name: contact.name.trim(), title: "new" })',
      'Contact.qualifying':
        'async (contact, $, args) => ({ title: `${contact.title} ${args.note} ${await $.Contact.count()}` })',
    })

    const { body } = await request('POST', '/Contact', { name: '  Ada ' })
    const qualified = await request('POST', `/Contact/${body.$id}/qualify`, { note: 'well' })

    expect(body).toMatchObject({ name: 'Ada', title: 'new' })
    expect(qualified.body).toMatchObject({ stage: 'Qualified', title: 'new well 1' })
  })

  verifies(
    ['hook.before.refuse', 'hook.before.nothing'],
    'a hook may refuse, and then nothing is written',
    async () => {
      const { request } = await tenantWith({
        'Contact.creating':
          "({ email }) => { if (!email?.endsWith('.example')) throw new Error('Only example addresses.') }",
      })

      const { status, body } = await request('POST', '/Contact', { name: 'Ada', email: 'a@b.com' })

      expect([status, body.error, body.message]).toEqual([422, 'rejected', 'Only example addresses.'])
      expect((await request('GET', '/Contact/count')).body.count).toBe(0)
      expect((await request('POST', '/Contact', { name: 'Ada', email: 'a@b.example' })).status).toBe(201)
    },
  )

  test.each([
    ['that never ends', '() => { for (;;); }', /50 ms/],
    ['that writes', 'async (c, $) => { await $.Organization.create({ name: "x" }) }', /only read/],
    ['that returns no object', '() => 5', /must return an object/],
    ['that breaks', '() => null.x', /null/],
  ])('a hook %s refuses the verb', async (_, code, message) => {
    const { request } = await tenantWith({ 'Contact.creating': code })

    const { status, body } = await request('POST', '/Contact', { name: 'Ada' })

    expect([status, body.error]).toEqual([422, 'rejected'])
    expect(body.message).toMatch(message)
  })

  test('what a hook returns is checked like anything else', async () => {
    const { request } = await tenantWith({ 'Contact.creating': '() => ({ stage: "Nonsense" })' })

    expect((await request('POST', '/Contact', { name: 'Ada' })).body.error).toBe('validation_error')
  })

  test('an answer holds for the version it was given for: concurrent writes lose nothing', async () => {
    const { request } = await tenantWith({})
    await request('PUT', '/schema/Counter', { name: 'string!', hits: 'number' })
    await request('PUT', '/schema/Counter/hooks/updating', { code: '(c) => ({ hits: (c.hits ?? 0) + 1 })' })
    const { body } = await request('POST', '/Counter', { name: 'c' })

    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => request('PUT', `/Counter/${body.$id}`, { name: `c${i}` })),
    )

    expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200))
    expect((await request('GET', `/Counter/${body.$id}`)).body.hits).toBe(12)
  })

  test('a dry run asks hooks too', async () => {
    const { request } = await tenantWith({ 'Contact.creating': '() => ({ title: "hooked" })' })

    const { body } = await request('POST', '/Contact?dryRun=true', { name: 'Ada' })

    expect(body.result.title).toBe('hooked')
    expect((await request('GET', '/Contact/count')).body.count).toBe(0)
  })

  test('a batch asks the hooks of each operation, references included', async () => {
    const { request } = await tenantWith({
      'Contact.creating': '() => ({ title: "hooked" })',
      'Deal.creating': '(deal) => ({ name: `${deal.name} for ${deal.contact}` })',
    })

    const { body } = await request('POST', '/batch', {
      atomic: true,
      operations: [
        { id: 'a', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
        {
          id: 'b',
          method: 'POST',
          path: '/Deal',
          body: { name: 'Deal', value: 1, contact: { $ref: 'a', path: '$id' } },
        },
      ],
    })

    const [contact, deal] = body.results
    expect([contact.status, deal.status]).toEqual([201, 201])
    expect(contact.body.title).toBe('hooked')
    expect(deal.body.name).toBe(`Deal for ${contact.body.$id}`)
    expect((await request('GET', '/Contact/count')).body.count).toBe(1)
  })

  test('in a batch a hook refuses its own operation alone', async () => {
    const { request } = await tenantWith({
      'Contact.creating': "({ name }) => { if (name === 'Eve') throw new Error('not her') }",
    })
    const post = (id: string, name: string) => ({ id, method: 'POST', path: '/Contact', body: { name } })

    const { body } = await request('POST', '/batch', {
      operations: [post('a', 'Ada'), post('b', 'Eve'), post('c', 'Cy')],
    })

    expect(body.results.map(({ status }: { status: number }) => status)).toEqual([201, 422, 201])
  })

  test('an import asks hooks for every row', async () => {
    const { tenant, request } = await tenantWith({
      'Contact.creating':
        "({ name }) => { if (name === 'Eve') throw new Error('not her'); return { title: 'hooked' } }",
    })
    const rows = ['Ada', 'Eve', 'Cy'].map((name) => JSON.stringify({ name })).join('\n')

    const { body } = await host.request('POST', `/~${tenant}/import/Contact`, rows, {
      'content-type': 'application/x-ndjson',
    })

    expect(body).toMatchObject({ imported: 2, errors: 1, details: [{ row: 1, error: 'not her' }] })
    expect((await request('GET', '/Contact?title=hooked')).body.total).toBe(2)
  })

  test('an import of rows that name later ones asks hooks and loses none', async () => {
    const { tenant, request } = await tenantWith({})
    await request('PUT', '/schema/Node', { name: 'string!', next: '-> Node', seen: 'boolean' })
    await request('PUT', '/schema/Node/hooks/creating', { code: '() => ({ seen: true })' })
    const rows = [
      { $id: 'node_a', name: 'a', next: 'node_b' },
      { $id: 'node_b', name: 'b', next: 'node_a' },
    ]

    const { body } = await host.request('POST', `/~${tenant}/import/Node`, rows)

    expect(body).toMatchObject({ imported: 2, errors: 0 })
    expect((await request('GET', '/Node?seen=true')).body.total).toBe(2)
  })

  test('sync, do and undo ask hooks', async () => {
    const { request } = await tenantWith({
      'Contact.creating': '() => ({ title: "hooked" })',
      'Contact.deleting': "({ name }) => { if (name === 'Kept') throw new Error('stays') }",
    })

    const synced = await request('POST', '/sync', {
      changes: [
        {
          type: 'Contact',
          id: 'contact_s1',
          operation: 'create',
          data: { name: 'Sy' },
          timestamp: new Date().toISOString(),
        },
      ],
    })
    const did = await request('POST', '/do', { code: "(await $.Contact.create({ name: 'Kept' })).title" })
    const undone = await request('POST', `/undo/${did.body.correlation}`)

    expect(synced.body.applied).toBe(1)
    expect((await request('GET', '/Contact/contact_s1')).body.title).toBe('hooked')
    expect(did.body.result).toBe('hooked')
    expect([undone.status, undone.body.message]).toEqual([422, 'stays'])
  })
})

describe('after a verb', () => {
  verifies(
    ['hook.after.durable', 'hook.after.context'],
    'a hook writes under its own name, and is undone with the cause',
    async () => {
      const { request } = await tenantWith({
        'Contact.created':
          'async (contact, $, event) => { await $.Organization.create({ name: `${event.type} ${contact.name}` }) }',
      })

      const did = await request('POST', '/do', { code: "await $.Contact.create({ name: 'Ada' })" })
      const made = await until(async () => (await request('GET', '/Organization')).body.results[0])

      expect(made).toMatchObject({ name: 'Contact.created Ada', $createdBy: 'hook:Contact.created' })
      expect((await request('POST', `/undo/${did.body.correlation}`)).body.undone).toBe(2)
    },
  )

  verifies(
    ['hook.after.failure', 'hook.after.retry'],
    'a failure is recorded, never undoes the verb, and is tried again',
    async () => {
      const { request } = await tenantWith({
        'Contact.created': `async (contact, $) => {
          if ((await $.Organization.count()) === 0) throw new Error('nobody yet')
          await $.Contact.update(contact.$id, { title: 'done' })
        }`,
      })

      const { body } = await request('POST', '/Contact', { name: 'Ada' })
      const failed = await until(async () => {
        const { failures } = (await request('GET', '/schema/Contact/hooks/created')).body
        return failures[0]
      })
      await request('POST', '/Organization', { name: 'now' })
      const after = await until(async () => {
        const contact = (await request('GET', `/Contact/${body.$id}`)).body
        return contact.title === 'done' && contact
      })

      expect(failed).toMatchObject({ error: expect.stringContaining('nobody yet'), next: expect.any(String) })
      expect(after.$version).toBe(2)
      await until(async () => (await request('GET', '/schema/Contact/hooks/created')).body.failures.length === 0)
    },
  )

  test('a loop of hooks ends and is recorded', async () => {
    const { request } = await tenantWith({
      'Organization.created':
        'async (organization, $) => { await $.Organization.create({ name: organization.name + "+" }) }',
    })

    await request('POST', '/Organization', { name: 't' })
    const stopped = await until(
      async () => (await request('GET', '/schema/Organization/hooks/created')).body.failures[0],
    )

    expect(stopped).toMatchObject({ error: expect.stringContaining('loop'), next: null })
    expect((await request('GET', '/Organization/count')).body.count).toBe(7)
  })

  test('what a hook after a verb writes meets the hook before another', async () => {
    const { request } = await tenantWith({
      'Contact.created': 'async (contact, $) => { await $.Organization.create({ name: contact.name }) }',
      'Organization.creating': '(organization) => ({ name: organization.name.toUpperCase() })',
    })

    await request('POST', '/Contact', { name: 'ada' })

    expect((await until(async () => (await request('GET', '/Organization')).body.results[0])).name).toBe('ADA')
  })

  verifies('hook.after.crash', 'a crash between the verb and its hook does not lose the hook', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-hooks-'))
    try {
      const first = await startServer(data)
      await ask(first.url, 'PUT', '/~acme/schema/Contact/hooks/created', {
        code: 'async (contact, $) => { await $.Organization.create({ name: contact.name }) }',
      })
      await ask(first.url, 'POST', '/~acme/Contact', { name: 'Ada' })
      await first.kill()

      const second = await startServer(data)
      const made = await until(async () => {
        const { body } = (await ask(second.url, 'GET', '/~acme/Organization'))!
        return body.total > 0 && body
      })
      await second.kill()

      expect(made.results[0].name).toBe('Ada')
    } finally {
      rmSync(data, { recursive: true, force: true })
    }
  })
})
