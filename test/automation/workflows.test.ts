import type { JsonObject } from '@tildebase/nouns'
import { Budget, type Grant, OPERATOR } from '@tildebase/tenant'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { currentWorkflow } from '../../packages/tenant/src/services/workflows/author.ts'
import { cancelRun, retryRun } from '../../packages/tenant/src/services/workflows/manage.ts'
import { runsOf, runWithId } from '../../packages/tenant/src/services/workflows/view.ts'
import { verifies } from '../verifies.ts'
import { type Automation, DAY, HOUR, MINUTE, openAutomation, openWithCode, SECOND } from './bench.ts'

const ALL = { status: null, cursor: null, limit: 100 }
const NOTE = { verb: 'create', type: 'Comment', args: { body: '$event.data.name' } }

/** A workflow that is active. */
function start({ run }: Automation, fields: JsonObject, grant: Grant = OPERATOR): string {
  const { $id } = run('Workflow', 'create', undefined, { name: 'w', ...fields }, grant)
  run('Workflow', 'activate', $id, {}, grant)
  return $id
}

function runs({ tenant }: Automation, workflow: string): any[] {
  return runsOf(tenant.engine, OPERATOR, workflow, ALL).results as any[]
}

function steps({ tenant }: Automation, workflow: string, run: string): any[] {
  return runWithId(tenant.engine, OPERATOR, workflow, run).steps as any[]
}

function comments({ tenant }: Automation): string[] {
  return tenant.sql
    .rows(`SELECT data FROM states WHERE type = 'Comment' AND gone = 0 ORDER BY n`)
    .map(([data]) => JSON.parse(data).body)
}

verifies('workflow.event', 'a workflow runs once for each event that its pattern and its filter select', async () => {
  const a = openAutomation()
  const workflow = start(a, { triggerEvent: 'Contact.created', filter: { stage: 'Lead' }, steps: [NOTE] })

  const ada = a.run('Contact', 'create', undefined, { name: 'Ada', stage: 'Lead' })
  a.run('Contact', 'create', undefined, { name: 'Bob', stage: 'Customer' })
  a.run('Contact', 'update', ada.$id, { name: 'Ada L.' })
  expect(comments(a)).toEqual([])
  await a.advance(DAY)

  expect(comments(a)).toEqual(['Ada'])
  expect(runs(a, workflow)).toMatchObject([
    { status: 'Succeeded', trigger: 'event', event: { type: 'Contact.created' } },
  ])
})

test('a workflow that is created active, or changed while it is, runs for the next event', async () => {
  const a = openAutomation()
  const note = (body: string) => ({ ...NOTE, args: { body } })
  const fields = { name: 'w', status: 'Activated', triggerEvent: 'Contact.created', steps: [note('one')] }
  const { $id } = a.run('Workflow', 'create', undefined, fields)

  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()
  a.run('Workflow', 'update', $id, { steps: [note('two')] })
  a.run('Contact', 'create', undefined, { name: 'Bob' })
  await a.settle()

  expect(comments(a)).toEqual(['one', 'two'])
})

test.each([
  ['*', ['Deal.created', 'Deal.won']],
  ['Deal.*', ['Deal.created', 'Deal.won']],
  ['*.won', ['Deal.won']],
  ['deal.WON', ['Deal.won']],
])('the pattern %s selects %j', async (triggerEvent, expected) => {
  const a = openAutomation()
  const workflow = start(a, { triggerEvent, steps: [] })
  const deal = a.run('Deal', 'create', undefined, { name: 'D', stage: 'Negotiation' })
  a.run('Deal', 'win', deal.$id)

  await a.settle()

  const names = runs(a, workflow).map((run) => run.event.type)
  expect(names.filter((name) => name.startsWith('Deal')).toReversed()).toEqual(expected)
})

test('a workflow for all events does not run for the end of its own runs', async () => {
  const a = openAutomation()
  const workflow = start(a, { triggerEvent: '*', steps: [] })
  await a.settle()
  const before = runs(a, workflow).length

  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()

  expect(runs(a, workflow)).toHaveLength(before + 1)
})

test('a workflow that is no longer active, or not yet, does not run', async () => {
  const a = openAutomation()
  const draft = a.run('Workflow', 'create', undefined, {
    name: 'd',
    triggerEvent: 'Contact.created',
    steps: [NOTE],
  }).$id
  const paused = start(a, { triggerEvent: 'Contact.created', steps: [NOTE] })
  a.run('Workflow', 'pause', paused)
  const deleted = start(a, { triggerEvent: 'Contact.created', steps: [NOTE] })
  a.run('Workflow', 'delete', deleted)

  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()

  expect(comments(a)).toEqual([])
  expect(runs(a, draft)).toEqual([])
})

test('runs that wait when a workflow is paused continue when it is activated again', async () => {
  const a = openAutomation()
  const workflow = start(a, { triggerEvent: 'Contact.created', steps: [NOTE] })
  a.run('Contact', 'create', undefined, { name: 'Ada' })
  a.run('Workflow', 'pause', workflow)
  await a.settle()
  expect(runs(a, workflow)).toMatchObject([{ status: 'Waiting' }])

  a.run('Workflow', 'activate', workflow)
  await a.settle()

  expect(comments(a)).toEqual(['Ada'])
})

verifies(
  'workflow.schedule',
  'a schedule follows the clock of its time zone through a change to summer time',
  async () => {
    const a = openAutomation()
    a.clock.at = Date.UTC(2026, 2, 27, 12)
    const workflow = start(a, {
      schedule: '0 9 * * * Europe/Berlin',
      steps: [{ verb: 'create', type: 'Comment', args: { body: '$event.timestamp' } }],
    })

    await a.advance(3 * DAY + 12 * HOUR)

    expect(comments(a)).toEqual(['2026-03-28T08:00:00.000Z', '2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'])
    expect(runs(a, workflow)[0]).toMatchObject({
      trigger: 'schedule',
      event: null,
      scheduledAt: '2026-03-30T07:00:00.000Z',
    })
  },
)

test('times of a schedule that were missed count once', async () => {
  const a = openAutomation()
  const workflow = start(a, { schedule: '0 * * * *', steps: [] })

  a.clock.at += 5 * DAY + MINUTE
  await a.settle()

  expect(runs(a, workflow)).toHaveLength(1)
  a.run('Workflow', 'pause', workflow)
  await a.advance(DAY)
  expect(runs(a, workflow)).toHaveLength(1)
})

verifies(
  'workflow.values',
  'values of the event and of earlier steps reach the arguments with their types',
  async () => {
    const a = openAutomation()
    const workflow = start(a, {
      triggerEvent: 'Deal.won',
      steps: [
        {
          verb: 'create',
          type: 'Project',
          args: { name: '$event.data.name', budget: '$event.data.value', note: 'a $event' },
        },
        {
          verb: 'update',
          type: 'Project',
          id: '$steps.0.$id',
          args: { description: '$event.data.nothing', parts: ['$steps.0.name', 1] },
        },
      ],
    })
    const deal = a.run('Deal', 'create', undefined, { name: 'Roof', value: 12.5, stage: 'Negotiation' })

    a.run('Deal', 'win', deal.$id)
    await a.settle()

    const [run] = runs(a, workflow)
    const [created, updated] = steps(a, workflow, run.id)
    expect(created).toMatchObject({
      status: 'Succeeded',
      input: { args: { name: 'Roof', budget: 12.5, note: 'a $event' } },
    })
    expect(updated).toMatchObject({ input: { id: created.output.$id, args: { parts: ['Roof', 1] } } })
    expect(updated.input.args).not.toHaveProperty('description')
    expect(a.entity('Project', created.output.$id)).toMatchObject({ name: 'Roof', budget: 12.5, parts: ['Roof', 1] })
  },
)

verifies('workflow.errors', 'Stop ends a run, Continue continues, Fallback runs the marked steps', async () => {
  const a = openAutomation()
  const fails = { verb: 'qualify', type: 'Contact', id: 'contact_none' }
  const say = (body: string, more = {}) => ({ verb: 'create', type: 'Comment', args: { body }, ...more })
  const list = (name: string) => [
    say(`${name} 1`),
    fails,
    say(`${name} 2`),
    say(`${name} fallback`, { fallback: true }),
  ]
  const ids = ['Stop', 'Continue', 'Fallback'].map((errorHandling) =>
    start(a, { triggerEvent: 'Contact.created', errorHandling, steps: list(errorHandling) }),
  )

  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()

  expect(comments(a).toSorted()).toEqual(['Continue 1', 'Continue 2', 'Fallback 1', 'Fallback fallback', 'Stop 1'])
  expect(ids.map((id) => runs(a, id)[0].status)).toEqual(['Failed', 'Succeeded', 'Succeeded'])
  expect(runs(a, ids[0]!)[0].error).toMatch(/Step 1 \(Contact\.qualify\) failed: There is no Contact contact_none/)
  expect(steps(a, ids[0]!, runs(a, ids[0]!)[0].id).map(({ status }) => status)).toEqual([
    'Succeeded',
    'Failed',
    'Skipped',
    'Skipped',
  ])
})

verifies(
  ['workflow.retries', 'workflow.once'],
  'a step is tried again, later each time, and the steps before are not',
  async () => {
    const a = openAutomation()
    const workflow = start(a, {
      triggerEvent: 'Contact.created',
      retryPolicy: { retries: 3, backoff: '30s' },
      steps: [NOTE, { verb: 'update', type: 'Organization', id: 'organization_late00', args: { name: 'Done' } }],
    })
    a.run('Contact', 'create', undefined, { name: 'Ada' })
    const tries = () => steps(a, workflow, runs(a, workflow)[0].id)[1].tries

    await a.settle()
    expect([tries(), runs(a, workflow)[0].status]).toEqual([1, 'Running'])
    await a.advance(29 * SECOND)
    expect(tries()).toBe(1)
    await a.advance(SECOND)
    expect(tries()).toBe(2)
    await a.advance(59 * SECOND)
    expect(tries()).toBe(2)
    // What failed is there now.
    a.tenant.run(OPERATOR, {
      type: 'Organization',
      verb: 'create',
      data: { $id: 'organization_late00', name: 'Late' },
      keepId: true,
    })
    await a.advance(SECOND)

    expect(runs(a, workflow)).toMatchObject([{ status: 'Succeeded' }])
    expect(tries()).toBe(3)
    expect(comments(a)).toEqual(['Ada'])
    expect(a.entity('Organization', 'organization_late00').name).toBe('Done')
  },
)

verifies('workflow.timeout', 'a run that takes longer than its timeout fails, retries included', async () => {
  const a = openAutomation()
  const workflow = start(a, {
    triggerEvent: 'Contact.created',
    timeout: 60,
    retryPolicy: { retries: 9, backoff: '30s' },
    steps: [{ verb: 'qualify', type: 'Contact', id: 'contact_none' }],
  })
  a.run('Contact', 'create', undefined, { name: 'Ada' })

  await a.advance(HOUR)

  expect(runs(a, workflow)).toMatchObject([
    { status: 'Failed', error: expect.stringContaining('longer than its 60 s') },
  ])
})

verifies('workflow.timeout', 'a run that would wait for a retry beyond its timeout fails at that time', async () => {
  const a = openAutomation()
  const workflow = start(a, {
    triggerEvent: 'Contact.created',
    timeout: 2,
    retryPolicy: { retries: 9, backoff: '60s' },
    steps: [{ verb: 'qualify', type: 'Contact', id: 'contact_none' }],
  })
  a.run('Contact', 'create', undefined, { name: 'Ada' })

  await a.advance(2_500)

  expect(runs(a, workflow)).toMatchObject([{ status: 'Failed', error: expect.stringContaining('longer than its 2 s') }])
})

verifies('workflow.hops', 'a chain of workflows stops after 16 hops', async () => {
  const a = openAutomation()
  const workflow = start(a, {
    triggerEvent: 'Comment.created',
    steps: [{ verb: 'create', type: 'Comment', args: { body: 'again' } }],
  })

  a.run('Comment', 'create', undefined, { body: 'first' })
  await a.settle()

  expect(comments(a)).toHaveLength(18)
  const [last] = runs(a, workflow)
  expect(last).toMatchObject({ status: 'Failed', error: expect.stringContaining('Remove the loop') })
})

verifies(
  ['workflow.pause', 'workflow.counts'],
  'five failures in a row pause a workflow, and its counts match its runs',
  async () => {
    const a = openAutomation()
    const workflow = start(a, {
      triggerEvent: 'Contact.created',
      steps: [{ verb: 'create', type: 'Comment', args: { body: '$event.data.title' } }],
    })
    const create = async (title?: string) => {
      a.run('Contact', 'create', undefined, { name: 'c', ...(title && { title }) })
      await a.settle()
    }
    for (const title of [
      undefined,
      undefined,
      undefined,
      undefined,
      'fine',
      undefined,
      undefined,
      undefined,
      undefined,
    ]) {
      await create(title)
    }
    expect(a.entity('Workflow', workflow).status).toBe('Activated')
    a.clock.at += MINUTE
    await create()

    expect(a.entity('Workflow', workflow)).toMatchObject({
      status: 'Paused',
      runCount: 10,
      successCount: 1,
      failureCount: 9,
      lastRunAt: a.iso(0),
    })
    expect(a.events(/Workflow\.paused/)).toMatchObject([{ entity: workflow, actor: 'system' }])
    await create()
    expect(runs(a, workflow)).toHaveLength(10)
    const states = runs(a, workflow).map(({ status }) => status)
    expect(states.filter((state) => state === 'Failed')).toHaveLength(9)
  },
)

test('clients cannot set the counts', () => {
  const a = openAutomation()
  const { $id } = a.run('Workflow', 'create', undefined, { name: 'w', runCount: 7 })

  a.run('Workflow', 'update', $id, { successCount: 9, description: 'x' })

  expect(a.entity('Workflow', $id)).toEqual({ name: 'w', description: 'x', status: 'Draft' })
})

verifies('workflow.trigger', 'Workflow.trigger runs it by hand, and counts once', async () => {
  const a = openAutomation()
  const workflow = start(a, { steps: [{ verb: 'create', type: 'Comment', args: { body: '$event.type' } }] })

  expect(a.run('Workflow', 'trigger', workflow)).toMatchObject({ runCount: 1 })
  await a.settle()

  expect(comments(a)).toEqual(['Workflow.triggered'])
  expect(runs(a, workflow)).toMatchObject([{ status: 'Succeeded', trigger: 'manual' }])
  expect(a.entity('Workflow', workflow)).toMatchObject({ runCount: 1, successCount: 1 })
})

verifies('workflow.retry', 'a retry continues from the step that failed, and cannot be repeated', async () => {
  const a = openAutomation()
  const workflow = start(a, {
    triggerEvent: 'Contact.created',
    steps: [NOTE, { verb: 'update', type: 'Organization', id: 'organization_late00', args: { name: 'Done' } }],
  })
  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()
  const [failed] = runs(a, workflow)
  a.tenant.run(OPERATOR, {
    type: 'Organization',
    verb: 'create',
    data: { $id: 'organization_late00', name: 'Late' },
    keepId: true,
  })

  const retry = a.tenant.write(OPERATOR, (write) => retryRun(write, workflow, failed.id))
  await a.settle()

  expect(runs(a, workflow)).toMatchObject([
    { id: retry.id, status: 'Succeeded', trigger: 'retry', retryOf: failed.id },
    { id: failed.id, status: 'Failed', retriedBy: retry.id },
  ])
  expect(comments(a)).toEqual(['Ada'])
  expect(a.entity('Workflow', workflow)).toMatchObject({ runCount: 2, successCount: 1, failureCount: 1 })
  for (const id of [failed.id, retry.id as string]) {
    expect(() => a.tenant.write(OPERATOR, (write) => retryRun(write, workflow, id))).toThrow(
      /already retried|succeeded/,
    )
  }
})

test('a run whose completed steps were changed since is not retried', async () => {
  const a = openAutomation()
  const fails = { verb: 'qualify', type: 'Contact', id: 'contact_none' }
  const workflow = start(a, { triggerEvent: 'Contact.created', steps: [NOTE, fails] })
  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()
  const [run] = runs(a, workflow)
  const retry = () => a.tenant.write(OPERATOR, (write) => retryRun(write, workflow, run.id))

  a.run('Workflow', 'update', workflow, { steps: [{ ...NOTE, args: { body: 'new' } }, fails] })
  expect(retry).toThrow(/completed steps that were changed/)
  a.run('Workflow', 'update', workflow, { steps: [NOTE, { ...NOTE, args: { body: 'mended' } }] })
  retry()
  await a.settle()

  expect(runs(a, workflow)[0]).toMatchObject({ status: 'Succeeded', retryOf: run.id })
  expect(comments(a)).toEqual(['Ada', 'mended'])
})

verifies('workflow.cancel', 'a run that waits can be cancelled, and one that has ended cannot', async () => {
  const a = openAutomation()
  const workflow = start(a, {
    triggerEvent: 'Contact.created',
    retryPolicy: { retries: 3, backoff: '1h' },
    steps: [{ verb: 'qualify', type: 'Contact', id: 'contact_none' }],
  })
  a.run('Contact', 'create', undefined, { name: 'Ada' })
  await a.settle()
  const [run] = runs(a, workflow)

  const cancelled = a.tenant.write(OPERATOR, (write) => cancelRun(write, workflow, run.id))
  await a.advance(DAY)

  expect(cancelled).toMatchObject({ status: 'Cancelled' })
  expect(runs(a, workflow)).toMatchObject([{ status: 'Cancelled' }])
  expect(a.entity('Workflow', workflow)).toMatchObject({ runCount: 1 })
  expect(() => a.tenant.write(OPERATOR, (write) => cancelRun(write, workflow, run.id))).toThrow(/already ended/)
})

test.each([
  ['steps', { steps: 'nothing' }, /list of steps/],
  ['steps.0', { steps: [{ verb: 'fly', type: 'Contact', id: 'x' }] }, /verb of Contact/],
  ['steps.0', { steps: [{ verb: 'create', type: 'Kontakt' }] }, /Kontakt is none/],
  ['steps.0', { steps: [{ verb: 'qualify', type: 'Contact' }] }, /needs an id/],
  ['steps.0', { steps: [{ verb: 'create', type: 'Contact', args: { name: '$steps.0.name' } }] }, /has not run yet/],
  ['steps.0', { steps: [{ verb: 'create', type: 'Contact', arg: {} }] }, /has arg/],
  ['schedule', { schedule: 'every day' }, /not a cron expression/],
  ['schedule', { schedule: '0 9 * * * Mars/Base' }, /not a time zone/],
  ['triggerEvent', { triggerEvent: 'a b' }, /must be an event/],
  ['filter', { triggerEvent: 'Contact.created', filter: { name: { $what: 1 } } }, /what/],
  ['retryPolicy.retries', { retryPolicy: { retries: -1 } }, /whole number/],
  ['retryPolicy.backoff', { retryPolicy: { backoff: 'soon' } }, /30s/],
  ['timeout', { timeout: 0 }, /seconds/],
])('a workflow whose %s cannot be run is refused: %j', (field, fields, message) => {
  const { run } = openAutomation()

  const create = () => run('Workflow', 'create', undefined, { name: 'w', ...fields } as JsonObject)

  expect(create).toThrow(
    expect.objectContaining({
      code: 'validation_error',
      message: expect.stringMatching(message),
      about: expect.objectContaining({ details: expect.arrayContaining([expect.objectContaining({ field })]) }),
    }),
  )
})

describe('rights', () => {
  const grant = (scopes: string, rows = {}): Grant => ({
    actor: 'apiKey_x',
    scopes: scopes.split(',').map((scope) => {
      const [action, area] = scope.split(':')
      return { action, area } as Grant['scopes'][number]
    }),
    rows,
  })

  verifies(
    'workflow.rights',
    'a workflow does no more than the key that stored it, whichever key causes the event',
    async () => {
      const a = openAutomation()
      const author = grant('write:all', { Comment: { body: 'mine' } })
      const workflow = start(a, { triggerEvent: 'Contact.created', steps: [NOTE] }, author)

      a.run('Contact', 'create', undefined, { name: 'Ada' })
      await a.settle()

      expect(comments(a)).toEqual([])
      expect(runs(a, workflow)).toMatchObject([
        { status: 'Failed', error: expect.stringContaining('row filter does not match') },
      ])
      expect(() =>
        start(a, { triggerEvent: 'Contact.created', steps: [NOTE] }, grant('write:platform,read:crm')),
      ).toThrow(
        expect.objectContaining({ code: 'forbidden', about: expect.objectContaining({ missing: 'write:Comment' }) }),
      )
    },
  )

  test('events that the author could not read do not start it', async () => {
    const a = openAutomation()
    const blind = start(a, { triggerEvent: '*.created', steps: [] }, grant('write:platform'))
    const narrowed = start(
      a,
      { triggerEvent: 'Contact.created', steps: [] },
      grant('write:all', { Contact: { title: 'mine' } }),
    )

    a.run('Contact', 'create', undefined, { name: 'Ada', title: 'theirs' })
    a.run('Contact', 'create', undefined, { name: 'Bob', title: 'mine' })
    await a.settle()

    expect(runs(a, blind).map(({ event }) => event.type)).toEqual(['Workflow.created'])
    expect(runs(a, narrowed)).toHaveLength(1)
    expect(() => start(a, { triggerEvent: 'Contact.created', steps: [] }, grant('write:platform'))).toThrow(
      expect.objectContaining({ code: 'forbidden', about: expect.objectContaining({ missing: 'read:Contact' }) }),
    )
  })

  verifies(
    'workflow.cover',
    'a key cannot change, start or retry a workflow that can do more than itself',
    async () => {
      const a = openAutomation()
      const workflow = start(a, {
        triggerEvent: 'Contact.created',
        steps: [{ verb: 'qualify', type: 'Contact', id: 'contact_none' }],
      })
      a.run('Contact', 'create', undefined, { name: 'Ada' })
      await a.settle()
      const weak = grant('write:platform,write:crm')
      const [run] = runs(a, workflow)
      const forbidden = expect.objectContaining({ code: 'forbidden' })

      for (const verb of ['update', 'trigger', 'pause', 'delete', 'rollback']) {
        expect(() => a.run('Workflow', verb, workflow, { version: 1 } as JsonObject, weak)).toThrow(forbidden)
      }
      expect(() => a.tenant.write(weak, (write) => retryRun(write, workflow, run.id))).toThrow(forbidden)
      const limited = { ...OPERATOR, limits: { writesPerDay: 1 } }
      expect(() => a.tenant.write(limited, (write) => retryRun(write, workflow, run.id))).toThrow(forbidden)
      // It sees that the run failed, not what it did.
      expect(runWithId(a.tenant.engine, weak, workflow, run.id)).toMatchObject({
        status: 'Failed',
        event: null,
        error: null,
        steps: [{ verb: 'qualify', status: 'Failed', hidden: true }],
      })
      // Its own is run with its rights, also after a stronger key has looked at it.
      const own = start(a, { triggerEvent: 'Deal.created', steps: [] }, weak)
      a.run('Workflow', 'update', own, { description: 'seen' })
      expect(currentWorkflow(a.tenant.engine, own)?.author.grant.scopes).toEqual(weak.scopes)
    },
  )

  verifies('workflow.keys', 'a workflow cannot create API keys, whichever key stored it', async () => {
    const a = openAutomation()
    const workflow = start(a, {
      triggerEvent: 'Contact.created',
      steps: [{ verb: 'create', type: 'ApiKey', args: { name: 'k' } }],
    })

    a.run('Contact', 'create', undefined, { name: 'Ada' })
    await a.settle()

    expect(runs(a, workflow)[0].error).toContain('Stored code cannot create API keys')
  })

  test('a run continues with the rights that it began with', async () => {
    const a = openAutomation()
    const author = grant('write:all', { Comment: { body: 'mine' } })
    const workflow = start(
      a,
      { triggerEvent: 'Contact.created', retryPolicy: { retries: 2, backoff: '1m' }, steps: [NOTE] },
      author,
    )
    a.run('Contact', 'create', undefined, { name: 'Ada' })
    await a.settle()

    a.run('Workflow', 'update', workflow, { timeout: 3_600 })
    await a.advance(HOUR)

    expect(comments(a)).toEqual([])
  })
})

describe('code', () => {
  let a: ReturnType<typeof openWithCode>
  beforeAll(() => {
    a = openWithCode()
  })
  afterAll(() => a.stop())

  verifies('workflow.code', 'a step of code is called with the event, the tenant and the earlier results', async () => {
    const workflow = start(a, {
      triggerEvent: 'Lead.created',
      steps: [
        { code: `async (event, $) => ({ name: event.data.name, leads: await $.Lead.count() })` },
        { code: `async (event, $, steps) => $.Comment.create({ body: steps[0].name + ' ' + steps[0].leads })` },
        { verb: 'update', type: 'Comment', id: '$steps.1.$id', args: { body: '$steps.0.name' } },
      ],
    })

    a.run('Lead', 'create', undefined, { name: 'Ada' })
    await a.settle()

    const [run] = runs(a, workflow)
    expect(run).toMatchObject({ status: 'Succeeded' })
    const [first, second] = steps(a, workflow, run.id)
    expect(first.output).toEqual({ name: 'Ada', leads: 1 })
    expect(second.output).toMatchObject({ body: 'Ada 1', $type: 'Comment' })
    expect(comments(a)).toEqual(['Ada'])
    expect(a.events(/Comment/).map(({ actor }) => actor)).toEqual([`workflow:${workflow}`, `workflow:${workflow}`])
  })

  verifies('workflow.keys', 'code of a workflow cannot create API keys', async () => {
    const workflow = start(a, {
      triggerEvent: 'Ticket.created',
      steps: [{ code: `async (e, $) => $.ApiKey.create({ name: 'k' })` }],
    })

    a.run('Ticket', 'create', undefined, { subject: 't' })
    await a.settle()

    expect(runs(a, workflow)).toMatchObject([
      { status: 'Failed', error: expect.stringContaining('cannot create API keys') },
    ])
  })

  verifies('workflow.timeout', 'code that never ends fails with its run', async () => {
    const workflow = start(a, { triggerEvent: 'Project.created', timeout: 1, steps: [{ code: '() => { for (;;); }' }] })

    a.run('Project', 'create', undefined, { name: 'p' })
    await a.settle()

    expect(runs(a, workflow)).toMatchObject([{ status: 'Failed' }])
  })

  verifies(
    'workflow.once',
    'what code wrote before it failed is not written again when it is tried again',
    async () => {
      const workflow = start(a, {
        triggerEvent: 'Campaign.created',
        retryPolicy: { retries: 2, backoff: '1s' },
        steps: [
          {
            code: `async (event, $) => {
            const one = await $.Product.create({ name: 'once' })
            await $.Product.create({ name: 'once' })
            const tags = await $.Organization.findOne({ name: 'ready' })
            if (!tags) throw new Error('not yet')
            return one.$id
          }`,
          },
        ],
      })
      a.run('Campaign', 'create', undefined, { name: 'c' })
      await a.settle()
      a.run('Organization', 'create', undefined, { name: 'ready' })
      await a.advance(MINUTE)

      const [run] = runs(a, workflow)
      expect(run).toMatchObject({ status: 'Succeeded' })
      const made = a.events(/Product\.created/).map(({ entity }) => entity)
      expect(made).toHaveLength(2)
      expect(steps(a, workflow, run.id)[0]).toMatchObject({ tries: 2, output: made[0] })
    },
  )

  verifies('workflow.test', 'a test runs the steps without a trace', async () => {
    const workflow = start(a, {
      triggerEvent: 'Invoice.created',
      filter: { amountDue: { $gt: 100 } },
      steps: [
        { verb: 'create', type: 'Comment', args: { body: '$event.data.number' } },
        { code: `async (event, $, steps) => (await $.Comment.get(steps[0].$id)).body + '!'` },
        { verb: 'delete', type: 'Comment', id: '$steps.0.$id' },
      ],
    })
    const before = a.tenant.head.seq
    const { tenant } = a
    const test = (body: unknown) =>
      tenant.facade.testWorkflow(OPERATOR, { secrets: new Set() }, unlimitedBudget(), workflow, body)

    const tested = await test({ event: { type: 'Invoice.created', data: { number: 'I-1', amountDue: 200 } } })

    expect(tested).toMatchObject({
      matches: true,
      status: 'Succeeded',
      steps: [{ output: { body: 'I-1' } }, { output: 'I-1!' }, { output: null }],
    })
    expect((tested.events as any[]).map(({ type }) => type)).toEqual(['Comment.created', 'Comment.deleted'])
    expect(a.tenant.head.seq).toBe(before)
    expect(runs(a, workflow)).toEqual([])
    const small = await test({ event: { type: 'Invoice.created', data: { number: 'I-2', amountDue: 1 } } })
    expect(small).toMatchObject({ matches: false })
    await expect(test({ event: 'event_none' })).rejects.toThrow(/no event event_none/)
    const past = a.run('Customer', 'create', undefined, { name: 'Ada' })
    const [[event]] = a.tenant.sql.rows('SELECT id FROM events WHERE entity = ?', past.$id) as [[string]]
    expect(await test({ event })).toMatchObject({ matches: false, event: { type: 'Customer.created' } })
  })

  verifies(
    'workflow.test.draft',
    'a test tries changes that are not stored, with the rights of the caller',
    async () => {
      const workflow = start(a, {
        triggerEvent: 'Invoice.created',
        filter: { amountDue: { $gt: 100 } },
        steps: [{ verb: 'create', type: 'Comment', args: { body: 'stored' } }],
      })
      const event = { type: 'Invoice.created', data: { number: 'I-1', amountDue: 1 } }
      const test = (body: unknown, grant: Grant = OPERATOR) =>
        a.tenant.facade.testWorkflow(grant, { secrets: new Set() }, unlimitedBudget(), workflow, body)
      const steps = [{ verb: 'create', type: 'Comment', args: { body: 'tried' } }]
      const before = a.tenant.head.seq

      const tried = await test({ event, workflow: { steps, filter: null } })
      const stored = await test({ event })

      expect(tried).toMatchObject({ matches: true, steps: [{ output: { body: 'tried' } }] })
      expect(stored).toMatchObject({ matches: false, steps: [{ output: { body: 'stored' } }] })
      expect(a.tenant.head.seq).toBe(before)
      await expect(test({ event, workflow: { steps: [{ verb: 'fly', type: 'Comment' }] } })).rejects.toThrow(/steps\.0/)
      await expect(test({ event, workflow: { status: 'Activated' } })).rejects.toThrow(/workflow\.status/)
      const narrow: Grant = { actor: 'apiKey_1', scopes: [{ action: 'write', area: 'platform' }], rows: {} }
      await expect(test({ event, workflow: { steps } }, narrow)).rejects.toThrow(/cannot change or run/)
    },
  )

  test('a draft of a workflow with few rights is tried with those of the caller', async () => {
    const narrow: Grant = {
      actor: 'apiKey_1',
      scopes: [{ action: 'write', area: 'all' }],
      rows: { Deal: { name: 'x' } },
    }
    const steps = [{ verb: 'create', type: 'Deal', args: { name: 'Roof' } }]
    const workflow = start(a, { triggerEvent: 'Workflow.created', steps }, narrow)
    const tried = (grant: Grant, workflowDraft?: object) =>
      a.tenant.facade.testWorkflow(grant, { secrets: new Set() }, unlimitedBudget(), workflow, {
        event: { type: 'Workflow.created', data: {} },
        ...(workflowDraft && { workflow: workflowDraft }),
      })

    expect(await tried(OPERATOR)).toMatchObject({ status: 'Failed' })
    expect(await tried(OPERATOR, { steps })).toMatchObject({ status: 'Succeeded' })
    expect(await tried(narrow, { steps })).toMatchObject({ status: 'Failed' })
  })
})

function unlimitedBudget() {
  return new Budget({ ms: 60_000, rows: 1e9, bytes: 1e9 }, () => performance.now())
}
