import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type HookHost, hookHost } from './hook-host.ts'

let host: TestHost
let tenantWith: HookHost['tenantWith']
beforeAll(async () => {
  ;({ host, tenantWith } = await hookHost())
})
afterAll(() => host.stop())

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
