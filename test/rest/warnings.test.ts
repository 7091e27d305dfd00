import { tildebase, type Warning } from '@tildebase/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { type Reply, ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let ada: { $id: string }
const tilde = tildeWith({})
beforeAll(async () => {
  host = await testHost()
  const { body: org } = await host.request('POST', '/~acme/Organization', { name: 'Analytical' })
  ada = (await host.request('POST', '/~acme/Contact', { name: 'Ada', nick: 'A', organization: org.$id })).body
})
afterAll(() => host.stop())

const warned = ({ headers }: Reply): Warning[] => JSON.parse(headers.get('x-tilde-warnings') ?? '[]')
const read = async (path: string) => warned(await host.request('GET', `/~acme/${path}`))

describe('a name that is neither declared nor stored', () => {
  verifies('typo.query', 'is reported where a query, a sort or an aggregation names it', async () => {
    for (const [path, ...expected] of [
      ['Contact?stge=Lead', ['stge', 'stage']],
      ['Contact?page=2&per_page=10', ['page', null], ['per_page', null]],
      [
        `Contact?filter=${encodeURIComponent('{"$or":[{"ledScore":{"$gt":1}},{"name":"x"}]}')}`,
        ['ledScore', 'leadScore'],
      ],
      [`Contact?filter=${encodeURIComponent('{"filter":{"name":"Ada"}}')}`, ['filter', null]],
      ['Contact?sort=-nam,name', ['nam', 'name']],
      ['Contact?fields=name,emial', ['emial', 'email']],
      ['Contact/count?stge=Lead', ['stge', 'stage']],
      ['Contact/aggregate?median=leadScore&group=stge', ['median', null], ['stge', 'stage']],
      ['Contact/aggregate?group=createdAt:month&sum=ledScore', ['ledScore', 'leadScore']],
      ['export/Contact?stge=Lead', ['stge', 'stage']],
      ['Contact?organization.nme=x', ['organization.nme', 'organization.name']],
      ['Event?sort=-nam', ['nam', 'name']],
      ['events?nme=x', ['nme', 'name']],
      ['events?since=7d%20ago&sort=nme', ['nme', 'name']],
      ['Event/count?nme=x', ['nme', 'name']],
      ['events/aggregate?group=nme', ['nme', 'name']],
      ['Contact?asof=1&Limit=5', ['asof', 'asOf'], ['Limit', 'limit']],
      ['events?type=contacts', ['type: contacts', 'Contact']],
      ['events?type=deal,track&limit=1', ['type: deal', 'Deal']],
      ['events?type=track'],
      ['events?type=Contct', ['type: Contct', 'Contact']],
      [`Contact/${ada.$id}?asof=1&expand=organization`, ['asof', 'asOf'], ['expand', null]],
    ] as const)
      expect([path, await read(path)]).toEqual([path, expected.map(([field, nearest]) => ({ field, nearest }))])
  })

  verifies('typo.body', 'is reported where a body names it, until it is stored', async () => {
    const first = await host.request('POST', '/~acme/Contact', { name: 'Bob', emial: 'b@b.example' })
    const second = await host.request('POST', '/~acme/Contact', { name: 'Cleo', emial: 'c@c.example' })
    const update = await host.request('PUT', `/~acme/Contact/${ada.$id}`, { titel: 'Countess' })
    const verb = await host.request('POST', `/~acme/Contact/${ada.$id}/qualify`, { ledScore: 3 })

    expect([first.status, warned(first)]).toEqual([201, [{ field: 'emial', nearest: 'email' }]])
    expect(warned(second)).toEqual([])
    expect(warned(update)).toEqual([{ field: 'titel', nearest: 'title' }])
    expect(warned(verb)).toEqual([{ field: 'ledScore', nearest: 'leadScore' }])
  })

  verifies('typo.body', 'is reported where a proposal or a dry run names it, and refused with strict', async () => {
    const draft = { name: 'Dan', emaill: 'd@d.example' }

    const refused = await host.request('POST', '/~acme/Contact?propose=Dan&strict=true', draft)
    const proposed = await host.request('POST', '/~acme/Contact?propose=Dan', draft)
    const update = await host.request('PUT', `/~acme/Contact/${ada.$id}?propose=Ada`, { tilte: 'Countess' })
    const tried = await host.request('POST', '/~acme/Contact?dryRun=true', draft)

    expect([refused.status, refused.body.field]).toEqual([422, 'emaill'])
    expect([proposed.status, warned(proposed)]).toEqual([202, [{ field: 'emaill', nearest: 'email' }]])
    expect([update.status, warned(update)]).toEqual([202, [{ field: 'tilte', nearest: 'title' }]])
    expect([tried.status, warned(tried)]).toEqual([200, [{ field: 'emaill', nearest: 'email' }]])
  })

  test('is refused where it is a misspelt dryRun or propose: the write would be executed', async () => {
    const paths = ['Contact?dryrun=true', 'Contact?dry_run=true', 'Contact?Propose=Eve', 'import/Contact?DryRun=1']
    for (const path of paths) {
      const { status, body } = await host.request('POST', `/~acme/${path}`, { name: 'Eve' })
      expect([path, status, body.error, body.message]).toEqual([
        path,
        400,
        'invalid_parameter',
        expect.stringMatching(/mean (dryRun|propose)\?/),
      ])
    }
    const operations = [{ id: 'a', method: 'DELETE', path: `/Contact/${ada.$id}`, query: { dryrun: true } }]
    const batch = await host.request('POST', '/~acme/batch', { operations })
    const other = await host.request('PUT', `/~acme/Contact/${ada.$id}?dryrum=true`, { name: 'Ada' })

    expect(batch.body.results[0].status).toBe(400)
    expect(warned(other)).toEqual([{ field: 'dryrum', nearest: 'dryRun' }])
    expect((await host.request('GET', '/~acme/Contact/count?name=Eve')).body.count).toBe(0)
  })

  verifies('typo.body', 'is reported where a change of a sync names it, and refused with strict', async () => {
    const sync = (query: string, data: object, more: object = {}) => {
      const change = { type: 'Contact', id: ada.$id, operation: 'update', timestamp: '2027-01-01T00:00:00Z', data }
      return host.request('POST', `/~acme/sync${query}`, { changes: [{ ...change, ...more }], lastsyncAt: null })
    }

    const refused = await sync('?strict=true', { phne: '1' })
    const first = await sync('', { phne: '1' }, { clok: {} })
    const second = await sync('', { phne: '2' })

    expect([refused.status, refused.body.field]).toEqual([400, 'lastsyncAt'])
    expect(warned(first)).toEqual([
      { field: 'lastsyncAt', nearest: 'lastSyncAt' },
      { field: 'changes.0.clok', nearest: 'clock' },
      { field: 'phne', nearest: 'phone' },
    ])
    expect(warned(second)).toEqual([{ field: 'lastsyncAt', nearest: 'lastSyncAt' }])
  })

  test('of a change of a sync is refused with strict, and nothing is applied', async () => {
    const change = { type: 'Contact', operation: 'create', timestamp: '2026-01-01T00:00:00Z' }
    const { status, body } = await host.request('POST', '/~strict/sync?strict=true', {
      changes: [
        { ...change, id: 'contact_1', data: { name: 'Ada' } },
        { ...change, id: 'contact_2', data: { name: 'Bob', emial: 'b@b.example' } },
      ],
    })

    expect([status, body.error, body.field]).toEqual([422, 'validation_error', 'emial'])
    expect((await host.request('GET', '/~strict/Contact')).body.total).toBe(0)
  })

  test.each([
    ['PUT', 'schema/Contact/hooks/creating', { code: '() => ({})', Code: '' }, 'Code', 'code'],
    ['POST', 'Contact/:id/erase', { reson: 'asked' }, 'reson', 'reason'],
    ['PUT', 'secrets/TOKEN', { value: 'long enough', valeu: '' }, 'valeu', 'value'],
  ])('of the body of %s %s is reported, and refused with strict', async (method, path, given, field, nearest) => {
    const { body } = await host.request('POST', '/~other/Contact', { name: 'Eve' })
    const send = (query: string) => host.request(method, `/~other/${path.replace(':id', body.$id)}${query}`, given)

    const refused = await send('?strict=true')
    const done = await send('')

    expect([refused.status, refused.body.error, refused.body.field]).toEqual([400, 'invalid_body', field])
    expect([done.status < 300, warned(done)]).toEqual([true, [{ field, nearest }]])
  })

  verifies('typo.body', 'is named where a body is refused that lacks a required field', async () => {
    const { status, body } = await host.request('POST', '/~acme/Contact', { nmae: 'Fay' })

    expect(status).toBe(422)
    expect(body.details).toEqual([{ field: 'name', message: 'is required' }])
    expect(body.message).toMatch(/name: is required\. nmae is not a field of Contact; did you mean name\?$/)
  })

  test('is reported where the filter of a webhook or a workflow names it, and refused with strict', async () => {
    const steps = [{ verb: 'create', type: 'Deal', args: { name: 'D' } }]
    const url = 'https://example.org/hook'
    const events = ['Contact.created', 'contact.*']
    const stored = [
      ['webhooks', { url, events, filter: { nam: 'x' } }, ['filter.nam', null]],
      ['webhooks', { url, events, filter: { name: 'x' } }, ['filter.name', 'data.name']],
      ['webhooks', { url, events, filter: { 'data.stge': 'x', verb: 'create' } }, ['filter.data.stge', 'data.stage']],
      ['webhooks', { url, events: ['*'], filter: { verbb: 'x' } }, ['filter.verbb', 'verb']],
      ['webhooks', { url, events: ['*'], filter: { 'data.anything': 'x' } }],
      ['webhooks', { url, events: ['Contact.*', 'Deal.*'], filter: { 'data.value': 1, changed: 'stage' } }],
      [
        'Workflow',
        { name: 'w', triggerEvent: 'Contact.created', filter: { stge: 'x' }, steps },
        ['filter.stge', 'stage'],
      ],
      ['Workflow', { name: 'w', triggerEvent: 'Contact.created', filter: { nick: 'A' }, steps }],
    ] as const
    for (const [path, body, ...expected] of stored) {
      const strict = await host.request('POST', `/~acme/${path}?strict=true`, body)
      const plain = await host.request('POST', `/~acme/${path}`, body)

      expect([plain.status, warned(plain)]).toEqual([201, expected.map(([field, nearest]) => ({ field, nearest }))])
      expect(strict.status).toBe(expected.length > 0 ? 422 : 201)
    }
  })

  verifies('typo.strict', 'is refused with strict on every path that lists, counts or follows', async () => {
    const statuses = []
    for (const path of [
      'Contact?sort=nam',
      'Contact/count?stge=x',
      'Contact/aggregate?group=stge',
      'export/Contact?sort=nam',
    ])
      statuses.push((await host.request('GET', `/~acme/${path}&strict=true`)).status)
    for (const path of ['Event?sort=nam', 'events?nme=x', 'events/count?nme=x', 'Event/aggregate?group=nme'])
      statuses.push((await host.request('GET', `/~acme/${path}&strict=true`)).status)
    for (const path of ['Contact?sort=nam', 'events?nme=x'])
      statuses.push(
        (await host.request('GET', `/~acme/${path}&strict=true`, undefined, { accept: 'text/event-stream' })).status,
      )
    statuses.push((await host.request('POST', '/~acme/events?strict=true', { name: 'Seen', sesion: 's' })).status)

    expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 422])
  })

  verifies('typo.strict', 'is refused with strict, and nothing is written', async () => {
    const before = (await host.request('GET', '/~acme/Contact/count')).body.count
    const list = await host.request('GET', '/~acme/Contact?stat=x&strict=true')
    const create = await host.request('POST', '/~acme/Contact?strict=true', { name: 'Dan', phnoe: '1' })

    expect([list.status, list.body.details]).toEqual([
      400,
      [{ field: 'stat', message: 'is not a field of Contact; did you mean status?' }],
    ])
    expect([create.status, create.body.error, create.body.field]).toEqual([422, 'validation_error', 'phnoe'])
    expect((await host.request('GET', '/~acme/Contact/count')).body.count).toBe(before)
    expect((await host.request('POST', '/~acme/Contact?strict=true', { name: 'Eve', nick: 'E' })).status).toBe(201)
  })

  verifies('typo.code', 'is reported where code uses it, in REST and in MCP, and refused with strict', async () => {
    const code = `await $.Deal.find({ vlue: 1 }, { sort: '-stge', fields: 'nme' })
      const deal = await $.Deal.create({ name: 'D', curency: 'eur' })
      await $.Deal.update(deal.$id, { curency: 'usd' })
      await $.Deal.lose(deal.$id, { lostReasn: 'price' })
      await $.Deal.aggregate({ group: ['stag', 'createdAt:month'], filter: { 'organization.nme': 'x' } })
      await $.Agent.count()`
    const rest = await host.request('POST', '/~acme/do', { code })
    const dry = await host.request('POST', '/~acme/do?dryRun=true', { code: `await $.Deal.find({ valeu: 1 })` })
    const params = { name: 'do', arguments: { code: `await $.Deal.find({ vlue: 1 })` } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const mcp = await host.request('POST', '/~acme/mcp', message, { accept: 'application/json' })
    const strict = await host.request('POST', '/~acme/do?strict=true', {
      code: `await $.Deal.create({ name: 'E', vlue: 1 })`,
    })

    const expected = [
      ['vlue', 'value'],
      ['stge', 'stage'],
      ['nme', 'name'],
      ['curency', 'currency'],
      ['lostReasn', 'lostReason'],
      ['organization.nme', 'organization.name'],
      ['stag', 'stage'],
    ].map(([field, nearest]) => ({ type: 'Deal', field, nearest }))
    expect([rest.status, rest.body.warnings]).toEqual([200, expected])
    expect(warned(rest)).toEqual(expected)
    expect(dry.body.warnings).toEqual([{ type: 'Deal', field: 'valeu', nearest: 'value' }])
    expect(mcp.body.result.structuredContent.warnings).toEqual([{ type: 'Deal', field: 'vlue', nearest: 'value' }])
    expect([strict.status, strict.body.message]).toEqual([422, expect.stringContaining('did you mean value')])
    expect((await host.request('GET', '/~acme/Deal/count')).body.count).toBe(1)
  })

  test('is reported where an option of code has it, and refused with strict', async () => {
    const code = `await $.Deal.find({}, { asof: 1, limit: 1 }); await $.Deal.count({}, { wat: 1 })`
    const reply = await host.request('POST', '/~acme/do', { code })
    const strict = await host.request('POST', '/~acme/do?strict=true', { code })

    expect([reply.status, reply.body.warnings]).toEqual([
      200,
      [
        { type: 'Deal', field: 'asof', nearest: 'asOf' },
        { type: 'Deal', field: 'wat', nearest: null },
      ],
    ])
    expect([strict.status, strict.body.message]).toEqual([
      422,
      expect.stringContaining('asof is not an option of find; did you mean asOf?'),
    ])
  })

  verifies('typo.import', 'is reported once for all rows of an import, and refuses rows with strict', async () => {
    const rows = [{ subject: 'a', priorty: 'Low' }, { subject: 'b', priorty: 'High' }, { subject: 'c' }]
    const strict = await host.request('POST', '/~acme/import/Ticket?strict=true', rows)
    const dry = await host.request('POST', '/~acme/import/Ticket?dryRun=true', rows)
    const done = await host.request('POST', '/~acme/import/Ticket', rows)
    const again = await host.request('POST', '/~acme/import/Ticket', rows)

    const expected = [{ field: 'priorty', nearest: 'priority' }]
    expect(strict.body).toMatchObject({ imported: 1, errors: 2, details: [{ row: 0 }, { row: 1 }] })
    expect(strict.body.details[0].error).toContain('did you mean priority')
    expect([dry.body.warnings, warned(dry)]).toEqual([expected, expected])
    expect([done.body.imported, done.body.warnings, warned(done)]).toEqual([3, expected, expected])
    expect([again.body.warnings, warned(again)]).toEqual([undefined, []])
  })

  test('is what it says: declared, stored and meta-fields are known', async () => {
    for (const path of [
      'Contact?stage=Lead&nick=A&sort=createdAt,-$updatedAt&fields=name,nick,$version&limit=5',
      `Contact?filter=${encodeURIComponent('{"organization.name":"x","$text":"ada"}')}`,
      'Contact/aggregate?group=organization.industry,createdAt:day&max=leadScore',
      `Contact/${ada.$id}?fields=name&include=organization&asOf=now`,
      'Invoice?total=5',
    ])
      expect([path, await read(path)]).toEqual([path, []])
    const webhook = { url: 'https://example.com/', events: ['*'], secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0' }
    expect(warned(await host.request('POST', '/~acme/webhooks', webhook))).toEqual([])
    const key = { name: 'k', scopes: 'read:crm', expiresAt: '2099-01-01T00:00:00Z' }
    expect(warned(await host.request('POST', '/~acme/api-keys', key))).toEqual([])
  })

  test('is not a name of the past, at a time when entities had it', async () => {
    await host.request('PUT', '/~acme/schema/Ship', { length: 'number' })
    const { body: ship } = await host.request('POST', '/~acme/Ship', { length: 27, mast: 'oak' })
    const { body: then } = await host.request('GET', '/~acme/events?type=Ship')
    await host.request('POST', '/~acme/schema/Ship/rename', { from: 'length', to: 'metres' })
    await host.request('PUT', `/~acme/Ship/${ship.$id}`, { mast: null })

    for (const name of ['length', 'mast'])
      for (const path of [
        `Ship?${name}=1`,
        `Ship?sort=${name}`,
        `Ship/aggregate?group=${name}`,
        `export/Ship?${name}=1`,
      ]) {
        const past = await host.request('GET', `/~acme/${path}&asOf=${then.cursor}&strict=true`)
        expect([path, past.status, warned(past)]).toEqual([path, 200, []])
      }
    expect(await read('Ship?length=1')).toEqual([{ field: 'length', nearest: null }])
    const code = `return [
      await $.Ship.find({ length: 27 }, { asOf: ${then.cursor} }),
      await $.Ship.aggregate({ group: ['length'], asOf: ${then.cursor} }),
    ]`
    expect((await host.request('POST', '/~acme/do?strict=true', { code })).body).toMatchObject({
      result: [[{ $id: ship.$id }], { results: [{ length: 27, count: 1 }] }],
    })
  })

  test('of a type in the pattern of a webhook or a workflow is reported', async () => {
    const reply = await host.request('POST', '/~acme/webhooks', {
      url: 'https://example.com/',
      events: ['Contct.created'],
    })

    expect([reply.status, warned(reply)]).toEqual([201, [{ field: 'events: Contct', nearest: 'Contact' }]])
    const workflow = await host.request('POST', '/~acme/Workflow', {
      name: 'w',
      triggerEvent: 'Contct.created',
      steps: [],
    })
    expect(warned(workflow)).toEqual([{ field: 'triggerEvent: Contct', nearest: 'Contact' }])
  })

  test('is reported by reads that take no fields, and refused with strict', async () => {
    for (const [path, ...expected] of [
      [`Contact/${ada.$id}/history?foo=1`, ['foo', null]],
      [`Contact/${ada.$id}/history?limt=1`, ['limt', 'limit']],
      [`Contact/${ada.$id}/diff?from=1&to=now&asof=1`, ['asof', null]],
      [`Contact/${ada.$id}/timers?foo=1`, ['foo', null]],
      ['manifest?foo=1', ['foo', null]],
      ['metrics?asof=7d%20ago', ['asof', 'asOf']],
      ['schema?foo=1', ['foo', null]],
      ['status?foo=1', ['foo', null]],
      ['tasks?foo=1', ['foo', null]],
      ['events?type=Contact.create&limit=1', ['type: Contact.create', 'Contact.created']],
    ] as const) {
      const strict = await host.request('GET', `/~acme/${path}&strict=true`)
      expect([path, await read(path)]).toEqual([path, expected.map(([field, nearest]) => ({ field, nearest }))])
      expect([path, strict.status, strict.body.error]).toEqual([path, 400, 'invalid_parameter'])
    }
    expect((await host.request('GET', '/~acme/events?limit=1&strict=true')).body.results[0].seq).toBe(1)
  })

  test('is reported where the operations of a changeset name it, and refused with strict', async () => {
    const operations = [
      { type: 'Deal', verb: 'create', data: { name: 'D', vlue: 1 } },
      { type: 'Contact', verb: 'update', id: ada.$id, data: { name: 'Ada', emial: 'a' } },
    ]
    const strict = await host.request('POST', '/~acme/changesets?strict=true', { title: 'T', operations })
    const plain = await host.request('POST', '/~acme/changesets', { title: 'T', operations: operations.slice(0, 1) })

    expect([strict.status, strict.body.field]).toEqual([422, 'vlue'])
    expect([plain.status, warned(plain)]).toEqual([201, [{ field: 'vlue', nearest: 'value' }]])
  })

  test.each([
    ['batch', { operations: [] }],
    ['do', { code: '1' }],
    ['sync', {}],
    ['files', 'content'],
  ])('is reported where a request to %s has it as a parameter, and refused with strict', async (path, body) => {
    const strict = await host.request('POST', `/~acme/${path}?foo=1&strict=true`, body)
    const plain = await host.request('POST', `/~acme/${path}?foo=1`, body)

    expect([strict.status, strict.body.error]).toEqual([400, 'invalid_parameter'])
    expect([plain.status < 300, warned(plain)]).toEqual([true, [{ field: 'foo', nearest: null }]])
  })

  test('does not change what a manifest lists', async () => {
    const plain = await host.request('GET', '/~acme/manifest')
    const odd = await host.request('GET', '/~acme/manifest?foo=1')

    expect(odd.body.files).toEqual(plain.body.files)
    expect(odd.body.files).toHaveProperty(['Contact.parquet'])
  })

  test('is reported where an import names a parameter, or a pattern without a dot is refused', async () => {
    const imported = await host.request('POST', '/~acme/import/Site?foo=1', [{ name: 'S' }])
    const webhook = await host.request('POST', '/~acme/webhooks', { url: 'https://example.com/', events: ['nope'] })

    expect([imported.body.imported, warned(imported)]).toEqual([1, [{ field: 'foo', nearest: null }]])
    expect([webhook.status, webhook.body.message]).toEqual([422, expect.not.stringContaining('is not a field')])
  })

  test('does not depend on rows that a key may not see', async () => {
    const key = await host.key('acme', 'read:Contact', { filter: { Contact: { name: 'Nobody' } } })

    expect(warned(await host.as(key)('GET', '/~acme/Contact?nick=A'))).toEqual([{ field: 'nick', nearest: null }])
  })

  test('holds any letters in an answer that is a header', async () => {
    expect(await read(`Contact?${encodeURIComponent('größe😀')}=1`)).toEqual([{ field: 'größe😀', nearest: null }])
  })
})

describe('a name without an effect', () => {
  const ignored = (...fields: string[]) => fields.map((field) => ({ field, nearest: null, warning: 'ignored' }))

  test('is reported where a read names a parameter that it does not take', async () => {
    for (const [path, ...fields] of [
      ['export/Contact?limit=1&sort=name&offset=1&include=deals', 'limit', 'sort', 'offset', 'include'],
      ['Contact/count?limit=1', 'limit'],
      ['Contact/aggregate?group=stage&limit=1', 'limit'],
      [`Contact/${ada.$id}?limit=3&since=today`, 'limit', 'since'],
      ['Contact?since=today', 'since'],
      ['events?name=x&wait=0', 'wait'],
      [`Contact/${ada.$id}/history?sort=seq`, 'sort'],
    ] as const)
      expect([path, await read(path)]).toEqual([path, ignored(...fields)])
    expect(await read('export/Event?sort=nme')).toEqual([{ field: 'nme', nearest: 'name' }, ...ignored('sort')])
    expect((await host.request('GET', '/~acme/export/Contact?limit=1&strict=true')).status).toBe(400)
  })

  test('is reported where a body sets what only the service sets', async () => {
    const created = await host.request('POST', '/~acme/Site', { name: 'S', $id: 'site_1', createdAt: '2001-01-01' })
    const path = `/~acme/Site/${created.body.$id}`
    const updated = await host.request('PUT', path, { $version: 9, updatedAt: '2001-01-01T00:00:00Z' })
    const key = await host.request('POST', '/~acme/api-keys', { name: 'K', status: 'Revoked', keyPrefix: 'tb_mine_' })

    expect([created.status, warned(created)]).toEqual([201, ignored('$id', 'createdAt')])
    expect([updated.status, warned(updated)]).toEqual([200, ignored('$version', 'updatedAt')])
    expect([key.status, warned(key)]).toEqual([201, ignored('status', 'keyPrefix')])
  })

  test('is none in what a client has read and sends back', async () => {
    const { body: site } = await host.request('POST', '/~acme/Site', { name: 'Same' })
    const same = await host.request('PUT', `/~acme/Site/${site.$id}?strict=true`, site)
    const other = await host.request('PUT', `/~acme/Site/${site.$id}?strict=true`, { ...site, title: 'New' })

    expect([same.status, warned(same)]).toEqual([200, []])
    expect([other.status, other.body.$version, warned(other)]).toEqual([200, 2, []])
  })

  test('is said in words by the command line', async () => {
    const args = ['--url', host.url, '--key', ROOT, '--tenant', 'acme']
    const { err } = await tilde('Site.create', '--name', 'S', '--data', '{"createdAt":"2001-01-01"}', ...args)

    expect(err).toBe('tilde: createdAt has no effect here.\n')
  })
})

describe('a warning reaches', () => {
  test('a batch, next to the result of its operation', async () => {
    const operations = [
      { id: 'a', method: 'GET', path: '/Contact?stge=Lead' },
      { id: 'b', method: 'GET', path: '/Contact' },
    ]
    const { body } = await host.request('POST', '/~acme/batch', { operations })

    expect(body.results[0].warnings).toEqual([{ field: 'stge', nearest: 'stage' }])
    expect(body.results[1]).not.toHaveProperty('warnings')
  })

  test('a batch and code that have names of their own which do not exist', async () => {
    const operations = [{ id: 'a', method: 'GET', path: '/Contact', ifmatch: 1 }]
    const code = { code: '1', dryrun: true }
    const batch = await host.request('POST', '/~acme/batch', { operations, atomc: true })
    const atomic = await host.request('POST', '/~acme/batch', { operations, atomic: true })
    const ran = await host.request('POST', '/~acme/do', code)
    const refused = [
      await host.request('POST', '/~acme/batch?strict=true', { operations }),
      await host.request('POST', '/~acme/do?strict=true', code),
      await host.request('POST', '/~acme/do', { ...code, strict: true }),
    ]

    expect([batch.status, warned(batch)]).toEqual([
      200,
      [
        { field: 'atomc', nearest: 'atomic' },
        { field: 'operations.0.ifmatch', nearest: 'ifMatch' },
      ],
    ])
    expect(warned(atomic)).toEqual([{ field: 'operations.0.ifmatch', nearest: 'ifMatch' }])
    expect([ran.status, warned(ran)]).toEqual([200, [{ field: 'dryrun', nearest: 'dryRun' }]])
    expect(refused.map(({ status, body }) => [status, body.error, body.field])).toEqual([
      [400, 'invalid_body', 'operations.0.ifmatch'],
      [400, 'invalid_body', 'dryrun'],
      [400, 'invalid_body', 'dryrun'],
    ])
    expect(refused[2]!.body.message).toMatch(/did you mean dryRun\?$/)
  })

  test('a batch with strict, for all of its operations', async () => {
    const operations = [
      { id: 'a', method: 'POST', path: '/Contact', body: { name: 'Flo', phnoe: '1' } },
      { id: 'b', method: 'GET', path: '/Contact?sort=nam' },
      { id: 'c', method: 'GET', path: '/Contact' },
    ]
    const { body } = await host.request('POST', '/~acme/batch?strict=true', { operations })

    expect(body.results.map(({ status }: any) => status)).toEqual([422, 400, 200])
  })

  test('agents, in the result of search', async () => {
    const call = { name: 'search', arguments: { type: 'Contact', filter: { stge: 'Lead' } } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
    const { body } = await host.request('POST', '/~acme/mcp', message, { accept: 'application/json' })

    expect(body.result.structuredContent.warnings).toEqual([{ field: 'stge', nearest: 'stage' }])
  })

  test('users of the client', async () => {
    const told: Warning[] = []
    const options = { tenant: 'acme', apiKey: ROOT, baseUrl: host.url }
    const $ = tildebase({ ...options, onWarnings: (warnings) => void told.push(...warnings) })

    await $.request('GET', '/Contact', { query: { stge: 'Lead' } })

    expect(told).toEqual([{ field: 'stge', nearest: 'stage' }])
  })

  test('the command line and the client, of a message that nothing sends', async () => {
    const args = ['--url', host.url, '--key', ROOT, '--tenant', 'acme']
    const made = await tilde('Message.create', '--channel', 'SMS', '--body', 'Hello', '--json', ...args)
    const { err } = await tilde('Message.send', made.json.$id, ...args)

    expect(err).toBe('tilde: Nothing sends this: no transport for SMS is configured.\n')
  })

  test('the command line, next to the result', async () => {
    const args = ['--url', host.url, '--key', ROOT, '--tenant', 'acme']
    const { code, json, err } = await tilde('Contact.find', '--filter', '{"stge":"Lead"}', '--json', ...args)

    expect([code, json.total]).toEqual([0, 0])
    expect(err).toBe('tilde: stge is neither declared nor stored; did you mean stage?\n')
  })
})
