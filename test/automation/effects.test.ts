import { type JsonObject, Problem } from '@tildebase/nouns'
import { Budget, type Grant, OPERATOR } from '@tildebase/tenant'
import type { OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'
import { expect, test } from 'vitest'
import { cancelRun, retryRun } from '../../packages/tenant/src/services/workflows/manage.ts'
import { runsOf, runWithId } from '../../packages/tenant/src/services/workflows/view.ts'
import { verifies } from '../verifies.ts'
import { type Automation, DAY, HOUR, MINUTE, openAutomation, SECOND } from './bench.ts'

const ALL = { status: null, cursor: null, limit: 100 }
const SECRET = 'sk_live_0123456789'
const budget = () => new Budget({ ms: 60_000, rows: 1e9, bytes: 1e9 }, () => performance.now())
const NOTE = { verb: 'create', type: 'Comment', args: { body: '$event.data.name' } }

interface World extends Automation {
  readonly sent: OutboundRequest[]
  /** What the other service answers. */
  respond: (request: OutboundRequest) => OutboundAnswer
  write<T>(grant: Grant, work: (write: any) => T): Promise<T>
}

function open(): World {
  const automation = openAutomation()
  const sent: OutboundRequest[] = []
  const { facade } = automation.tenant
  const world: World = {
    ...automation,
    sent,
    respond: () => ({ status: 200, text: '{"ok":true}', headers: { 'content-type': 'application/json' } }),
    write: (grant, work) => facade.write(grant, {}, budget(), work),
  }
  automation.tenant.equip({
    outbound: {
      send: async (request) => {
        sent.push(request)
        return world.respond(request)
      },
    },
  })
  return world
}

function start({ run }: World, fields: JsonObject, grant: Grant = OPERATOR): string {
  const { $id } = run('Workflow', 'create', undefined, { name: 'w', ...fields }, grant)
  run('Workflow', 'activate', $id, {}, grant)
  return $id
}

/** A workflow for every new contact. */
function onContact(world: World, steps: JsonObject[], more: JsonObject = {}): string {
  return start(world, { triggerEvent: 'Contact.created', steps, ...more })
}

async function contact(world: World, fields: JsonObject = {}): Promise<string> {
  const { $id } = world.run('Contact', 'create', undefined, { name: 'Ada', ...fields })
  await world.settle()
  return $id
}

function runs({ tenant }: World, workflow: string): any[] {
  return runsOf(tenant.engine, OPERATOR, workflow, ALL).results as any[]
}

function steps(world: World, workflow: string, n = 0): any[] {
  return runWithId(world.tenant.engine, OPERATOR, workflow, runs(world, workflow)[n].id).steps as any[]
}

function comments({ tenant }: World): string[] {
  return tenant.sql
    .rows(`SELECT data FROM states WHERE type = 'Comment' ORDER BY n`)
    .map(([data]) => JSON.parse(data).body)
}

verifies('workflow.request', 'a request is sent with values of the event, and later steps use its answer', async () => {
  const w = open()
  const workflow = onContact(w, [
    {
      request: {
        method: 'PUT',
        url: 'https://api.example.org/people/$event.data.name?from=$event.data.title',
        headers: { 'X-Name': 'for $event.data.name.' },
        body: { name: '$event.data.name', all: 'Dear $event.data.name, $event.data.phone' },
      },
    },
    { verb: 'create', type: 'Comment', args: { body: '$steps.0.body.id' } },
  ])
  w.respond = () => ({
    status: 201,
    text: '{"id":"x-7"}',
    headers: { 'content-type': 'application/json; charset=utf-8' },
  })
  await contact(w, { name: 'Ada & Bo', title: 'a/b?c' })

  expect(w.sent).toHaveLength(1)
  const [request] = w.sent
  expect(request!.method).toBe('PUT')
  expect(request!.url).toBe('https://api.example.org/people/Ada%20%26%20Bo?from=a%2Fb%3Fc')
  expect(request!.headers).toMatchObject({ 'x-name': 'for Ada & Bo.', 'content-type': 'application/json' })
  expect(JSON.parse(request!.body)).toEqual({ name: 'Ada & Bo', all: 'Dear Ada & Bo, ' })
  expect(request!.timeoutMs).toBe(10 * SECOND)
  expect(comments(w)).toEqual(['x-7'])
  expect(steps(w, workflow)[0]).toMatchObject({ status: 'Succeeded', output: { status: 201, body: { id: 'x-7' } } })
})

test('a text of a request may begin with a value', async () => {
  const w = open()
  const body = {
    greeting: '$event.data.name has come.',
    both: '$event.data.name/$event.data.score',
    whole: '$event.data.score',
    none: '$event.data.none',
    text: '$event.data.none has come',
  }
  const request = {
    method: 'POST',
    url: 'https://api.example.org/',
    headers: { subject: '$event.data.name, hello' },
    body,
  }
  onContact(w, [{ request }])
  await contact(w, { score: 7 })

  expect(w.sent.map(({ headers, body: sent }) => [headers.subject, JSON.parse(String(sent))])).toEqual([
    ['Ada, hello', { greeting: 'Ada has come.', both: 'Ada/7', whole: 7, text: ' has come' }],
  ])
})

test('a text of a verb may have values inside', async () => {
  const w = open()
  const body = [
    'Dear $event.data.name, you are $event.data.stage.',
    '$event.data.name/$steps.0.body',
    '$event.data.none has come',
    'a $event and $secrets.KEY',
  ]
  const workflow = onContact(w, [
    { verb: 'create', type: 'Comment', args: { body: '$event.data.name has come' } },
    { verb: 'create', type: 'Comment', args: { body: body.join('; '), note: '$event.data.none' } },
  ])

  await contact(w, { name: '$event.data.stage' })

  const [first, second] = steps(w, workflow)
  expect(first!.input.args).toEqual({ body: '$event.data.stage has come' })
  expect(second!.input.args).toEqual({
    body: 'Dear $event.data.stage, you are Lead.; $event.data.stage/$event.data.stage has come;  has come; a $event and $secrets.KEY',
  })
})

verifies(
  'workflow.request.retry',
  'every attempt of a request has the same idempotency key, of its run and step',
  async () => {
    const w = open()
    const request = { method: 'POST', url: 'https://api.example.org/' }
    const workflow = onContact(w, [{ request }, { request }], { retryPolicy: { retries: 2, backoff: '1m' } })
    let calls = 0
    w.respond = () => (++calls < 3 ? { status: 503, text: 'later' } : { status: 200, text: '' })
    await contact(w)
    await w.advance(HOUR)

    const keys = w.sent.map(({ headers }) => headers['idempotency-key'])
    const run = runs(w, workflow)[0].id
    expect(keys).toEqual([`${run}-0`, `${run}-0`, `${run}-0`, `${run}-1`])
    expect(runs(w, workflow)).toMatchObject([{ status: 'Succeeded' }])
  },
)

test('a status from 400 on fails the step, unless the step accepts it', async () => {
  const w = open()
  const request = { method: 'GET', url: 'https://api.example.org/' }
  const strict = onContact(w, [{ request }, NOTE])
  const lenient = onContact(w, [{ request, accept: [404] }, NOTE])
  w.respond = () => ({ status: 404, text: 'nothing here', headers: {} })
  await contact(w)

  expect(runs(w, strict)).toMatchObject([{ status: 'Failed', error: expect.stringContaining('answered 404') }])
  expect(steps(w, lenient)[0].output).toEqual({ status: 404, headers: {}, body: 'nothing here' })
  expect(comments(w)).toEqual(['Ada'])
})

verifies(
  'secret.hidden',
  'a secret is sent and appears nowhere else, also when the other service repeats it',
  async () => {
    const w = open()
    await w.write(OPERATOR, (write) => write.putSecret('API_KEY', SECRET))
    const workflow = onContact(w, [
      {
        request: {
          method: 'POST',
          url: 'https://api.example.org/?key=$secrets.API_KEY',
          headers: { Authorization: 'Bearer $secrets.API_KEY' },
          body: { key: '$secrets.API_KEY', name: '$event.data.name' },
        },
      },
    ])
    w.respond = () => ({
      status: 200,
      text: JSON.stringify({ echo: SECRET, encoded: btoa(SECRET) }),
      headers: { 'content-type': 'application/json', 'x-echo': SECRET },
    })
    await contact(w, { name: 'mine is $secrets.API_KEY' })
    w.respond = () => ({ status: 500, text: `bad key ${SECRET}` })
    await contact(w)

    expect(w.sent[0]!.headers.authorization).toBe(`Bearer ${SECRET}`)
    expect(w.sent[0]!.url).toContain(SECRET)
    // Text of the data is not read as a reference.
    expect(JSON.parse(w.sent[0]!.body)).toEqual({ key: SECRET, name: 'mine is $secrets.API_KEY' })
    const kept = JSON.stringify([
      w.tenant.sql.rows('SELECT * FROM workflow_steps'),
      w.tenant.sql.rows('SELECT * FROM workflow_runs'),
      w.tenant.sql.rows('SELECT value FROM secrets'),
      w.tenant.sql.rows('SELECT data, previous, args FROM log'),
      runs(w, workflow),
    ])
    expect(kept).not.toContain(SECRET)
    expect(kept).not.toContain(btoa(SECRET))
    expect(kept).toContain('[secret API_KEY]')
  },
)

verifies('secret.author', 'storing a workflow that names a secret needs admin:platform', () => {
  const w = open()
  const writer: Grant = {
    actor: 'apiKey_w',
    rows: {},
    scopes: [
      { action: 'write', area: 'all' },
      { action: 'write', area: 'platform' },
    ],
  }
  const request = { method: 'POST', url: 'https://a.example.org/', headers: { a: '$secrets.API_KEY' } }
  const create = (grant: Grant, step: JsonObject) => () =>
    w.run('Workflow', 'create', undefined, { name: 'w', triggerEvent: 'Contact.created', steps: [step] }, grant)
  expect(create(writer, { request })).toThrow(Problem)
  expect(create(writer, { ...NOTE, undo: { request } })).toThrow(Problem)
  expect(create(OPERATOR, { request })).not.toThrow()
  expect(create(writer, { request: { ...request, headers: {} } })).not.toThrow()
})

test('a header never has a line break', async () => {
  const w = open()
  const workflow = onContact(w, [
    { request: { method: 'GET', url: 'https://api.example.org/', headers: { a: 'x $event.data.name' } } },
  ])
  await contact(w, { name: 'a\r\nX-Admin: yes' })
  expect(w.sent).toEqual([])
  expect(runs(w, workflow)).toMatchObject([{ status: 'Failed' }])
})

verifies('workflow.wait', 'a run waits as long as it says, and until a time of its event', async () => {
  const w = open()
  const waiting = onContact(w, [{ wait: '3d' }, NOTE], { timeout: 60 })
  const until = onContact(w, [
    { until: '$event.data.birthday - 2d' },
    { verb: 'create', type: 'Comment', args: { body: 'soon' } },
  ])
  const past = onContact(w, [{ until: '2001-01-01' }, { verb: 'create', type: 'Comment', args: { body: 'at once' } }])
  await contact(w, { birthday: new Date(w.clock.at + 4 * DAY).toISOString() })
  expect(comments(w)).toEqual(['at once'])
  expect(runs(w, waiting)).toMatchObject([{ status: 'Waiting' }])
  await w.advance(2 * DAY - MINUTE)
  expect(comments(w)).toEqual(['at once'])
  await w.advance(2 * MINUTE)
  expect(comments(w)).toEqual(['at once', 'soon'])
  await w.advance(DAY)
  expect(comments(w)).toEqual(['at once', 'soon', 'Ada'])
  for (const workflow of [waiting, until, past]) expect(runs(w, workflow)).toMatchObject([{ status: 'Succeeded' }])
})

verifies('workflow.event.wait', 'a run waits for the event that its filter describes, or for its timeout', async () => {
  const w = open()
  const workflow = onContact(w, [
    { waitFor: 'Contact.updated', filter: { $id: '$event.data.$id', title: 'ready' }, timeout: '2h' },
    { verb: 'create', type: 'Comment', args: { body: 'now $steps.0' }, if: { 'steps.0': { $ne: null } } },
    { verb: 'create', type: 'Comment', args: { body: 'too late' }, if: { 'steps.0': null } },
  ])
  const ada = await contact(w)
  const bob = await contact(w, { name: 'Bob' })
  w.run('Contact', 'update', ada, { title: 'not yet' })
  await w.advance(HOUR)
  expect(comments(w)).toEqual([])
  w.run('Contact', 'update', ada, { title: 'ready' })
  await w.settle()
  expect(comments(w)).toHaveLength(1)
  expect(steps(w, workflow, 1)[0].output).toMatchObject({ type: 'Contact.updated', entityId: ada })
  await w.advance(2 * HOUR)
  w.run('Contact', 'update', bob, { title: 'ready' })
  await w.settle()
  expect(comments(w)).toHaveLength(2)
  expect(steps(w, workflow, 0)[0].output).toBeNull()
  expect(w.tenant.sql.rows('SELECT * FROM waits')).toEqual([])
  expect(() => onContact(w, [{ waitFor: 'Contact.updatd' }])).toThrow(
    'Contact has no event updatd; did you mean updated?',
  )
})

verifies(
  ['workflow.ask', 'ask.person'],
  'a person answers a question; the run continues with the checked answer',
  async () => {
    const w = open()
    const person = (role: string) =>
      w.run('User', 'create', undefined, { name: role, email: `${role}@x.org`, role }).$id
    const grantOf = (actor: string): Grant => ({ actor, scopes: [{ action: 'read', area: 'all' }], rows: {} })
    const [boss, other] = [person('Admin'), person('Viewer')]
    const workflow = onContact(w, [
      { ask: { of: 'role:Admin', title: 'May we call?', fields: { amount: 'number!', why: 'string' } } },
      { verb: 'create', type: 'Comment', args: { body: '$steps.0.answer' } },
    ])
    await contact(w)
    const { facade } = w.tenant
    const asks = (grant: Grant) =>
      (facade.read(grant, budget()).reactions.asks({ cursor: null, limit: 25 }) as any).results
    expect(asks(grantOf(other))).toEqual([])
    const [ask] = asks(grantOf(boss))
    expect(ask).toMatchObject({ title: 'May we call?', of: 'role:Admin', status: 'Open' })
    const answer = (grant: Grant, body: JsonObject) => w.write(grant, (write) => write.answerAsk(ask.id, body))
    const yes = { answer: 'Approved', fields: { amount: 5 } }
    await expect(answer(grantOf(other), yes)).rejects.toMatchObject({ code: 'not_found' })
    await expect(answer({ ...grantOf('agent_1'), onBehalfOf: boss }, yes)).rejects.toMatchObject({ code: 'forbidden' })
    const key = { ...grantOf('apiKey_1') }
    await expect(answer(key, yes)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(answer(grantOf(boss), { answer: 'Approved' })).rejects.toThrow('fields.amount')
    await expect(answer(grantOf(boss), { answer: 'Maybe' })).rejects.toThrow('answer: must be')
    await answer(grantOf(boss), yes)
    await expect(answer(grantOf(boss), yes)).rejects.toMatchObject({ code: 'conflict' })
    await w.settle()
    expect(steps(w, workflow)[0].output).toEqual({ answer: 'Approved', by: boss, amount: 5 })
    expect(comments(w)).toEqual(['Approved'])
    expect(w.events(/Workflow\.answered/)).toMatchObject([{ actor: boss }])
  },
)

test('the title of a question has values inside of its text', async () => {
  const w = open()
  const title = 'May we call $event.data.name, who is $steps.0.stage ($secrets.KEY)?'
  const first = { verb: 'qualify', type: 'Contact', id: '$event.data.$id' }
  const workflow = onContact(w, [first, { ask: { of: 'role:Admin', title } }])

  await contact(w)
  const bob = w.run('Contact', 'create', undefined, { name: 'Bob' })
  const event = { type: 'Contact.created', data: { $id: bob.$id, name: 'Bob' } }
  const tried: any = await w.tenant.facade.testWorkflow(OPERATOR, { secrets: new Set() }, budget(), workflow, { event })

  const [[asked]] = w.tenant.sql.rows('SELECT title FROM asks') as [[string]]
  expect(asked).toBe('May we call Ada, who is Qualified ($secrets.KEY)?')
  expect(tried.steps[1].input.ask.title).toBe('May we call Bob, who is Qualified ($secrets.KEY)?')
})

test('a question ends with its timeout, and with its run', async () => {
  const w = open()
  const step = { ask: { of: 'role:Admin', title: 'Well?', timeout: '1h' } }
  const workflow = onContact(w, [step, { ...NOTE, if: { 'steps.0': null } }])
  await contact(w)
  await w.advance(2 * HOUR)
  expect(comments(w)).toEqual(['Ada'])
  await contact(w)
  w.tenant.write(OPERATOR, (write: any) => cancelRun(write, workflow, runs(w, workflow)[0].id))
  expect(w.tenant.sql.rows('SELECT state FROM asks ORDER BY n')).toEqual([['Expired'], ['Cancelled']])
})

test.each([
  ['deleted', ['delete']],
  ['archived', ['pause', 'archive']],
])('the questions of a workflow that is %s are closed', async (_, verbs) => {
  const w = open()
  const step = { ask: { of: 'role:Admin', title: 'Well?' } }
  const workflow = onContact(w, [step])
  await contact(w)
  const asks = () => w.tenant.sql.rows('SELECT state FROM asks').map(([state]) => state)
  expect(asks()).toEqual(['Open'])

  for (const verb of verbs) w.run('Workflow', verb, workflow)
  await w.settle()

  expect(asks()).toEqual(['Cancelled'])
  expect(w.tenant.sql.rows('SELECT state FROM workflow_runs')).toEqual([['Cancelled']])
})

test('a moment beyond the last date fails its step', async () => {
  const w = open()
  const workflow = onContact(w, [{ until: '$event.data.last + 2d' }])
  await contact(w, { last: 8.64e15 })

  expect(runs(w, workflow)).toMatchObject([{ status: 'Failed', error: expect.stringContaining('is not a time') }])
})

verifies(
  'workflow.undo',
  'when a later step fails permanently, the steps before are undone in reverse order',
  async () => {
    const w = open()
    const note = (body: string) => ({ verb: 'create', type: 'Comment', args: { body } })
    const workflow = onContact(w, [
      { ...note('one'), undo: note('undo one') },
      { ...note('two'), if: { 'event.data.name': 'nobody' }, undo: note('undo two') },
      { ...note('three'), undo: { verb: 'delete', type: 'Comment', id: '$steps.2.$id' } },
      { request: { method: 'GET', url: 'https://api.example.org/' } },
    ])
    w.respond = () => ({ error: 'no route' })
    await contact(w)
    expect(comments(w)).toEqual(['one', 'three', 'undo one'])
    expect(w.events(/Comment\.deleted/)).toHaveLength(1)
    const [run] = runs(w, workflow)
    expect(run).toMatchObject({ status: 'Failed' })
    const undone = steps(w, workflow).filter((step) => step.undo)
    expect(undone).toMatchObject([
      { step: 0, status: 'Succeeded' },
      { step: 2, status: 'Succeeded' },
    ])
    expect(() => w.tenant.write(OPERATOR, (write: any) => retryRun(write, workflow, run.id))).toThrow(/was undone/)
  },
)

test('an answer of another service that is nested too deeply is kept as a text', async () => {
  const w = open()
  const workflow = onContact(w, [{ request: { method: 'GET', url: 'https://api.example.org/' } }])
  const text = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  w.respond = () => ({ status: 200, text, headers: { 'content-type': 'application/json' } })

  await contact(w)

  expect(runs(w, workflow)).toMatchObject([{ status: 'Succeeded' }])
  expect(steps(w, workflow)[0].output.body).toBe(text)
})

test('a message of a step is created and sent', async () => {
  const w = open()
  const workflow = onContact(w, [{ send: { channel: 'Email', subject: 'Hello', body: '$event.data.name' } }])
  await contact(w)
  expect(runs(w, workflow)).toMatchObject([{ status: 'Succeeded' }])
  expect(w.events(/^Message\./).map(({ name }) => name)).toEqual(['Message.created', 'Message.sent'])
})

test('a value inside the HTML of a message is text', async () => {
  const w = open()
  const workflow = onContact(w, [{ send: { subject: 'Hi $event.data.name', html: '<b>$event.data.name</b>' } }])
  await contact(w, { name: '<i>Ada</i>' })
  expect(steps(w, workflow)[0].input.send).toMatchObject({
    subject: 'Hi <i>Ada</i>',
    html: '<b>&lt;i&gt;Ada&lt;/i&gt;</b>',
  })
})

test.each([
  [{ ...NOTE, args: { body: 'as $steps.3.name says' } }, 'steps.3'],
  [{ send: { subject: 'x', body: 'Dear $event.dta.name' } }, 'no dta'],
  [{ wait: 'soon' }, 'wait'],
  [{ until: 'tomorrow' }, 'until'],
  [{ waitFor: 'not an event' }, 'waitFor'],
  [{ waitFor: 'Contact.updated', filter: { $id: { $bad: 1 } } }, 'filter'],
  [{ request: { method: 'BREW', url: 'https://a.example.org' } }, 'method'],
  [{ request: { method: 'GET', url: 'ftp://a.example.org' } }, 'url'],
  [{ request: { method: 'GET', url: 'https://a.example.org', headers: { Host: 'b' } } }, 'Host'],
  [{ request: { method: 'GET', url: 'https://a.example.org', body: {} } }, 'body'],
  [{ ask: { of: 'everybody', title: 'x' } }, 'ask.of'],
  [{ ask: { of: 'role:Admin', title: 'x', fields: { a: 'nonsense!!' } } }, 'ask.fields'],
  [{ ask: { of: 'role:Admin', title: 'As $steps.3.name says?' } }, 'steps.3'],
  [{ ...NOTE, if: { nothing: { $what: 1 } } }, 'if'],
  [{ ...NOTE, undo: { wait: '1d' } }, 'undo'],
  [{ ...NOTE, args: { body: '$secrets.KEY' } }, 'secrets'],
  [{ request: { method: 'GET', url: 'https://a.example.org/$steps.3.x' } }, 'steps.3'],
])('the step %j is refused with a sentence about %s', (step, about) => {
  const w = open()
  expect(() => onContact(w, [step as never])).toThrow(about)
})

test('a file that fails while another service is asked ends neither the process nor keeps it busy', async () => {
  const world = open()
  onContact(world, [{ request: { method: 'POST', url: 'https://pay.test/' } }])
  const later = () => new Promise((done) => setImmediate(done))
  world.tenant.equip({
    outbound: {
      send: async (request) => {
        world.sent.push(request)
        await later()
        world.close()
        return { status: 200, text: '', headers: {} }
      },
    },
  })
  world.run('Contact', 'create', undefined, { name: 'Ada' })

  await world.tenant.wake().catch(() => {})
  while (world.tenant.facade.underWay > 0) await later()

  expect(world.sent).toHaveLength(1)
  expect(world.log).toContainEqual(expect.stringContaining('failed'))
  // It asks to be woken later, when the file may be better.
  expect(world.alarms.at(-1)).toBeGreaterThan(world.clock.at)
})
