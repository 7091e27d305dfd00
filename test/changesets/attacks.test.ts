import { afterAll, beforeAll, expect, test } from 'vitest'
import { decide, speak } from '../agents/wire.ts'
import { send as sendBytes, until } from '../content/content.ts'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.stop())

test('a review tells nothing of types that its reader may not read', async () => {
  const at = (path: string) => `/~oracle/${path}`
  await app.request('POST', at('Contact'), { name: 'Hidden', email: 'hidden@example.org' })
  const { body: lead } = await app.request('POST', at('Lead'), { name: 'Lea' })
  const send = app.as(await app.key('oracle', 'write:Lead'))
  const reviews = []
  for (const email of ['hidden@example.org', 'unknown@example.org']) {
    // While the Lead is deleted, the operation is in conflict and is not tried with the rights of its author.
    await send('DELETE', at(`Lead/${lead.$id}`))
    const operations = [{ type: 'Lead', verb: 'convert', id: lead.$id, data: { contact: { email } } }]
    const { body } = await send('POST', at('Changeset'), { title: 'Convert', operations })
    await send('POST', at(`Lead/${lead.$id}/restore`))
    const review = await send('GET', at(`Changeset/${body.$id}`))
    const effect = await send('GET', at(`Changeset/${body.$id}/effect`))
    reviews.push(JSON.stringify([review.body.diff, review.body.conflicts, effect.body]).replaceAll(email, '…'))
  }

  expect(reviews[0]).toBe(reviews[1])
  expect(reviews[0]).not.toContain('contact_')
})

test.each([
  ['that is visible', (_: string) => null],
  ['that is deleted while it is proposed', (id: string) => id],
])('the hash of a file that the author may not read opens nothing by an approval, on an entity %s', async (_, gone) => {
  const at = (path: string) => `/~hashes/${path}`
  const { body: hidden } = await app.request('POST', at('Asset'), { name: 'hidden' })
  const { body: mine } = await app.request('POST', at('Asset'), { name: 'mine' })
  await sendBytes(app, 'POST', at(`Asset/${hidden.$id}/file`), 'top secret')
  const { hash } = (await app.request('GET', at(`Asset/${hidden.$id}`))).body.file
  const send = app.as(await app.key('hashes', 'propose:Asset', { filter: { Asset: { name: 'mine' } } }))

  if (gone(mine.$id)) await app.request('DELETE', at(`Asset/${mine.$id}`))
  const operations = [{ type: 'Asset', verb: 'update', id: mine.$id, data: { file: { hash } } }]
  const { body, status } = await send('POST', at('Changeset'), { title: 'File', operations })
  if (gone(mine.$id)) await app.request('POST', at(`Asset/${mine.$id}/restore`))
  const approved = await app.request('POST', at(`Changeset/${body.$id}/approve`))

  expect(status).toBe(201)
  expect([approved.status, approved.body.conflicts?.[0]?.reason]).toEqual([
    409,
    `The Asset is not valid. file: there is no content ${hash}`,
  ])
  expect((await send('GET', at(`Asset/${mine.$id}/file`))).status).toBe(404)
})

test('a file that the author sent is approved, also on an entity that was deleted while it was proposed', async () => {
  const at = (path: string) => `/~own-files/${path}`
  const { body: asset } = await app.request('POST', at('Asset'), { name: 'mine' })
  const key = await app.key('own-files', 'propose:Asset,write:Deal')
  const { body: file } = await sendBytes(app, 'POST', at('files'), 'my own', {}, key)
  await app.request('DELETE', at(`Asset/${asset.$id}`))
  const operations = [{ type: 'Asset', verb: 'update', id: asset.$id, data: { file: { hash: file.hash } } }]
  const { body } = await app.as(key)('POST', at('Changeset'), { title: 'File', operations })
  await app.request('POST', at(`Asset/${asset.$id}/restore`))
  await app.request('POST', at(`Changeset/${body.$id}/rebase`))

  const approved = await app.request('POST', at(`Changeset/${body.$id}/approve`))

  expect(approved.status, approved.text).toBe(200)
  expect((await app.request('GET', at(`Asset/${asset.$id}`))).body.file.hash).toBe(file.hash)
})

test('a write that names a changeset as its correlation is not shown as a part of it', async () => {
  const at = (path: string) => `/~correlated/${path}`
  const { body: ada } = await app.request('POST', at('Contact'), { name: 'Ada' })
  const [proposes, writes] = [await app.key('correlated', 'propose:crm'), await app.key('correlated', 'write:crm')]
  const { body: changeset } = await app.as(proposes)('PUT', at(`Contact/${ada.$id}?propose=Title`), { title: 'Lady' })
  const write = (fields: object) =>
    app.as(writes)('PUT', at(`Contact/${ada.$id}`), fields, { 'x-correlation-id': changeset.$id })

  const before = await write({ phone: '1' })
  await app.request('POST', at(`Changeset/${changeset.$id}/approve`))
  const after = await write({ mobile: '2' })

  expect([before.status, after.status]).toEqual([200, 200])
  const { body } = await app.request('GET', at(`Changeset/${changeset.$id}`))
  expect(body.diff.map(({ changes }: any) => changes)).toEqual([{ title: { from: null, to: 'Lady' } }])
})

test('an author does not approve by a workflow either', async () => {
  const at = (path: string) => `/~four-eyes/${path}`
  const { body: deal } = await app.request('POST', at('Deal'), { name: 'Big', value: 1 })
  const send = app.as(await app.key('four-eyes', 'write:all'))
  const { body: changeset } = await send('PUT', at(`Deal/${deal.$id}?propose=More`), { value: 2 })
  const steps = [{ verb: 'approve', type: 'Changeset', id: changeset.$id }]
  const { body: workflow } = await send('POST', at('Workflow'), {
    name: 'Approve',
    triggerEvent: 'Contact.created',
    steps,
  })
  await send('POST', at(`Workflow/${workflow.$id}/activate`))

  await send('POST', at('Contact'), { name: 'Go' })
  await until(async () => {
    const { body } = await send('GET', at(`Workflow/${workflow.$id}/runs`))
    return body.results.some(({ status }: any) => status === 'Failed' || status === 'Succeeded')
  })

  expect((await send('GET', at(`Deal/${deal.$id}`))).body.value).toBe(1)
  expect((await send('GET', at(`Changeset/${changeset.$id}`))).body.state).toBe('Open')
})

test('a workflow that approves a webhook keeps no secret of it', async () => {
  const at = (path: string) => `/~kept/${path}`
  const url = 'https://receiver.example/hook'
  const { body: changeset } = await app.request('POST', at('Webhook?propose=Hook'), { url, events: ['Deal.created'] })
  const send = app.as(await app.key('kept', 'admin:all'))
  const steps = [{ verb: 'approve', type: 'Changeset', id: changeset.$id }]
  const { body: workflow } = await send('POST', at('Workflow'), {
    name: 'Approve',
    triggerEvent: 'Contact.created',
    steps,
  })
  await send('POST', at(`Workflow/${workflow.$id}/activate`))

  await send('POST', at('Contact'), { name: 'Go' })
  await until(async () => (await send('GET', at(`Changeset/${changeset.$id}`))).body.state === 'Approved')
  const { body } = await send('GET', at(`Workflow/${workflow.$id}/runs`))
  const run = await send('GET', at(`Workflow/${workflow.$id}/runs/${body.results[0].id}`))

  expect(run.body.steps[0].output.results).toMatchObject([{ type: 'Webhook' }])
  expect(run.text).not.toContain('whsec_')
})

/** The page on which an administrator decides about what an agent proposed by code. */
async function pageOf(tenant: string, code: string): Promise<string> {
  const admin = await person(app, tenant, { email: 'admin@example.com', role: 'Admin' })
  const { access } = await connect(app, admin, tenant, { asked: { scope: 'admin:all' } })
  const asked = { name: 'do', arguments: { code, propose: 'Words' } }
  const { result } = await speak(app.as(access), tenant, 'tools/call', asked)
  return (await decide(admin, result.structuredContent.changeset.url, 'reject')).shown.text
}

test('a person sees all of a proposal before deciding, however long its texts are', async () => {
  const { body: deal } = await app.request('POST', '/~whole/Deal', { name: 'Big', value: 1 })
  const description = `${'harmless '.repeat(200)}and pay Eve 1,000,000`
  const data = JSON.stringify({ description, terms: { description } })

  const page = await pageOf('whole', `await $.Deal.update('${deal.$id}', ${data})`)

  expect(page.split('pay Eve')).toHaveLength(3)
})

test('a person sees characters that would turn the order of letters around', async () => {
  const { body: deal } = await app.request('POST', '/~turned/Deal', { name: 'Big', value: 1 })
  const data = JSON.stringify({ description: 'pay \u202e001\u202c', '\u2066terms': { note: '\u202b1' } })

  const page = await pageOf('turned', `await $.Deal.update('${deal.$id}', ${data})`)

  expect(page).toContain('pay [U+202E]001[U+202C]')
  expect(page).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
})

test('a person sees the arguments of a verb that changes no field', async () => {
  const { body: helper } = await app.request('POST', '/~asked/Agent', { name: 'Helper' })

  const page = await pageOf('asked', `await $.Agent.ask('${helper.$id}', { message: 'Send all to Eve' })`)

  expect(page).toContain('Send all to Eve')
})

test('nothing but an approval approves: no proposal, undo, import, sync or hook of an agent', async () => {
  const at = (path: string) => `/~indirect/${path}`
  const admin = await person(app, 'indirect', { email: 'admin@example.com', role: 'Admin' })
  const { access } = await connect(app, admin, 'indirect', { asked: { scope: 'admin:all' } })
  const agent = app.as(access)
  const { body: deal } = await app.request('POST', at('Deal'), { name: 'Big', value: 1 })
  const propose = async (value: number) =>
    (await agent('PUT', at(`Deal/${deal.$id}?propose=More`), { value })).body.$id as string
  const [open, closed] = [await propose(2), await propose(3)]
  await app.request('POST', at(`Changeset/${closed}/reject`))
  const timestamp = new Date().toISOString()

  const replies = []
  for (const id of [open, closed]) {
    const operations = [{ type: 'Changeset', verb: 'approve', id }]
    const batched = [{ id: '1', method: 'POST', path: `/Changeset/${id}/approve`, body: {} }]
    const state = { state: 'Approved', author: 'operator' }
    replies.push(
      await agent('POST', at('Changeset'), { title: 'Nested', operations }),
      await agent('POST', at(`Changeset/${id}/approve?propose=Nested`), {}),
      await agent('POST', at('batch?propose=Nested'), { operations: batched }),
      await agent('POST', at('batch'), { atomic: true, operations: batched }),
      await agent('POST', at(`undo/${id}`), {}),
      await agent('PUT', at(`Changeset/${id}`), state),
      await agent('POST', at(`Changeset/${id}/rollback`), { version: 1 }),
      await agent('POST', at(`Changeset/${id}/restore`), {}),
      await agent('POST', at('import/Changeset'), [{ $id: id, ...state }]),
      await agent('POST', at('do'), { code: `await $.Changeset.update('${id}', { state: 'Approved' })` }),
      await agent('POST', at('do'), { code: `await $.changesets.approve('${id}')` }),
    )
    const change = { type: 'Changeset', id, operation: 'update', data: state, timestamp }
    expect((await agent('POST', at('sync'), { changes: [change] })).body.applied).toBe(0)
    const past = [{ type: 'Changeset', id, verb: 'approve', timestamp, data: state }]
    expect((await agent('POST', at('import/history'), past)).body.imported).toBe(0)
  }
  for (const step of ['commenting', 'rejecting'])
    await agent('PUT', at(`schema/Changeset/hooks/${step}`), { code: `() => ({ state: 'Approved', author: 'x' })` })
  await agent('POST', at(`Changeset/${open}/comment`), { text: 'Please' })

  expect(replies.map(({ status }) => status).filter((status) => status < 400)).toEqual([])
  const states = [open, closed].map(async (id) => (await app.request('GET', at(`Changeset/${id}`))).body)
  expect(await Promise.all(states)).toMatchObject([{ state: 'Open' }, { state: 'Rejected' }])
  expect((await app.request('GET', at(`Deal/${deal.$id}`))).body.value).toBe(1)
})
