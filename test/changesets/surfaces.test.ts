import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Tilde, tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let agentKey: string
let tilde: Tilde
let agent: Tilde

beforeAll(async () => {
  host = await testHost()
  agentKey = await host.key('acme', 'propose:crm')
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: 'acme' })
  agent = tildeWith({ TILDE_URL: host.url, TILDE_KEY: agentKey, TILDE_TENANT: 'acme' })
})
afterAll(() => host.stop())

const at = (path: string) => `/~acme${path}`
const contact = async (fields: object = {}): Promise<string> =>
  (await host.request('POST', at('/Contact'), { name: 'Ada', ...fields })).body.$id

async function call(key: string, name: string, input: object): Promise<{ isError?: boolean; answer: any }> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
  const { result } = (await host.as(key)('POST', at('/mcp'), body, { accept: 'application/json' })).body
  return { isError: result.isError, answer: JSON.parse(result.content[0].text) }
}

verifies('changeset.propose.sdk', '$.propose files what the work writes as one changeset', async () => {
  const $ = tildebase({ baseUrl: host.url, tenant: 'acme', apiKey: agentKey })
  const reviewer = tildebase({ baseUrl: host.url, tenant: 'acme', apiKey: ROOT })
  const id = await contact()

  const changeset = await $.propose(
    'Welcome',
    async ($) => {
      const lead = await $.Contact.get(id)
      const organization = await $.Organization.create({ name: `${lead!.name} Ltd` })
      await Promise.all([$.Contact.update(id, { organization: organization.$id }), $.Contact.qualify(id)])
    },
    { reason: 'They asked' },
  )
  const nothing = await $.propose('Nothing', ($) => $.Contact.find({}))
  const approved = await reviewer.changesets.approve(changeset!.$id)
  const after = await reviewer.Contact.get(id, { include: ['organization'] })

  expect(changeset).toMatchObject({ title: 'Welcome', reason: 'They asked', state: 'Open', conflicts: [] })
  expect(changeset!.diff.map(({ verb }) => verb)).toEqual(['create', 'update', 'qualify'])
  expect(nothing).toBeNull()
  expect(approved.state).toBe('Approved')
  expect(after).toMatchObject({ stage: 'Qualified', organization: { name: 'Ada Ltd' } })
})

test('$.changesets comments, rebases, rejects and merges forks', async () => {
  const $ = tildebase({ baseUrl: host.url, tenant: 'acme', apiKey: ROOT })
  const id = await contact()
  await host.request('POST', '/operator/tenants/acme/fork', { to: 'acme-fork' })
  await host.request('PUT', `/~acme-fork/Contact/${id}`, { title: 'forked' })

  const { $id } = await $.changesets.from('acme-fork', { title: 'Merge' })
  await $.changesets.comment($id, 'Looks good')
  await $.changesets.rebase($id, [1])
  const rejected = await $.changesets.reject($id, 'Not now')

  expect(rejected).toMatchObject({ state: 'Rejected', comments: [{ text: 'Looks good' }, { text: 'Not now' }] })
})

verifies(
  'changeset.propose.mcp',
  'an agent that can only propose gets a changeset, with an explanation, and can follow its state',
  async () => {
    const id = await contact()
    const code = `const c = await $.Contact.get('${id}'); await $.Contact.update(c.$id, { title: c.name + '!' }); (await $.Contact.get(c.$id)).title`

    const tools = (
      await host.as(agentKey)('POST', at('/mcp'), { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    ).body
    const done = await call(agentKey, 'do', { code })
    const { $id, url } = done.answer.changeset
    const more = await call(agentKey, 'do', {
      code: `await $.Contact.qualify('${id}'); (await $.Contact.get('${id}')).title`,
      propose: $id,
    })
    const before = await call(agentKey, 'fetch', { type: 'Changeset', id: $id })
    await host.request('POST', at(`/changesets/${$id}/approve`))
    const after = await call(agentKey, 'fetch', { type: 'Changeset', id: $id })
    const read = await call(agentKey, 'do', { code: 'await $.Contact.count()' })

    expect(tools.result.tools.find(({ name }: any) => name === 'do').description).toContain('You can only propose')
    expect(done.answer).toMatchObject({ result: 'Ada!', changeset: { state: 'Open', operationCount: 1 } })
    expect(url).toMatch(`${host.url}/~acme/decide/${$id}?signature=`)
    expect(more.answer).toMatchObject({ result: 'Ada!', changeset: { $id, operationCount: 2 } })
    expect(before.answer).toMatchObject({
      state: 'Open',
      diff: [{ changes: { title: { to: 'Ada!' } } }, { verb: 'qualify' }],
    })
    expect(after.answer.state).toBe('Approved')
    expect(read.answer.changeset).toBeNull()
    expect((await host.request('GET', at(`/Contact/${id}`))).body).toMatchObject({ title: 'Ada!', stage: 'Qualified' })
  },
)

test('an agent that may write proposes when it says so', async () => {
  const id = await contact()
  const key = await host.key('acme', 'write:crm')

  const proposed = await call(key, 'do', {
    code: `await $.Contact.delete('${id}')`,
    propose: 'Remove Ada',
    reason: 'Asked',
  })
  const written = await call(key, 'do', { code: `await $.Contact.update('${id}', { title: 'x' })` })

  expect(proposed.answer.changeset).toMatchObject({ title: 'Remove Ada', state: 'Open' })
  expect(written.answer).not.toHaveProperty('changeset')
  expect((await host.request('GET', at(`/Contact/${id}`))).body).toMatchObject({ title: 'x' })
})

verifies('changeset.propose.cli', '--propose files a changeset, which tilde changesets shows and decides', async () => {
  const id = await contact()

  const { json: filed } = await agent('Contact.update', id, '--title', 'Countess', '--propose', 'Titles', '--json')
  const more = await agent('do', '--code', `await $.Contact.qualify('${id}')`, '--propose', filed.$id)
  const refused = await agent('Contact.update', id, '--title', 'Countess')
  const unheeded = await agent('keys', 'list', '--propose', 'x')
  const list = await tilde('changesets', 'list')
  const shown = await tilde('changesets', 'show', filed.$id)
  const diff = await tilde('changesets', 'diff', filed.$id)
  const effect = await tilde('changesets', 'effect', filed.$id)
  const dry = await tilde('changesets', 'approve', filed.$id, '--dry-run', '--json')
  const approved = await tilde('changesets', 'approve', filed.$id, '--operations', '1,2')
  const closed = await tilde('changesets', 'reject', filed.$id)

  expect(filed.preview.title).toBe('Countess')
  expect(more.code).toBe(0)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('may only propose') })
  expect(unheeded).toMatchObject({ code: 2, err: expect.stringContaining('--propose') })
  expect(list.out).toContain(`${filed.$id}\tOpen\tTitles\t2\t`)
  expect(shown.out).toContain('operations\t2\n')
  expect(diff.out).toContain(`1\tupdate\tContact\t${id}\n\ttitle\t(none) → Countess\n`)
  expect(effect.out).toMatch(/^count\tContact\tstage=Qualified\t(\d+) → (\d+)$/m)
  expect(dry.json.result.state).toBe('Approved')
  expect(approved.out).toContain('state\tApproved\n')
  expect(closed).toMatchObject({ code: 1, err: expect.stringContaining('Open') })
})
