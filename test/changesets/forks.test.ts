import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs, type TestApp, testApp, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

const post = (path: string, body: unknown = {}) => app.request('POST', path, body)

/** A tenant with two contacts, and a fork of it. */
async function forked(slug: string) {
  const ids = []
  for (const name of ['Ada', 'Bob']) ids.push((await post(`/~${slug}/Contact`, { name })).body.$id)
  const { seq } = (await app.request('GET', `/~${slug}/status`)).body.log
  await post(`/operator/tenants/${slug}/fork`, { to: `${slug}-fork` })
  return { ids: ids as [string, string], seq, fork: `/~${slug}-fork`, origin: `/~${slug}` }
}

verifies('changeset.fork.origin', 'a fork records what it was made of, and where it begins', async () => {
  const { seq, fork, origin } = await forked('acme')
  await post(`${fork}/Contact`, { name: 'New' })

  const { body } = await app.request('GET', `${fork}/status`)
  const info = await app.request('GET', '/operator/tenants/acme-fork')
  const log = (await app.request('GET', '/operator/tenants/acme-fork/log')).text
  await app.request('PUT', '/operator/tenants/acme-again/log', log)
  const again = await app.request('GET', '/~acme-again/status')

  expect(body.origin).toEqual({ tenant: 'acme', seq })
  expect(info.body.origin).toEqual({ tenant: 'acme', seq })
  expect(again.body.origin).toEqual({ tenant: 'acme', seq })
  expect((await app.request('GET', `${origin}/status`)).body).not.toHaveProperty('origin')
})

verifies('changeset.fork.merge', 'what a fork did becomes a changeset, and its approval runs the verbs', async () => {
  const { ids, seq, fork, origin } = await forked('merge')
  await post(`${fork}/Contact/${ids[0]}/qualify`)
  await app.request('PUT', `${fork}/Contact/${ids[0]}`, { title: 'Countess' })
  await app.request('DELETE', `${fork}/Contact/${ids[1]}`)
  const cleo = (await post(`${fork}/Contact`, { name: 'Cleo' })).body.$id
  await post(`${fork}/api-keys`, { name: 'of the fork', scopes: 'read:all' })
  await app.request('PUT', `${origin}/Contact/${ids[0]}`, { phone: '1' })

  const { status, body } = await post(`${origin}/changesets`, { from: 'merge-fork' })
  const approved = await app.as(await app.key('merge', 'admin:all'))('POST', `${origin}/changesets/${body.$id}/approve`)
  const ada = (await app.request('GET', `${origin}/Contact/${ids[0]}`)).body

  expect(status).toBe(201)
  expect(body).toMatchObject({
    title: 'Changes of merge-fork',
    from: 'merge-fork',
    base: seq,
    operationCount: 4,
    conflicts: [],
    skipped: { ApiKey: 1 },
  })
  expect(body.operations.map(({ verb }: any) => verb)).toEqual(['qualify', 'update', 'delete', 'create'])
  expect(approved.status).toBe(200)
  expect(ada).toMatchObject({ stage: 'Qualified', title: 'Countess', phone: '1' })
  expect((await app.request('GET', `${origin}/Contact/${ids[1]}`)).status).toBe(404)
  expect((await app.request('GET', `${origin}/Contact/${cleo}`)).body.name).toBe('Cleo')
})

test('what both sides changed is a conflict of the fork', async () => {
  const { ids, fork, origin } = await forked('both')
  await app.request('PUT', `${fork}/Contact/${ids[0]}`, { title: 'theirs' })
  await app.request('PUT', `${origin}/Contact/${ids[0]}`, { title: 'ours' })

  const { body } = await post(`${origin}/changesets`, { from: 'both-fork', title: 'Clash' })
  const refused = await app.as(await app.key('both', 'write:all'))('POST', `${origin}/changesets/${body.$id}/approve`)

  expect(body.conflicts).toMatchObject([{ operation: 1, id: ids[0], field: 'title' }])
  expect(refused.status).toBe(409)
  expect((await app.request('GET', `${origin}/Contact/${ids[0]}`)).body.title).toBe('ours')
})

test('merging needs rights in both tenants', async () => {
  const { ids, fork, origin } = await forked('rights')
  await app.request('PUT', `${fork}/Contact/${ids[0]}`, { title: 'theirs' })
  await app.request('PUT', `${fork}/Contact/${ids[1]}`, { title: 'mine' })
  const send = app.as(await app.key('rights', 'propose:crm'))
  const merge = (key?: string, from = 'rights-fork') =>
    send('POST', `${origin}/changesets`, { from, ...(key && { key }) })
  const [whole, narrowed, foreign, other] = [
    await app.key('rights-fork', 'read:crm'),
    await app.key('rights-fork', 'read:all', { filter: { Contact: { title: 'mine' } } }),
    await app.key('rights-fork', 'read:billing'),
    await app.key('merge', 'read:all'),
  ]

  const statuses = [
    await merge(),
    await merge(other),
    await merge(narrowed),
    await merge(foreign),
    await merge(whole, 'merge-fork'),
    await app.as(await app.key('rights', 'read:crm'))('POST', `${origin}/changesets`, {
      from: 'rights-fork',
      key: whole,
    }),
    await merge(whole),
  ].map(({ status }) => status)

  expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 201])
})

test('guesses of keys of other tenants are limited as guesses everywhere are', async () => {
  needs('admission')
  await post('/~guesser/Contact', { name: 'x' })
  await post('/~guessed/Contact', { name: 'x' })
  const valid = await app.key('guessed', 'read:all')
  const guess = (key: string, from = 'guessed') => post('/~guesser/changesets', { from, key })

  const tries = []
  for (let n = 0; n < 300; n += 20)
    tries.push(
      ...(await Promise.all(
        Array.from({ length: 20 }, (_, more) => guess(`tb_${String(n + more).padStart(40, 'x')}~guessed`)),
      )),
    )

  const refused = tries.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(tries.filter(({ status }) => status === 403).length).toBe(300 - refused.length)
  expect(refused[0]!.body).toMatchObject({ error: 'rate_limited', field: 'from' })
  // Allowances come back with time, which a busy machine takes for some of them.
  const others = await Promise.all(Array.from({ length: 60 }, () => guess(`tb_${'y'.repeat(40)}~nowhere`, 'nowhere')))
  expect(others.map(({ status }) => status)).toContain(429)
  expect((await app.as(valid)('GET', '/~guessed/Contact')).status).toBe(200)
})

test('a tenant that is not a fork, or the fork of another, is refused', async () => {
  await post('/~alone/Contact', { name: 'x' })
  const answers = [
    await post('/~acme/changesets', { from: 'alone' }),
    await post('/~acme/changesets', { from: 'nowhere' }),
    await post('/~alone/changesets', { from: 'merge-fork' }),
    await post('/~acme/changesets', { from: 5 }),
    await post('/~acme/changesets', { from: '../x' }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 409, 400, 400])
  expect(answers[2]!.body.message).toBe('merge-fork is a fork of merge, not of alone.')
})

test('hooks of the fork are not merged: they run again with the verbs', async () => {
  await post('/~hooked/Contact', { name: 'Ada' })
  await app.request('PUT', '/~hooked/schema/Contact/hooks/qualified', {
    code: `async (contact, $) => { await $.Activity.create({ subject: 'Call ' + contact.name, type: 'Call' }) }`,
  })
  await post('/operator/tenants/hooked/fork', { to: 'hooked-fork' })
  const id = (await app.request('GET', '/~hooked/Contact')).body.results[0].$id
  await post(`/~hooked-fork/Contact/${id}/qualify`)
  await until(async () => (await app.request('GET', '/~hooked-fork/Activity')).body.total === 1)

  const { body } = await post('/~hooked/changesets', { from: 'hooked-fork' })
  await app.as(await app.key('hooked', 'admin:all'))('POST', `/~hooked/changesets/${body.$id}/approve`)
  await until(async () => (await app.request('GET', '/~hooked/Activity')).body.total > 0)

  expect(body).toMatchObject({ operationCount: 1, skipped: { Activity: 1 } })
  expect((await app.request('GET', '/~hooked/Activity')).body.total).toBe(1)
})

describe('what a fork did', () => {
  /** Merges a fork after this work in it. */
  const merged = async (slug: string, work: (fork: string, ids: [string, string]) => Promise<unknown>) => {
    const { ids, fork, origin } = await forked(slug)
    await work(fork, ids)
    const { body } = await post(`${origin}/changesets`, { from: `${slug}-fork` })
    const approve = app.as(await app.key(slug, 'admin:all'))
    const { status, text } = await approve('POST', `${origin}/changesets/${body.$id}/approve`)
    expect(status, text).toBe(200)
    return { body, ids, fork, origin }
  }
  const operations = ({ operations }: any) => operations.map(({ type, verb }: any) => `${type}.${verb}`)

  test('keeps the arguments of its verbs', async () => {
    const { origin } = await merged('args', async (fork, [ada]) => {
      await post(`${fork}/Contact/${ada}/assign`, { assignee: (await post(`${fork}/User`, { name: 'Eve' })).body.$id })
      const form = (await post(`${fork}/Form`, { name: 'News' })).body.$id
      await post(`${fork}/Form/${form}/publish`)
      await post(`${fork}/Form/${form}/submit`, { email: 'a@example.org' })
    })

    const form = (await app.request('GET', `${origin}/Form`)).body.results[0]
    const { results } = (await app.request('GET', `${origin}/Form/${form.$id}/submissions`)).body
    expect(form.submissionCount).toBe(1)
    expect(results.map(({ data }: any) => data)).toEqual([{ email: 'a@example.org' }])
  })

  test('happens once, where a verb led to more', async () => {
    let deal = ''
    const { body, ids, origin } = await merged('once', async (fork, [ada, bob]) => {
      await app.request('PUT', `${fork}/Contact/${ada}`, { email: 'ada@example.org' })
      deal = (await post(`${fork}/Deal`, { name: 'Roof', contact: ada })).body.$id
      await post(`${fork}/Contact/${ada}/merge`, { into: bob })
      const ticket = (await post(`${fork}/Ticket`, { subject: 'Help', requester: bob })).body.$id
      await post(`${fork}/Ticket/${ticket}/reply`, { body: 'Done.' })
      await post(`${fork}/User`, { name: 'Eve', email: 'eve@example.org' })
      await post(`${fork}/Comment`, { about: bob, body: 'For @Eve' })
    })

    const messages = (await app.request('GET', `${origin}/Message`)).body.results
    const comment = (await app.request('GET', `${origin}/Comment`)).body.results[0]
    expect((await app.request('GET', `${origin}/Contact/${ids[0]}`)).status).toBe(404)
    expect((await app.request('GET', `${origin}/Deal/${deal}`)).body.contact).toBe(ids[1])
    expect((await app.request('GET', `${origin}/Contact/${ids[1]}`)).body.email).toBe('ada@example.org')
    expect(messages.map(({ body, status }: any) => [body, status])).toEqual([['Done.', 'Queued']])
    expect(comment.mentions).toHaveLength(1)
    expect(operations(body).filter((one: string) => one === 'Contact.delete')).toEqual([])
    expect(body.skipped).toEqual({ Contact: 1, Comment: 1, Message: 2 })
  })

  test('leaves out what belongs to the fork itself, and what was erased in it', async () => {
    const { body, ids, origin } = await merged('own', async (fork, [ada, bob]) => {
      await app.request('PUT', `${fork}/secrets/KEY`, { value: 'hunter22' })
      await app.request('PUT', `${fork}/schema/roles/Clerk`, { scopes: 'read:crm' })
      await app.request('PUT', `${fork}/inbox`, { addresses: ['help@example.org'] })
      await app.request('PUT', `${fork}/Contact/${bob}`, { title: 'Clerk' })
      await app.request('PUT', `${fork}/Contact/${ada}`, { title: 'Gone' })
      await post(`${fork}/Contact/${ada}/erase`)
    })

    expect(operations(body)).toEqual(['Contact.update'])
    expect(Object.keys(body.skipped)).toEqual(
      expect.arrayContaining(['TenantSecret', 'AccessRole', 'MailInbox', 'Contact', 'Erasure']),
    )
    expect((await app.request('GET', `${origin}/Contact/${ids[1]}`)).body.title).toBe('Clerk')
    expect((await app.request('GET', `${origin}/Contact/${ids[0]}`)).body).not.toHaveProperty('title')
  })
})

describe('over threads', () => {
  test('a fork in another thread is merged', async () => {
    const host = await testHost({}, { workers: '2' })
    const slugs = ['a', 'b', 'c', 'd']
    const merged = await Promise.all(
      slugs.map(async (slug) => {
        await host.request('POST', `/~${slug}/Contact`, { name: 'Ada' })
        await host.request('POST', `/operator/tenants/${slug}/fork`, { to: `${slug}-fork` })
        await host.request('POST', `/~${slug}-fork/Contact`, { name: 'Bob' })
        return (await host.request('POST', `/~${slug}/changesets`, { from: `${slug}-fork` })).body.operationCount
      }),
    )
    await host.stop()

    expect(merged).toEqual([1, 1, 1, 1])
  })
})

async function until(test: () => Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise((done) => setTimeout(done, 20))
}

describe('a field that was renamed', () => {
  /** A tenant with a ship, and a fork of it. */
  async function fleet(slug: string) {
    await app.request('PUT', `/~${slug}/schema/Ship`, { name: 'string!', length: 'number' })
    const { body: ship } = await post(`/~${slug}/Ship`, { name: 'Beagle', length: 27 })
    await post(`/operator/tenants/${slug}/fork`, { to: `${slug}-fork` })
    const path = `Ship/${ship.$id}`
    return {
      rename: (tenant: string) => post(`/~${tenant}/schema/Ship/rename`, { from: 'length', to: 'metres' }),
      update: (tenant: string, data: object) => app.request('PUT', `/~${tenant}/${path}`, data),
      merge: () => post(`/~${slug}/changesets`, { from: `${slug}-fork` }),
      approve: async (id: string) =>
        app.as(await app.key(slug, 'admin:all'))('POST', `/~${slug}/changesets/${id}/approve`),
      read: async () => (await app.request('GET', `/~${slug}/${path}`)).body,
    }
  }

  test.each([
    ['in the fork', ['named-a-fork'], 'length'],
    ['in the origin', ['named-a'], 'metres'],
    ['in both', ['named-a-fork', 'named-a'], 'metres'],
  ])('%s is merged under the name that the origin has', async (where, renaming, field) => {
    const slug = `named-${where.replaceAll(' ', '-')}`
    const { rename, update, merge, approve, read } = await fleet(slug)
    for (const one of renaming) await rename(one.replace('named-a', slug))
    await update(`${slug}-fork`, { [renaming[0] === 'named-a' ? 'length' : 'metres']: 28 })

    const { body } = await merge()
    const approved = await approve(body.$id)
    const { $id: _, ...ship } = await read()

    expect([body.operationCount, body.conflicts]).toEqual([1, []])
    expect(approved.status).toBe(200)
    expect(ship).toMatchObject({ name: 'Beagle', [field]: 28 })
    expect(ship).not.toHaveProperty(field === 'length' ? 'metres' : 'length')
  })

  test('is in conflict if the origin changed it before the rename', async () => {
    const { rename, update, merge } = await fleet('named-late')
    await update('named-late-fork', { length: 28 })
    await update('named-late', { length: 40 })
    await rename('named-late')

    const { body } = await merge()

    expect(body.conflicts).toMatchObject([{ type: 'Ship', field: 'metres' }])
  })
})
