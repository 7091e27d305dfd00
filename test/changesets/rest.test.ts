import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
let agent: ReturnType<TestApp['as']>
let person: ReturnType<TestApp['as']>
const at = (path: string) => `/~acme${path}`

beforeAll(async () => {
  app = await testApp()
  agent = app.as(await app.key('acme', 'propose:crm'))
  person = app.as(await app.key('acme', 'write:crm'))
})
afterAll(() => app.stop())

async function contact(fields: object = {}): Promise<string> {
  return (await app.request('POST', at('/Contact'), { name: 'Ada', ...fields })).body.$id
}

async function read(id: string) {
  return (await app.request('GET', at(`/Contact/${id}`))).body
}

verifies(
  ['changeset.propose.rest', 'changeset.preview', 'changeset.diff', 'changeset.shapes'],
  'a proposed update is answered 202 with the changeset and a preview, and is shown as a diff',
  async () => {
    const id = await contact({ title: 'Countess' })

    const { status, body, headers } = await agent('PUT', at(`/Contact/${id}?propose=New+title&reason=Asked+for`), {
      title: 'Lady',
    })
    const shown = await person('GET', at(`/changesets/${body.$id}`))

    expect(status).toBe(202)
    expect(body).toMatchObject({
      $id: expect.stringMatching(/^changeset_/),
      $type: 'Changeset',
      title: 'New title',
      reason: 'Asked for',
      state: 'Open',
      operationCount: 1,
      operations: [{ number: 1, type: 'Contact', verb: 'update', id, data: { title: 'Lady' } }],
      preview: { $id: id, title: 'Lady', $version: 2 },
    })
    expect(headers.get('location')).toBe(`/~acme/changesets/${body.$id}`)
    expect(await read(id)).toMatchObject({ title: 'Countess', $version: 1 })
    expect(shown.body).toMatchObject({
      diff: [
        { operation: 1, type: 'Contact', id, verb: 'update', changes: { title: { from: 'Countess', to: 'Lady' } } },
      ],
      conflicts: [],
      messages: [],
    })
  },
)

verifies(
  ['changeset.approve', 'changeset.events'],
  'approving runs the verbs as the approver, on behalf of the author',
  async () => {
    const id = await contact()
    const { body: changeset } = await agent('POST', at(`/Contact/${id}/qualify?propose=Qualify`))

    const { status, body } = await person('POST', at(`/changesets/${changeset.$id}/approve`))
    const { results } = (await person('GET', at('/events?type=Contact.qualified'))).body
    const own = (await person('GET', at('/events?type=Changeset'))).body.results.filter(
      ({ entityId }: any) => entityId === changeset.$id,
    )
    const history = (await person('GET', at(`/changesets/${changeset.$id}/history`))).body.results

    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'Approved', results: [{ operation: 1, type: 'Contact', id, version: 2 }] })
    expect(results.at(-1)).toMatchObject({
      entityId: id,
      actor: body.reviewer,
      onBehalfOf: changeset.author,
      correlation: changeset.$id,
    })
    expect(own.map(({ type }: any) => type)).toEqual(['Changeset.proposed', 'Changeset.approved'])
    expect(history.map(({ event }: any) => event)).toEqual(['approved', 'proposed'])
    expect(await read(id)).toMatchObject({ stage: 'Qualified' })
  },
)

verifies('changeset.scope', 'a key that proposes cannot write, and the error says how to propose', async () => {
  const id = await contact()

  const { status, body } = await agent('PUT', at(`/Contact/${id}`), { title: 'x' })
  const other = await agent('POST', at('/Invoice?propose=x'), { number: '1' })
  const readable = await agent('GET', at(`/Contact/${id}`))
  const approval = await agent('PUT', at(`/Contact/${id}?propose=x`), { title: 'x' })
  const own = await agent('POST', at(`/changesets/${approval.body.$id}/approve`))

  expect(status).toBe(403)
  expect(body.message).toContain('?propose=<title>')
  expect(other.status).toBe(403)
  expect(readable.status).toBe(200)
  expect(own.status).toBe(403)
  expect(await read(id)).not.toHaveProperty('title')
})

test('a merge of two contacts is proposed, and approved', async () => {
  const [ada, other] = [await contact(), await contact()]
  const { body } = await agent('POST', at(`/Contact/${ada}/merge?propose=Merge`), { into: other })
  const approved = await person('POST', at(`/changesets/${body.$id}/approve`))

  expect(approved.status, approved.text).toBe(200)
  expect(body.operations).toMatchObject([{ verb: 'merge', id: ada, data: { into: other } }])
  expect((await read(ada)).error).toBe('not_found')
  expect((await read(other)).name).toBe('Ada')
})

test('a batch is proposed whole, with references between its operations', async () => {
  const operations = [
    { id: 'org', method: 'POST', path: '/Organization', body: { name: 'Acme' } },
    { id: 'ada', method: 'POST', path: '/Contact', body: { name: 'Ada L', organization: { $ref: 'org' } } },
    { id: 'up', method: 'POST', path: '/Contact/${ada.$id}/qualify' },
  ]
  const { status, body } = await agent('POST', at('/batch?propose=Batch'), { operations })
  const before = await app.request('GET', at('/Contact?name=Ada+L'))
  const failed = await agent('POST', at('/batch?propose=Batch'), {
    operations: [...operations, { id: 'bad', method: 'POST', path: '/Contact', body: {} }],
  })

  const approved = await person('POST', at(`/Changeset/${body.$id}/approve`), {})
  const { results } = (await app.request('GET', at('/Contact?name=Ada+L&include=organization'))).body

  expect(status).toBe(202)
  expect(body.preview.results.map((one: any) => one.status)).toEqual([201, 201, 200])
  expect(before.body.total).toBe(0)
  expect(failed.status).toBe(422)
  expect(approved.status).toBe(200)
  expect(results).toMatchObject([
    { $id: body.preview.results[1].body.$id, stage: 'Qualified', organization: { name: 'Acme' } },
  ])
})

verifies('changeset.propose.more', 'more is proposed on top of what a changeset holds, by its author', async () => {
  const first = await agent('POST', at('/Contact?propose=Two+steps'), { name: 'Grace' })
  const id = first.body.preview.$id

  const second = await agent('PUT', at(`/Contact/${id}?propose=${first.body.$id}`), { title: 'Admiral' })
  const stranger = await person('PUT', at(`/Contact/${id}?propose=${first.body.$id}`), { title: 'x' })
  const { body } = await person('GET', at(`/changesets/${first.body.$id}`))
  const approved = await person('POST', at(`/changesets/${first.body.$id}/approve`))
  const late = await agent('POST', at(`/Contact?propose=${first.body.$id}`), { name: 'x' })

  expect(second.body).toMatchObject({
    $id: first.body.$id,
    operationCount: 2,
    preview: { name: 'Grace', title: 'Admiral' },
  })
  expect(stranger.status).toBe(403)
  expect(body.diff.map(({ operation, changes }: any) => [operation, changes.title?.to ?? null])).toEqual([
    [1, null],
    [2, 'Admiral'],
  ])
  expect(approved.status).toBe(200)
  expect(await read(id)).toMatchObject({ name: 'Grace', title: 'Admiral' })
  expect(late.status).toBe(409)
})

verifies(
  ['changeset.conflicts', 'changeset.approve.whole', 'changeset.rebase'],
  'what others changed after the proposal is a conflict, until the author or a reviewer decides',
  async () => {
    const [a, b, c] = [await contact({ title: '1' }), await contact({ title: '1' }), await contact()]
    const { body: changeset } = await agent('POST', at('/batch?propose=Three'), {
      operations: [
        { method: 'PUT', path: `/Contact/${a}`, body: { title: '2' } },
        { method: 'PUT', path: `/Contact/${b}`, body: { title: '2' } },
        { method: 'POST', path: `/Contact/${c}/qualify` },
      ],
    })
    await app.request('PUT', at(`/Contact/${a}`), { title: '3', phone: '1' })
    await app.request('PUT', at(`/Contact/${b}`), { phone: '1' })
    await app.request('POST', at(`/Contact/${c}/qualify`))
    const head = (await app.request('GET', at('/status'))).body.log.seq

    const shown = await person('GET', at(`/changesets/${changeset.$id}`))
    const refused = await person('POST', at(`/changesets/${changeset.$id}/approve`))
    const after = (await app.request('GET', at('/status'))).body.log.seq
    const rebased = await person('POST', at(`/changesets/${changeset.$id}/rebase`), { keep: [1, 2] })
    const approved = await person('POST', at(`/changesets/${changeset.$id}/approve`))

    expect(shown.body.conflicts).toMatchObject([
      { operation: 1, type: 'Contact', id: a, field: 'title', reason: expect.stringContaining('after the proposal') },
      { operation: 3, type: 'Contact', id: c, reason: expect.stringContaining('qualify') },
    ])
    expect(refused.status).toBe(409)
    expect(refused.body.conflicts).toEqual(shown.body.conflicts)
    expect(after).toBe(head)
    expect(rebased.body).toMatchObject({ state: 'Open', operationCount: 2, base: head })
    expect(approved.status).toBe(200)
    expect([(await read(a)).title, (await read(b)).title, (await read(b)).phone]).toEqual(['2', '2', '1'])
  },
)

verifies(
  'changeset.rebase',
  'a field in conflict is left out, and the other fields of its operation stay',
  async () => {
    const [a, b] = [await contact({ title: '1' }), await contact({ title: '1' })]
    const { body: changeset } = await agent('POST', at('/batch?propose=Fields'), {
      operations: [
        { method: 'PUT', path: `/Contact/${a}`, body: { title: '2', phone: '2' } },
        { method: 'PUT', path: `/Contact/${b}`, body: { title: '2' } },
        { method: 'POST', path: `/Contact/${b}/qualify` },
      ],
    })
    for (const id of [a, b]) await app.request('PUT', at(`/Contact/${id}`), { title: '3' })
    const rebase = (leave: unknown, keep?: number[]) =>
      person('POST', at(`/changesets/${changeset.$id}/rebase`), { leave, keep })

    const refused = [
      await rebase('title'),
      await rebase([{ operation: 9, field: 'title' }]),
      await rebase([{ operation: 1, field: 'title' }], [2]),
      await rebase([{ operation: 1, field: 'email' }]),
      await rebase([{ operation: 1, field: 'toString' }]),
      await rebase([{ operation: 3, field: 'stage' }]),
    ]
    const rebased = await rebase([1, 2].map((operation) => ({ operation, field: 'title' })))
    const shown = await person('GET', at(`/changesets/${changeset.$id}`))
    const approved = await person('POST', at(`/changesets/${changeset.$id}/approve`))

    expect(refused.map(({ status, body }) => [status, body.field])).toEqual(refused.map(() => [422, 'leave']))
    expect(rebased.body).toMatchObject({ state: 'Open', operationCount: 2 })
    expect(shown.body.conflicts).toEqual([])
    expect(shown.body.operations).toMatchObject([
      { number: 1, verb: 'update', data: { phone: '2' } },
      { number: 3, verb: 'qualify' },
    ])
    expect(approved.status).toBe(200)
    expect([await read(a), await read(b)]).toMatchObject([
      { title: '3', phone: '2' },
      { title: '3', stage: 'Qualified' },
    ])
  },
)

test('an update that a rule refuses is in conflict with what others changed, too', async () => {
  await app.request('PUT', at('/schema/Badge'), { code: 'string##', title: 'string' })
  const badge = async (fields: object) => (await app.request('POST', at('/Badge'), fields)).body.$id as string
  const id = await badge({ code: 'a', title: '1' })
  const { body } = await app.request('PUT', at(`/Badge/${id}?propose=Codes`), { code: 'b', title: '2' })
  await badge({ code: 'b' })
  await app.request('PUT', at(`/Badge/${id}`), { title: '3' })

  const shown = await app.request('GET', at(`/changesets/${body.$id}`))

  expect(shown.body.conflicts).toMatchObject([
    { operation: 1, field: 'code', reason: expect.stringContaining('unique') },
    { operation: 1, field: 'title', reason: expect.stringContaining('after the proposal') },
  ])
})

verifies('changeset.approve.part', 'some of the operations are approved by their numbers', async () => {
  const [a, b] = [await contact(), await contact()]
  const { body: changeset } = await agent('POST', at('/batch?propose=Part'), {
    operations: [a, b].map((id) => ({ method: 'PUT', path: `/Contact/${id}`, body: { title: 'part' } })),
  })

  const unknown = await person('POST', at(`/changesets/${changeset.$id}/approve`), { operations: [9] })
  const { body } = await person('POST', at(`/changesets/${changeset.$id}/approve`), { operations: [2] })

  expect(unknown.status).toBe(422)
  expect(body).toMatchObject({ state: 'Approved', approved: [2], results: [{ operation: 2, id: b }] })
  expect([(await read(a)).title, (await read(b)).title]).toEqual([undefined, 'part'])
})

test('what an approval wrote is undone by the id of the changeset', async () => {
  const id = await contact({ title: '1' })
  const { body } = await agent('PUT', at(`/Contact/${id}?propose=Undo`), { title: '2' })
  await person('POST', at(`/changesets/${body.$id}/approve`))

  const undone = await person('POST', at(`/undo/${body.$id}`))

  expect(undone.body).toMatchObject({ undone: 1 })
  expect(await read(id)).toMatchObject({ title: '1' })
})

verifies(
  ['changeset.traces', 'changeset.events'],
  'a rejected changeset leaves its own events and nothing else',
  async () => {
    const id = await contact()
    const head = (await app.request('GET', at('/status'))).body.log.seq
    const { body } = await agent('DELETE', at(`/Contact/${id}?propose=Remove`))
    const stranger = app.as(await app.key('acme', 'propose:crm'))
    const before = (await app.request('GET', at('/status'))).body.log.seq

    const denied = await stranger('POST', at(`/changesets/${body.$id}/reject`))
    await stranger('POST', at(`/changesets/${body.$id}/comment`), { text: 'Why?' })
    const { body: rejected } = await person('POST', at(`/changesets/${body.$id}/reject`), { reason: 'She stays.' })
    const events = (await app.request('GET', at(`/events?cursor=${head}`))).body.results

    expect(denied.status).toBe(403)
    expect(rejected).toMatchObject({
      state: 'Rejected',
      comments: [{ text: 'Why?' }, { text: 'She stays.', by: rejected.reviewer }],
    })
    expect(before).toBeGreaterThan(head)
    expect(events.map(({ type }: any) => type)).toEqual([
      'Changeset.proposed',
      'ApiKey.created',
      'Changeset.commented',
      'Changeset.rejected',
    ])
    expect((await person('POST', at(`/changesets/${body.$id}/approve`))).status).toBe(409)
    expect(body.preview).toBeNull()
    expect(await read(id)).toMatchObject({ name: 'Ada' })
  },
)

verifies('changeset.approve.own', 'authors approve their own changesets with approve:own only', async () => {
  const id = await contact()
  const proud = app.as(await app.key('acme', 'write:crm,approve:own'))
  const [mine, theirs] = [
    await proud('PUT', at(`/Contact/${id}?propose=Mine`), { title: 'own' }),
    await person('PUT', at(`/Contact/${id}?propose=Theirs`), { title: 'theirs' }),
  ]

  const refused = await person('POST', at(`/changesets/${theirs.body.$id}/approve`))
  const approved = await proud('POST', at(`/changesets/${mine.body.$id}/approve`))

  expect(refused.status).toBe(403)
  expect(refused.body.message).toContain('approve:own')
  expect(approved.status).toBe(200)
})

verifies(
  'changeset.approve.rights',
  'an approver needs the rights for every operation, row filters included',
  async () => {
    const id = await contact({ title: 'theirs' })
    const { body } = await agent('POST', at('/batch?propose=Both'), {
      operations: [
        { method: 'POST', path: '/Organization', body: { name: 'Partly' } },
        { method: 'PUT', path: `/Contact/${id}`, body: { phone: '2' } },
      ],
    })
    const reader = app.as(await app.key('acme', 'read:crm,write:Organization'))
    const narrowed = app.as(await app.key('acme', 'write:crm', { filter: { Contact: { title: 'mine' } } }))

    const partly = await reader('POST', at(`/changesets/${body.$id}/approve`))
    const part = await reader('POST', at(`/changesets/${body.$id}/approve`), { operations: [1, 2] })
    const filtered = await narrowed('POST', at(`/changesets/${body.$id}/approve`))

    expect([partly.status, part.status, filtered.status]).toEqual([403, 403, 404])
    expect((await app.request('GET', at('/Organization?name=Partly'))).body.total).toBe(0)
    expect(await read(id)).not.toHaveProperty('phone')
  },
)

verifies('changeset.internals', 'no ordinary write changes what a changeset holds', async () => {
  const id = await contact()
  const { body } = await agent('PUT', at(`/Contact/${id}?propose=Fixed`), { title: 'x' })
  const path = at(`/changesets/${body.$id}`)
  const attempts = [
    await app.request('PUT', path, { author: 'me' }),
    await app.request('PATCH', path, { title: 'other' }),
    await app.request('DELETE', path),
    await app.request('POST', `${path}/rollback`, { version: 1 }),
    await app.request('POST', `${path}/propose`, { operations: [] }),
    await app.request('POST', `${path}/expire`, {}),
    await app.request('POST', `${path}/erase`, {}),
    await app.request('POST', `${path}/comment`, { text: 'x', author: 'me', state: 'Approved' }),
    await app.request('POST', at('/import/Changeset'), [{ title: 'x', state: 'Approved' }]),
    await app.request('POST', at('/changesets'), { title: 'x', state: 'Approved' }),
    await app.request('PUT', at('/schema/Changeset'), { note: 'string' }),
    await app.request('PUT', at('/schema/ChangesetPart'), { note: 'string' }),
  ]

  expect(attempts.map(({ status }) => status)).toEqual([405, 405, 405, 404, 404, 404, 422, 200, 403, 422, 422, 422])
  expect((await app.request('GET', path)).body).toMatchObject({
    state: 'Open',
    author: body.author,
    title: 'Fixed',
    operations: body.operations,
  })
})

test('what cannot be proposed is refused and never executed', async () => {
  const id = await contact()
  const head = (await app.request('GET', at('/status'))).body.log.seq
  const attempts = [
    await app.request('PUT', at('/schema/Ship?propose=x'), { name: 'string' }),
    await app.request('POST', at(`/Contact/${id}/erase?propose=x`), {}),
    await app.request('POST', at('/import/Contact?propose=x'), [{ name: 'x' }]),
    await app.request('POST', at('/import/history?propose=x'), [past()]),
    await app.request('PUT', at('/schema/Contact/hooks/updating?propose=x'), { code: '(event) => event' }),
    await app.request('POST', at('/sync?propose=x'), { changes: [] }),
    await app.request('POST', at('/webhooks?propose=x'), { url: 'https://example.org', events: ['*'], secret: 's' }),
    await app.request('POST', at('/Contact?propose='), { name: 'x' }),
    await app.request('POST', at('/Contact?propose=changeset_unknown'), { name: 'x' }),
    await app.request('POST', at('/Contact?propose=x'), {}),
    await app.request('POST', at('/batch'), {
      operations: [{ method: 'POST', path: '/Contact?propose=x', body: { name: 'x' } }],
    }),
  ]

  expect(attempts.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400, 400, 400, 404, 422, 200])
  expect(attempts.at(-1)!.body.results[0].status).toBe(400)
  expect((await app.request('GET', at('/status'))).body.log.seq).toBe(head)
})

/** A row of a past that could be imported at this moment. */
function past() {
  return { type: 'Contact', verb: 'create', timestamp: new Date().toISOString(), data: { name: 'x' } }
}

test('what has no dry run is refused with one and never executed', async () => {
  const id = await contact()
  const head = (await app.request('GET', at('/status'))).body.log.seq

  const attempts = [
    await app.request('POST', at(`/Contact/${id}/erase?dryRun=true`), {}),
    await app.request('POST', at('/import/history?dryRun=true'), [past()]),
    await app.request('PUT', at('/schema/Contact/hooks/updating?dryRun=true'), { code: '(event) => event' }),
  ]

  expect(attempts.map(({ status, body }) => [status, body.field])).toEqual(attempts.map(() => [400, 'dryRun']))
  expect((await app.request('GET', at('/status'))).body.log.seq).toBe(head)
})

test('a key that was proposed is issued to the approver, and its secret is nowhere else', async () => {
  const admin = app.as(await app.key('acme', 'admin:all'))
  const { body } = await app.request('POST', at('/api-keys?propose=A+key'), { name: 'robot', scopes: 'read:crm' })

  const approved = await admin('POST', at(`/changesets/${body.$id}/approve`), {}, { 'idempotency-key': 'k1' })
  const again = await admin('POST', at(`/changesets/${body.$id}/approve`), {}, { 'idempotency-key': 'k1' })
  const { secret } = approved.body.results[0]

  expect(body.preview).not.toHaveProperty('secret')
  expect(secret).toMatch(/^tb_/)
  expect(again.text).not.toContain(secret)
  expect((await app.request('GET', at('/events?limit=1000'))).text).not.toContain(secret)
  expect((await app.as(secret)('GET', at('/Contact'))).status).toBe(200)
})

verifies('changeset.hooks', 'what a BEFORE hook says against an operation is shown with the changeset', async () => {
  const id = await contact()
  const { body } = await agent('PUT', at(`/Contact/${id}?propose=Hooked`), { title: 'forbidden' })
  await app.request('PUT', at('/schema/Contact/hooks/updating'), {
    code: `(contact) => { if (contact.title === 'forbidden') throw new Error('No such titles.') }`,
  })

  const shown = await person('GET', at(`/changesets/${body.$id}`))
  const refused = await person('POST', at(`/changesets/${body.$id}/approve`))
  const proposal = await agent('PUT', at(`/Contact/${id}?propose=Again`), { title: 'forbidden' })
  await app.request('DELETE', at('/schema/Contact/hooks/updating'))

  expect(shown.body.messages).toEqual([{ operation: 1, message: 'No such titles.' }])
  expect(shown.body.conflicts).toMatchObject([{ operation: 1, reason: 'No such titles.' }])
  expect(refused.status).toBe(409)
  expect(proposal.status).toBe(422)
})

test('what was proposed before a migration is written with the names and kinds of today', async () => {
  const send = (method: string, path: string, body?: object) => app.request(method, at(path), body)
  await send('PUT', '/schema/Car', {
    plate: 'string',
    knots: 'string',
    tune: { set: { knots: '$args.knots' }, args: ['knots'] },
  })
  const { body: car } = await send('POST', '/Car', { plate: 'A', knots: '5' })
  const operations = [
    { type: 'Car', verb: 'create', data: { plate: 'B', knots: '7' } },
    { type: 'Car', verb: 'tune', id: car.$id, data: { knots: '8' } },
  ]
  const { body: changeset } = await send('POST', '/changesets', { title: 'Faster', operations })
  const path = `/changesets/${changeset.$id}`

  await send('POST', '/schema/Car/rename', { from: 'knots', to: 'speed' })
  await send('POST', '/schema/Car/retype', { field: 'speed', to: 'number' })
  const { body: shown } = await send('GET', path)
  const refused = await app.as(await app.key('acme', 'admin:all'))('POST', at(`${path}/approve`))
  await send('POST', `${path}/rebase`)
  const approved = await app.as(await app.key('acme', 'admin:all'))('POST', at(`${path}/approve`))
  const { body: cars } = await send('GET', '/Car?sort=plate')

  expect(shown.diff).toMatchObject([
    { changes: { speed: { from: null, to: 7 } } },
    { changes: { speed: { from: 5, to: 8 } } },
  ])
  expect(shown.conflicts).toMatchObject([{ operation: 2, field: 'speed' }])
  expect([refused.status, approved.status]).toEqual([409, 200])
  expect(cars.results).toMatchObject([
    { plate: 'A', speed: 8 },
    { plate: 'B', speed: 7 },
  ])
  for (const one of cars.results) expect(one).not.toHaveProperty('knots')
})

test('erasing an entity takes it out of every changeset', async () => {
  const [a, b] = [await contact({ name: 'Erase Me' }), await contact()]
  const { body } = await agent('POST', at('/batch?propose=Two'), {
    operations: [a, b].map((id) => ({ method: 'PUT', path: `/Contact/${id}`, body: { title: `of ${id}` } })),
  })
  await app.request('POST', at(`/Contact/${a}/erase`), {})

  const shown = await person('GET', at(`/changesets/${body.$id}`))
  const everything = await app.request('GET', at('/events?type=ChangesetPart.*&limit=1000'))

  expect(shown.body.operations.map(({ id }: any) => id)).toEqual([b])
  expect(everything.text).not.toContain(`of ${a}`)
  expect((await app.request('GET', '/operator/tenants/acme/verify')).body).toMatchObject({ ok: true, faults: [] })
})
