import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'

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
