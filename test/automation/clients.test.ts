import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { speak } from '../agents/wire.ts'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const later = '2100-01-01T00:00:00.000Z'

/** A workflow of a tenant that has failed once. */
async function failedOnce(tenant: string) {
  const $ = tildebase({ tenant, apiKey: ROOT, baseUrl: host.url })
  const workflow = await $.Workflow.create({
    name: 'w',
    triggerEvent: 'Contact.created',
    steps: [{ verb: 'update', type: 'Organization', id: '$event.data.employer', args: { name: '$event.data.name' } }],
  })
  await $.Workflow.activate(workflow.$id)
  await $.Contact.create({ name: 'Ada' })
  const failed = async () => (await $.Workflow.runs(workflow.$id, { status: 'Failed' })).length
  await expect.poll(failed, { timeout: 20_000 }).toBe(1)
  return { $, id: workflow.$id }
}

test('the client lists timers and runs, retries, cancels and tests', async () => {
  const { $, id } = await failedOnce('sdk')
  const activity = await $.Activity.create({ subject: 'Call', type: 'Call', reminderAt: later })

  const [timer] = await $.Activity.timers(activity.$id)
  const [run] = await $.Workflow.runs(id)
  const whole = await $.Workflow.run(id, run!.id)
  const retry = await $.Workflow.retryRun(id, run!.id)
  const organization = await $.Organization.create({ name: 'x' })
  const tested = await $.Workflow.test(id, {
    event: { type: 'Contact.created', data: { name: 'Eve', employer: organization.$id } },
  })

  expect(timer).toMatchObject({ name: 'remind', at: later, run: 'remind', status: 'Waiting' })
  expect(whole.steps).toMatchObject([
    { verb: 'update', status: 'Failed', error: expect.stringContaining('has no value') },
  ])
  expect(retry).toMatchObject({ retryOf: run!.id, trigger: 'retry' })
  expect(tested).toMatchObject({ matches: true, status: 'Succeeded', events: [{ type: 'Organization.updated' }] })
  await expect($.Workflow.cancelRun(id, run!.id)).rejects.toThrow(/already ended/)
})

test('code of do reads timers and runs, and retries', async () => {
  const { $, id } = await failedOnce('do')
  const activity = await $.Activity.create({ subject: 'Call', type: 'Call', reminderAt: later })

  const { result } = await $.do(`
    const { results: [run] } = await $.Workflow.runs('${id}', { status: 'Failed' })
    const [timer] = await $.Activity.timers('${activity.$id}')
    const { steps } = await $.Workflow.run('${id}', run.id)
    const retry = await $.Workflow.retryRun('${id}', run.id)
    return [timer.name, steps.length, retry.retryOf === run.id]`)

  expect(result).toEqual(['remind', 1, true])
})

test('the command line lists timers and runs, retries and tests', async () => {
  const { $, id } = await failedOnce('cli')
  const tilde = tildeWith({ TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: 'cli' })
  const activity = await $.Activity.create({ subject: 'Call', type: 'Call', reminderAt: later })

  const timers = await tilde('Activity.timers', activity.$id)
  const list = await tilde('workflows', 'list')
  const runs = await tilde('workflows', 'runs', id, '--status', 'Failed', '--json')
  const run = await tilde('workflows', 'run', id, runs.json.results[0].id)
  const retry = await tilde('workflows', 'retry', id, runs.json.results[0].id, '--json')
  const tested = await tilde('workflows', 'test', id, '--event', '{"type":"Contact.created","data":{}}', '--json')
  const unknown = await tilde('workflows', 'fly')

  expect(timers.out).toBe(`remind\t${later}\tremind\tWaiting\t\n`)
  expect(list.out).toContain('Contact.created')
  expect(run.out).toContain('has no value')
  expect(retry.json).toMatchObject({ trigger: 'retry' })
  expect(tested.json).toMatchObject({ dryRun: true, status: 'Failed' })
  expect(unknown.err).toContain('workflows has list, runs, run, retry, cancel, test')
})

const open = (tenant: string, apiKey: string) => tildebase({ tenant, apiKey, baseUrl: host.url })

/** A question that waits in a tenant. */
async function asked({ asks, Contact }: Pick<ReturnType<typeof open>, 'asks' | 'Contact'>, name: string) {
  const { total } = await asks.list()
  await Contact.create({ name })
  await expect.poll(async () => (await asks.list()).total, { timeout: 20_000 }).toBe(total + 1)
  return (await asks.list()).results.at(-1)!
}

verifies(
  'ask.doors',
  'a question is read and answered by the client, by code, on the command line and over MCP',
  async () => {
    const key = await host.key('asks', 'admin:all,approve:own')
    const $ = open('asks', key)
    const ask = { of: 'role:Admin', title: 'Pay?', fields: { amount: 'number!' } }
    const { $id } = await $.Workflow.create({ name: 'w', triggerEvent: 'Contact.created', steps: [{ ask }] })
    await $.Workflow.activate($id)
    const tilde = tildeWith({ TILDE_URL: host.url, TILDE_KEY: key, TILDE_TENANT: 'asks' })
    const [one, two, three] = [await asked($, 'Ada'), await asked($, 'Bo'), await asked($, 'Cy')]
    const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      host.request(method, path, body, headers)

    const listed = await tilde('asks', 'list', '--json')
    const fetched = await speak(send, 'asks', 'tools/call', { name: 'fetch', arguments: { type: 'Ask', id: one.id } })
    await expect($.asks.answer(one.id, 'Approved')).rejects.toThrow('amount')
    const byClient = await $.asks.answer(one.id, 'Approved', { amount: 5 })
    const { result: byCode } = await $.do(`
    const { results: [open] } = await $.asks.list({ limit: 1 })
    await $.asks.answer(open.id, 'Rejected')
    return (await $.asks.get(open.id)).status`)
    const byTilde = await tilde('asks', 'approve', three.id, '--fields', '{"amount":7}', '--json')

    expect(listed.out).toContain(two.id)
    expect(JSON.stringify(fetched.result)).toContain('Pay?')
    expect([byClient.status, byCode]).toEqual(['Answered', 'Answered'])
    expect(byTilde.json).toMatchObject({ answer: { answer: 'Approved', amount: 7 } })
    await expect
      .poll(async () => (await $.Workflow.runs($id, { status: 'Succeeded' })).length, { timeout: 20_000 })
      .toBe(3)
  },
)

verifies('ask.agents', 'an agent does not answer the question of its own workflow, by any way', async () => {
  const $ = open('own', ROOT)
  // Also a key that may answer cannot let a workflow do it.
  const key = await host.key('own', 'write:all')
  const admin = open('own', await host.key('own', 'admin:all,approve:own'))
  const agent = open('own', key)
  const ask = { of: 'role:Admin', title: 'Pay?' }
  const { $id } = await agent.Workflow.create({ name: 'w', triggerEvent: 'Contact.created', steps: [{ ask }] })
  await agent.Workflow.activate($id)
  const { id } = await asked(agent, 'Ada')
  const code = `await $.asks.answer('${id}', 'Approved')`
  const step = {
    name: 'v',
    triggerEvent: 'Contact.updated' as const,
    steps: [{ code: `(event, $) => $.asks.answer('${id}', 'Approved')` }],
  }
  const second = await admin.Workflow.create(step)
  await admin.Workflow.activate(second.$id)
  const [contact] = await agent.Contact.find()
  await agent.Contact.update(contact!.$id, { title: 'x' })

  await expect(agent.asks.answer(id, 'Approved')).rejects.toThrow('approve:own')
  await expect(agent.do(code)).rejects.toThrow('approve:own')
  await expect
    .poll(async () => (await $.Workflow.runs(second.$id, { status: 'Failed' })).length, { timeout: 20_000 })
    .toBe(1)
  expect((await $.asks.get(id)).status).toBe('Open')
})

verifies('workflow.ssrf', 'a request step and an agent reach no private address, however it is written', async () => {
  const receiver = await Receiver.start()
  const { port } = new URL(receiver.url)
  const $ = open('ssrf', ROOT)
  const hosts = [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '169.254.169.254',
    '10.0.0.1',
  ]
  const urls = hosts.flatMap((name) => [`https://${name}:${port}/`, `http://${name}:${port}/`])

  for (const url of urls) {
    const step = { request: { method: 'GET', url } }
    await expect($.Workflow.create({ name: 'w', steps: [step] }), url).rejects.toThrow(/https|public/)
    await expect($.Agent.create({ name: 'a', endpoint: url }), url).rejects.toThrow(/https|public/)
  }
  // An address that is known only when the step runs.
  const step = { request: { method: 'GET', url: '$event.data.website' } }
  const { $id } = await $.Workflow.create({ name: 'w', triggerEvent: 'Organization.created', steps: [step] })
  await $.Workflow.activate($id)
  for (const website of urls.slice(0, 4)) await $.Organization.create({ name: website, website })
  const failed = async () => (await $.Workflow.runs($id, { status: 'Failed' })).length
  await expect.poll(failed, { timeout: 20_000 }).toBe(4)

  expect(receiver.requests).toEqual([])
  await receiver.stop()
})
