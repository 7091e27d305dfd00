import { type Action, anyContact, idOf, insist, to } from './tenancy.ts'

/** Questions of runs, their answers, and runs that are cancelled or tried again. */
const answer: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const job = idOf(await send('POST', '/Job', { name: marker, hours: 2 }))
  if (job !== undefined) await send('POST', `/Job/${job}/begin`, {})
  const asks = await send('GET', '/asks?limit=5')
  if (asks?.status === 200)
    for (const { id } of asks.body.results) await send('POST', `/asks/${id}/answer`, { answer: 'Approved' })
  const workflows = await send('GET', '/Workflow?limit=10')
  if (workflows?.status !== 200) return
  const { $id: id, name, status } = chance.pick(workflows.body.results as any[])
  if (status === 'Paused') await send('POST', `/Workflow/${id}/activate`)
  // What is done for jobs and alarms is counted: a run that is tried again does it again.
  if (!name.startsWith('trial')) return
  const failed = await send('GET', `/Workflow/${id}/runs?limit=1&status=Failed`)
  if (failed?.status === 200)
    for (const run of failed.body.results) await send('POST', `/Workflow/${id}/runs/${run.id}/retry`)
  const open = await send('GET', `/Workflow/${id}/runs?limit=1&status=Waiting`)
  if (open?.status === 200)
    for (const run of open.body.results) await send('POST', `/Workflow/${id}/runs/${run.id}/cancel`)
}

/** A workflow that lives for a while: on a schedule and for events, with steps of each kind, run by hand, and archived. */
const trial: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const note = { verb: 'create', type: 'Comment', args: { body: 'trial', entityId: '$event.entityId' } }
  const steps = [
    { if: { 'event.type': 'Workflow.scheduled' }, ...note },
    { until: '$event.timestamp + 1h', if: { 'event.type': 'Organization.created' } },
    {
      request: {
        method: 'POST',
        url: `http://receiver.test/${chance.pick(['trial', 'broken'])}`,
        body: { at: '$event.id' },
      },
    },
    { ask: { of: 'role:Admin', title: 'Go on?', timeout: '2h' }, if: { 'event.type': 'Organization.created' } },
    note,
  ]
  const workflow = {
    ...{ name: `trial ${marker}`, triggerEvent: chance.pick(['Organization.created', 'Contact.*']), steps },
    ...(chance.next() < 0.3 && { schedule: '0 6 * * 1', triggerEvent: undefined }),
    ...(chance.next() < 0.5 && { timeout: 600 }),
    ...(chance.next() < 0.3 && { filter: chance.pick([{ name: marker }, { nme: marker }]) }),
    ...{ errorHandling: chance.pick(['Stop', 'Continue']), retryPolicy: { retries: 2, backoff: '5m' } },
  }
  const id = idOf(await send('POST', '/Workflow', workflow))
  if (id === undefined) return
  await send('POST', `/Workflow/${id}/activate`)
  await send('POST', '/Organization', { name: marker })
  await send('POST', `/Workflow/${id}/trigger`, { reason: marker })
  await world.time.sleep(chance.between(0, 7_200_000))
  if (chance.next() < 0.5) await send('POST', `/Workflow/${id}/pause`)
  await world.time.sleep(chance.between(0, 600_000))
  await insist(world, chance, 'POST', `/~${tenancy.slug}/Workflow/${id}/archive`, {}, `archive ${marker}`)
  if (chance.next() < 0.5) await send('DELETE', `/Workflow/${id}`)
}

/** A type whose timers are declared in another way, with entities that have their times. */
const redeclare: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const timers = [
    { due: { at: 'dueAt', run: 'finish' } },
    { due: { at: 'dueAt', run: 'finish', from: 'Open' } },
    { due: { at: 'dueAt', run: 'finish', when: { size: { $gt: 1 } } } },
    { later: { at: 'laterAt', run: 'finish' } },
  ]
  const declared = {
    ...{ name: 'string##', state: 'Open | Shut = Open', size: 'number#', dueAt: 'datetime', laterAt: 'datetime' },
    ...{ about: '-> *', finish: { event: 'finished', set: { state: 'Shut', size: '$args.size' } } },
    ...{ $timers: chance.pick(timers), $unique: [['size', 'dueAt']] },
  }
  await send('PUT', '/schema/Deadline', declared)
  const soon = () => new Date(world.time.now + chance.between(-3_600_000, 7_200_000)).toISOString()
  const about = anyContact(tenancy, chance)
  const draft = () => ({
    name: `${marker} ${chance.next()}`,
    dueAt: soon(),
    laterAt: soon(),
    size: chance.pick([1, 2]),
  })
  const id = idOf(await send('POST', '/Deadline', { ...draft(), about }))
  const rows = Array.from({ length: 30 }, draft)
  await send('POST', '/import/Deadline', rows)
  await send('POST', '/Deadline', { ...draft(), name: rows[0]!.name })
  if (id === undefined) return
  await send('POST', `/Deadline/${id}/finish`, { size: chance.pick([1, 'two', 3]) })
  await send('POST', `/Deadline/${id}/rollback`, chance.pick([{ version: 1 }, { version: 9 }, { asOf: soon() }, {}]))
  await send('GET', `/Deadline/${id}/timers`)
}

export const RUNS: readonly Action[] = [answer, trial, redeclare]
