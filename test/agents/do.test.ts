import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs, type Reply, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
  await host.request('POST', '/~acme/Contact', { name: 'Ada', email: 'ada@a.example' })
  await host.request('POST', '/~acme/Contact', { name: 'Bob', email: 'bob@b.example' })
})
afterAll(() => host.stop())

const run = (code: string, more: object = {}, key?: string): Promise<Reply> =>
  (key ? host.as(key) : host.request)('POST', '/~acme/do', { code, ...more })

verifies(['do.code', 'do.result', 'mcp.do'], 'code in TypeScript with await gives its last expression', async () => {
  const { status, body } = await run(`
    const names: string[] = (await $.Contact.find({}, { sort: { name: 1 } })).map((c: any) => c.name)
    console.log(names.length, 'contacts')
    names.join(' and ')`)

  expect(status).toBe(200)
  expect(body).toEqual({ result: 'Ada and Bob', logs: ['2 contacts'], correlation: null })
})

verifies('do.result', 'return gives the result too', async () => {
  expect((await run('if (await $.Contact.count() > 1) return "many"; "few"')).body.result).toBe('many')
})

verifies(['do.find', 'do.get', 'do.count'], 'find gives an array, get an entity or null, count a number', async () => {
  const { body } = await run(`
    const found = await $.Contact.find({ name: 'Ada' })
    const again = await $.Contact.get(found[0].$id)
    const first = await $.Contact.findOne({ name: { $in: ['Bob'] } })
    const none = await $.Contact.findOne({ name: 'Nobody' });
    ({ list: Array.isArray(found), again: again.name, first: first.name, none, missing: await $.Contact.get('contact_0'), count: await $.Contact.count({ name: 'Ada' }) })`)

  expect(body.result).toEqual({ list: true, again: 'Ada', first: 'Bob', none: null, missing: null, count: 1 })
})

verifies(['do.create', 'do.verb'], 'create, update, verbs and delete write, under one correlation', async () => {
  const { body } = await run(`
    const made = await $.Contact.create({ name: 'Cleo' })
    await $.Contact.update(made.$id, { title: 'CTO' })
    const after = await $.Contact.qualify(made.$id)
    await $.Contact.delete(made.$id);
    [after.title, after.stage, await $.Contact.get(made.$id)]`)
  const { body: log } = await host.request('GET', '/~acme/events?type=Contact.*&limit=1000')

  expect(body.result).toEqual(['CTO', 'Qualified', null])
  const own = log.results.filter(
    (event: { type: string; correlation?: string }) => event.correlation === body.correlation,
  )
  expect(own.map((event: { type: string; correlation?: string }) => event.type)).toEqual([
    'Contact.created',
    'Contact.updated',
    'Contact.qualified',
    'Contact.deleted',
  ])
})

test('$.events reads the log', async () => {
  const { body } = await run("(await $.events({ type: 'Contact.created', limit: 2 })).map((e: any) => e.data.name)")

  expect(body.result).toEqual(['Ada', 'Bob'])
})

verifies('do.scopes', 'code can do what its key can do, and no more', async () => {
  const reader = await host.key('acme', 'read:crm')

  const { body } = await run("$.Contact.create({ name: 'Eve' }).catch((e: any) => e.code)", {}, reader)
  const thrown = await run('await $.Invoice.find()', {}, reader)

  expect(body.result).toBe('forbidden')
  expect(thrown.status).toBe(422)
  expect(thrown.body).toMatchObject({ error: 'script_error', reason: 'forbidden' })
})

verifies('mcp.bound', 'code knows the data of its own tenant alone', async () => {
  await host.request('POST', '/~other/Contact', { name: 'Secret' })

  const { body } = await run("(await $.Contact.find({ name: 'Secret' })).length")

  expect(body.result).toBe(0)
})

verifies('do.isolated', 'code reaches no network, no files and no host objects', async () => {
  const { body } = await run('[typeof fetch, typeof process, typeof require, typeof XMLHttpRequest]')

  expect(body.result).toEqual(Array(4).fill('undefined'))
})

verifies('do.memory', 'code that takes over 64 MiB ends with a clear error', async () => {
  const { status, body } = await run(
    'const a = []; for (let i = 0; i < 80; i++) a.push(new Uint8Array(1e6).fill(1)); a.length',
  )

  expect(status).toBe(422)
  expect(body).toMatchObject({ error: 'script_memory', message: expect.stringContaining('64 MiB') })
})

verifies('do.operations', 'code that makes over 1,000 operations ends with a clear error', async () => {
  const { body } = await run('await Promise.all(Array.from({ length: 1001 }, () => $.Contact.count()))')

  expect(body).toMatchObject({ error: 'script_operations', message: expect.stringContaining('1000') })
})

test('a thousand operations are fine', async () => {
  // Some at once: the code has ten seconds, and on a busy machine each wait for an answer takes long.
  const { body } = await run(`
    let n = 0
    for (let i = 0; i < 10; i++) {
      const counts = await Promise.all(Array.from({ length: 100 }, () => $.Contact.count()))
      n += counts.filter((count) => count > 0).length
    }
    n`)

  expect(body.result).toBe(1_000)
})

verifies(
  ['do.time', 'do.blocks'],
  'code that runs over 10 seconds ends with a clear error, and other requests continue meanwhile',
  async () => {
    needs('clock that advances during computation')
    // The second never reaches a place where the interpreter looks at the clock: only ending its thread ends it.
    const deaf = '((1n << 1040000n) - 1n).toString();'.repeat(500)
    const endless = [run('for (;;);'), run(deaf)]
    let answered = 0
    const ended = Promise.all(endless).then((replies) => {
      expect(answered).toBeGreaterThan(20)
      return replies
    })
    for (let i = 0; i < 25; i++) {
      const { status } = await host.request('POST', '/~acme/Contact', { name: `During ${i}` })
      expect(status).toBe(201)
      answered++
    }

    for (const { body } of await ended) {
      expect(body).toMatchObject({ error: 'script_timeout', message: expect.stringContaining('10 s') })
    }
    expect((await run('1')).body.result).toBe(1)
  },
)

test('what was written before an error stays, and the error tells how to take it back', async () => {
  const { body } = await run("await $.Contact.create({ name: 'Half' }); await $.Contact.create({})")

  expect(body).toMatchObject({ error: 'script_error', reason: 'validation_error', correlation: expect.any(String) })
  expect((await host.request('POST', `/~acme/undo/${body.correlation}`)).body.undone).toBe(1)
})

test('a syntax error is reported with its place', async () => {
  const { status, body } = await run('const a = 1\nconst = 2')

  expect(status).toBe(422)
  expect(body.error).toBe('script_error')
})

test.each([
  ['no code', {}, 400, 'invalid_body'],
  ['code that is no text', { code: 1 }, 400, 'invalid_body'],
  ['code of 100 kB', { code: ' '.repeat(99_990) + 'x'.repeat(11) }, 413, 'too_large'],
  ['dryRun that is no flag', { code: '1', dryRun: 'yes' }, 400, 'invalid_body'],
])('%s is refused', async (_, asked, status, error) => {
  const reply = await host.request('POST', '/~acme/do', asked)

  expect([reply.status, reply.body.error]).toEqual([status, error])
})

test('a dry run sees what it writes, tells the events, and leaves no trace', async () => {
  const before = (await host.request('GET', '/~acme/Contact/count')).body.count
  const head = (await host.request('GET', '/~acme/events?limit=1000')).body.results.length

  const { body } = await run(
    `const a = await $.Contact.create({ name: 'Ghost', email: 'ghost@x.example' })
    const b = await $.Contact.update(a.$id, { title: 'Spirit' })
    const twice = await $.Contact.create({ name: 'Twice', email: 'ghost@x.example' }).catch((e: any) => e.code)
    const found = await $.Contact.find({ email: 'ghost@x.example' });
    [a.$id === b.$id, b.$version, found[0].title, found[0].$createdAt === a.$createdAt, twice]`,
    { dryRun: true },
  )

  expect(body.result).toEqual([true, 2, 'Spirit', true, 'conflict'])
  expect(body.events.map((event: { type: string; correlation?: string }) => event.type)).toEqual([
    'Contact.created',
    'Contact.updated',
  ])
  expect(body.correlation).toBeNull()
  expect((await host.request('GET', '/~acme/Contact/count')).body.count).toBe(before)
  expect((await host.request('GET', '/~acme/events?limit=1000')).body.results.length).toBe(head)
})

test('a dry run that makes a key shows no secret', async () => {
  const { body } = await run("await $.ApiKey.create({ name: 'k', scopes: 'read:crm' })", { dryRun: true })

  expect(body.result.name).toBe('k')
  expect(JSON.stringify(body)).not.toMatch(/tb_\w{20}|secret/)
})

test('the query parameter dryRun does the same', async () => {
  const { body } = await host.request('POST', '/~acme/do?dryRun=true', {
    code: "await $.Contact.create({ name: 'No' }); 1",
  })

  expect(body.events).toHaveLength(1)
})

test('code pages by cursor, aggregates, reads history and metrics', async () => {
  const { body } = await run(`
    const first = await $.Contact.findPage({ name: { $in: ['Ada', 'Bob'] } }, { sort: 'name', limit: 1 })
    const second = await $.Contact.findPage({ name: { $in: ['Ada', 'Bob'] } }, { sort: 'name', limit: 1, cursor: first.cursor })
    const made = await $.Deal.create({ name: 'Engine', value: 7 })
    await $.Deal.update(made.$id, { value: 9 })
    const groups = await $.Deal.aggregate({ group: ['stage'], sum: ['value'], filter: { name: 'Engine' } })
    const history = await $.Deal.history(made.$id, { limit: 1 })
    const metrics = await $.metrics()
    const pipeline = await $.metrics('pipeline', { asOf: '0' });
    ({
      names: [...first.results, ...second.results].map((one) => one.name),
      more: [first.hasMore, second.hasMore, second.cursor, first.total],
      groups: groups.results,
      history: [history.total, history.hasMore, history.results[0].version],
      open: metrics.pipeline.totalDeals,
      once: pipeline.value,
      before: await $.Contact.count({}, { asOf: 0 }),
    })`)

  expect(body.result).toEqual({
    names: ['Ada', 'Bob'],
    more: [true, false, null, 2],
    groups: [{ stage: 'Prospecting', count: 1, sum: { value: 9 } }],
    history: [2, true, 2],
    open: 1,
    once: 0,
    before: 0,
  })
})

test('code reads the fields that it names, with embedded relations', async () => {
  const { body } = await run(`
    const org = await $.Organization.create({ name: 'Fields' })
    const { $id } = await $.Contact.create({ name: 'Fay', email: 'fay@example.com', organization: org.$id })
    const options = { fields: ['email'], include: ['organization'] };
    [
      ...await $.Contact.find({ name: 'Fay' }, options),
      await $.Contact.findOne({ name: 'Fay' }, { fields: 'email' }),
      ...(await $.Contact.findPage({ name: 'Fay' }, options)).results,
      await $.Contact.get($id, { fields: ['email'], asOf: 'now' }),
    ].map((one) => [Object.keys(one).sort().join(), one.organization?.name ?? null])`)
  const wrong = await run("await $.Contact.find({}, { fields: ['a.b'] })")

  const withRelation = ['$id,$type,email,organization', 'Fields']
  const bare = ['$id,$type,email', null]
  expect(body.result).toEqual([withRelation, bare, withRelation, bare])
  expect(wrong.body.reason).toBe('invalid_fields')
})

test('a regular expression in a filter of code is a $regex', async () => {
  const { body } = await run(`
    await $.Contact.create({ name: 'Regina' });
    [
      (await $.Contact.find({ name: /^regi/i })).length,
      await $.Contact.count({ name: { $not: /^Regi/ }, $or: [{ name: /na$/gu }] }),
      (await $.Contact.aggregate({ filter: { name: /^Regi.a$/s } })).total,
    ]`)

  expect(body.result).toEqual([1, 0, 1])
})

test('code takes back what another run wrote', async () => {
  const { body: made } = await run("(await $.Contact.create({ name: 'Regret' })).$id")
  const { body: taken } = await run(`await $.undo(${JSON.stringify(made.correlation)})`)
  const dry = await run(`await $.undo(${JSON.stringify(taken.result.correlation)})`, { dryRun: true })

  expect(taken.result).toMatchObject({ undone: 1, correlation: expect.any(String) })
  expect((await host.request('GET', `/~acme/Contact/${made.result}`)).status).toBe(404)
  expect(dry.body.events.map(({ type }: { type: string }) => type)).toEqual(['Contact.restored'])
  expect(
    (await run('await $.undo("nothing")')).body.reason ?? (await run('await $.undo("nothing")')).body.message,
  ).toMatch(/not_found|Nothing was written/)
})

test('code reads through aggregates and history only what its key may read', async () => {
  const key = await host.key('acme', 'read:Contact')

  expect((await run("await $.Deal.aggregate({ group: ['stage'] })", {}, key)).body.message).toContain('read')
  expect((await run("await $.Contact.aggregate({ group: ['organization.name'] })", {}, key)).body.message).toContain(
    'Organization',
  )
  expect((await run('await $.Deal.history("deal_1")', {}, key)).body.message).toContain('read')
})
