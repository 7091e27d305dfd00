import { isCreateTaskResultV2, isDetailedTaskV2 } from '@modelcontextprotocol/ext-tasks/core/v2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { type Browser, person } from '../people/people.ts'
import { verifies } from '../verifies.ts'
import { decide, propose, speak } from './wire.ts'

const WAITS = { tasks: true, urls: true }

let app: TestApp
let admin: Browser
let viewer: Browser
let agent: ReturnType<TestApp['as']>
let key: ReturnType<TestApp['as']>

beforeAll(async () => {
  app = await testApp()
  admin = await person(app, 'acme', { email: 'admin@example.com', role: 'Admin' })
  viewer = await person(app, 'acme', { email: 'viewer@example.com', role: 'Viewer' })
  const { access } = await connect(app, admin, 'acme', { asked: { scope: 'admin:all' } })
  agent = app.as(access)
  key = app.as(await app.key('acme', 'write:crm'))
})
afterAll(() => app.stop())

const urlOf = (task: any): string => task.inputRequests.decision.params.url
const get = (send: typeof agent, taskId: string, declared = WAITS) =>
  speak(send, 'acme', 'tasks/get', { taskId }, declared)

verifies(
  ['mcp.task', 'mcp.task.url'],
  'a proposal is a task that waits for a person and completes with the decision',
  async () => {
    const { result: created } = await propose(agent, 'acme', WAITS, 'Grace')
    const { result: waiting } = await get(agent, created.taskId)
    const { shown, sent } = await decide(admin, urlOf(waiting), 'approve')
    const { result: done } = await get(agent, created.taskId)

    expect(created).toMatchObject({ resultType: 'task', status: 'input_required', ttlMs: expect.any(Number) })
    expect(waiting).toMatchObject({
      resultType: 'complete',
      status: 'input_required',
      inputRequests: { decision: { method: 'elicitation/create', params: { mode: 'url' } } },
    })
    expect([isCreateTaskResultV2(created), isDetailedTaskV2(waiting), isDetailedTaskV2(done)]).toEqual([
      true,
      true,
      true,
    ])
    expect(shown.text).toContain('Grace')
    expect(sent.status, sent.text).toBe(200)
    expect(done).toMatchObject({
      status: 'completed',
      result: { structuredContent: { changeset: { state: 'Approved', reviewer: admin.user.$id } } },
    })
    expect((await app.request('GET', '/~acme/Contact?name=Grace')).body.total).toBe(1)
  },
)

describe('a task', () => {
  verifies(
    'mcp.task.working',
    'is working, with the address in its message, for a client that opens none',
    async () => {
      const { result } = await propose(agent, 'acme', { tasks: true })

      expect(result).toMatchObject({ resultType: 'task', status: 'working' })
      expect(result.statusMessage).toMatch(/\/~acme\/decide\/changeset_\w+\?signature=/)
      expect((await get(agent, result.taskId, { tasks: true, urls: false })).result.status).toBe('working')
    },
  )

  verifies('mcp.task.reject', 'completes when a person rejects it', async () => {
    const { result } = await propose(agent, 'acme', WAITS)
    const { result: waiting } = await get(agent, result.taskId)

    await decide(admin, urlOf(waiting), 'reject', { reason: 'No.' })

    const { result: done } = await get(agent, result.taskId)
    expect(done).toMatchObject({
      status: 'completed',
      result: { structuredContent: { changeset: { state: 'Rejected' } } },
    })
  })

  verifies('mcp.task.cancel', 'is cancelled by its author, which closes the changeset', async () => {
    const { result } = await propose(agent, 'acme', WAITS)

    const { result: answer } = await speak(agent, 'acme', 'tasks/cancel', { taskId: result.taskId }, WAITS)

    expect(answer).toMatchObject({ resultType: 'complete' })
    expect((await get(agent, result.taskId)).result.status).toBe('cancelled')
    expect((await app.request('GET', `/~acme/changesets/${result.taskId}`)).body.state).toBe('Rejected')
  })

  verifies('mcp.task.update', 'is not decided by what the client responds', async () => {
    const { result } = await propose(agent, 'acme', WAITS)
    const inputResponses = { decision: { action: 'accept', content: { decision: 'approve' } } }

    const answered = await speak(agent, 'acme', 'tasks/update', { taskId: result.taskId, inputResponses }, WAITS)
    const empty = await speak(agent, 'acme', 'tasks/update', { taskId: result.taskId }, WAITS)

    expect([answered.error, empty.error?.code]).toEqual([undefined, -32602])
    expect((await get(agent, result.taskId)).result.status).toBe('input_required')
  })

  test('does not exist for another caller, nor for a client that does not declare tasks', async () => {
    const { result } = await propose(agent, 'acme', WAITS)

    expect((await get(key, result.taskId)).error.code).toBe(-32602)
    expect((await get(agent, 'changeset_0')).error.code).toBe(-32602)
    expect((await get(agent, result.taskId, { tasks: false, urls: true })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    })
  })

  test('is asked for with its id in Mcp-Name', async () => {
    const { result } = await propose(agent, 'acme', WAITS)

    const other = await speak(agent, 'acme', 'tasks/get', { taskId: result.taskId }, WAITS, { 'mcp-name': 'other' })

    expect([other.status, other.error.code]).toEqual([400, -32020])
  })
})

describe('a client without tasks', () => {
  verifies('mcp.task.others', 'gets the changeset and the address at once', async () => {
    const { result } = await propose(agent, 'acme', {})
    const withPages = await propose(agent, 'acme', { tasks: true, apps: true, urls: true })

    for (const { structuredContent } of [result, withPages.result])
      expect(structuredContent.changeset).toMatchObject({ state: 'Open', url: expect.stringContaining('/decide/') })
    expect(withPages.result.resultType).toBe('complete')
  })

  test('of an older revision gets the same', async () => {
    const params = { name: 'do', arguments: { code: "await $.Contact.create({ name: 'Old' })", propose: 'Old' } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }

    const { body } = await agent('POST', '/~acme/mcp', message, { accept: 'application/json' })

    expect(body.result.structuredContent.changeset.url).toMatch(/\/decide\/changeset_/)
    expect(body.result).not.toHaveProperty('resultType')
  })
})

describe('no token of an agent approves', () => {
  verifies('agent.approves.nothing', 'by any route', async () => {
    const own = (await propose(agent, 'acme', {})).result.structuredContent.changeset
    const others = (await propose(key, 'acme', {})).result.structuredContent.changeset
    const { pathname, search } = new URL(own.url)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }

    for (const { $id } of [own, others]) {
      const code = `await $.Changeset.approve('${$id}')`
      const replies = [
        await agent('POST', `/~acme/changesets/${$id}/approve`, {}),
        await agent('POST', `/~acme/Changeset/${$id}/approve`, {}, { 'idempotency-key': $id }),
        await agent('POST', '/~acme/do', { code }),
        await agent('POST', pathname + search, 'decision=approve&version=1', form),
      ]
      const batch = { operations: [{ id: '1', method: 'POST', path: `/Changeset/${$id}/approve`, body: {} }] }
      const { body } = await agent('POST', '/~acme/batch', batch)
      const called = await speak(agent, 'acme', 'tools/call', { name: 'do', arguments: { code } })

      for (const { status, text } of replies) expect(status, text).toBeGreaterThanOrEqual(400)
      expect(body.results[0].status).toBe(403)
      expect(called.result.isError).toBe(true)
      expect((await app.request('GET', `/~acme/changesets/${$id}`)).body.state).toBe('Open')
    }
  })

  test('not even by what it stores: a workflow of an agent', async () => {
    const { $id } = (await propose(key, 'acme', {})).result.structuredContent.changeset
    const steps = [{ verb: 'approve', type: 'Changeset', id: $id }]
    const { body } = await agent('POST', '/~acme/Workflow', {
      name: 'Approver',
      triggerEvent: 'Contact.created',
      steps,
    })
    if (body.$id) {
      await agent('POST', `/~acme/Workflow/${body.$id}/activate`)
      await app.request('POST', '/~acme/Contact', { name: 'Trigger' })
      await expect
        .poll(async () => (await app.request('GET', `/~acme/Workflow/${body.$id}/runs`)).body.results[0]?.endedAt)
        .toEqual(expect.any(String))
    }

    expect((await app.request('GET', `/~acme/changesets/${$id}`)).body.state).toBe('Open')
  })

  verifies('agent.approves.nothing', 'nor as a person whom it makes or takes over', async () => {
    const steps = [{ verb: 'invite', type: 'User', args: { email: 'made@by.workflow', role: 'Admin' } }]
    const draft = { name: 'Inviter', triggerEvent: 'Lead.created', steps }
    const stored = await agent('POST', '/~acme/Workflow', draft)
    const replies = [
      await agent('PUT', `/~acme/User/${viewer.user.$id}`, { email: 'made@by.update' }),
      await agent('POST', '/~acme/User', { name: 'Made', email: 'made@by.create', role: 'Admin' }),
      await agent('POST', '/~acme/User/invite', { email: 'made@by.invite', role: 'Admin' }),
    ]
    if (stored.body.$id) {
      await agent('POST', `/~acme/Workflow/${stored.body.$id}/activate`)
      await app.request('POST', '/~acme/Lead', { name: 'Trigger' })
      await expect
        .poll(
          async () => (await app.request('GET', `/~acme/Workflow/${stored.body.$id}/runs`)).body.results[0]?.endedAt,
        )
        .toEqual(expect.any(String))
    }

    for (const { status, text } of replies) expect(status, text).toBeGreaterThanOrEqual(400)
    const { results } = (await app.request('GET', '/~acme/User')).body
    expect(results.filter(({ email }: { email: string }) => email.startsWith('made@'))).toEqual([])
  })

  test('while a key that did not propose it does', async () => {
    const { $id } = (await propose(agent, 'acme', {})).result.structuredContent.changeset

    expect((await key('POST', `/~acme/changesets/${$id}/approve`, {})).status).toBe(200)
  })
})

describe('the page', () => {
  const pageOf = async () => (await propose(agent, 'acme', {})).result.structuredContent.changeset

  verifies('decide.page', 'sends a person who is not signed in to sign in, and back', async () => {
    const { url } = await pageOf()
    const { pathname, search } = new URL(url)

    const { status, headers } = await app.as('')('GET', pathname + search)

    expect(status).toBe(302)
    expect(headers.get('location')).toBe(`/~acme/sign-in?return=${encodeURIComponent(pathname + search)}`)
  })

  verifies('decide.framed', 'cannot be framed, and runs no script', async () => {
    const { url } = await pageOf()
    const { pathname, search } = new URL(url)

    const { headers } = await admin.send('GET', pathname + search)

    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toMatch(/script-src 'none'.*frame-ancestors 'none'/)
    expect(headers.get('referrer-policy')).toBe('same-origin')
  })

  verifies('decide.signature', 'is refused with a forged signature, or that of another changeset', async () => {
    const [one, other] = [new URL((await pageOf()).url), new URL((await pageOf()).url)]
    const forged = `${one.searchParams.get('signature')!.slice(0, -4)}AAAA`

    for (const signature of [forged, '', other.searchParams.get('signature')!]) {
      const { status, text } = await admin.send('GET', `${one.pathname}?signature=${encodeURIComponent(signature)}`)
      expect([status, text.includes('<form')]).toEqual([400, false])
    }
  })

  test('cannot be decided twice: a repeated address shows the outcome', async () => {
    const { url, $id } = await pageOf()
    await decide(admin, url, 'reject')

    const { shown, sent } = await decide(admin, url, 'approve', { version: '1' })

    expect(shown.text).not.toContain('<form')
    expect(sent.status).toBeGreaterThanOrEqual(400)
    expect((await app.request('GET', `/~acme/changesets/${$id}`)).body.state).toBe('Rejected')
  })

  verifies('decide.rights', 'is decided with the rights of the person', async () => {
    const { url, $id } = await pageOf()

    const { sent } = await decide(viewer, url, 'approve')

    expect(sent.status).toBeGreaterThanOrEqual(400)
    expect((await app.request('GET', `/~acme/changesets/${$id}`)).body.state).toBe('Open')
  })

  test('is decided only from the page itself, and on the version that was shown', async () => {
    const { url, $id } = await pageOf()

    const foreign = await decide(admin, url, 'approve', { csrf: 'x' })
    const stale = await decide(admin, url, 'approve', { version: '99' })

    expect([foreign.sent.status, stale.sent.status]).toEqual([403, 409])
    expect((await app.request('GET', `/~acme/changesets/${$id}`)).body.state).toBe('Open')
  })
})

verifies(
  'agent.verbs',
  'a verb that asks something of an Agent is recorded, with a warning that no agent is called',
  async () => {
    const { body } = await app.request('POST', '/~acme/Agent', { name: 'Helper' })

    const asked = await app.request('POST', `/~acme/Agent/${body.$id}/ask`, { message: 'Who are you?' })
    const paused = await app.request('PUT', `/~acme/Agent/${body.$id}`, { description: 'Quiet' })
    const { body: events } = await app.request('GET', '/~acme/events?type=Agent.asked')

    expect(JSON.parse(asked.headers.get('x-tilde-warnings')!)).toEqual([{ warning: 'not_configured' }])
    expect(paused.headers.get('x-tilde-warnings')).toBeNull()
    expect(events.results.at(-1)).toMatchObject({ entityId: body.$id, args: { message: 'Who are you?' } })
  },
)
