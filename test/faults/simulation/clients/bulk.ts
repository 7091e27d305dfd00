import { type Action, to } from './tenancy.ts'

/** So many that one commit is too short for them. */
const MANY = 90

/** Writes that take longer than a commit: they become tasks, one of which is cancelled now and then. */
const bulk: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const name = (i: number) => `${marker}.${i}`
  const jobs = Array.from({ length: MANY }, (_, i) => ({
    method: 'POST',
    path: '/Job',
    body: { name: name(i), hours: 1 },
  }))
  const things = Array.from({ length: MANY }, (_, i) => ({ name: name(i), group: 'bulk' }))
  const works: (() => Promise<unknown>)[] = [
    () => send('POST', '/batch', { atomic: true, operations: jobs }),
    () => send('POST', '/batch?dryRun=true', { atomic: true, operations: jobs }),
    () => send('POST', '/batch?propose=Jobs', { operations: jobs.slice(0, 40) }),
    () =>
      send(
        'POST',
        '/batch',
        { operations: [...jobs, { method: 'GET', path: '/Job?limit=1' }, { path: '/fly' }] },
        { 'idempotency-key': marker },
      ),
    () => send('POST', '/import/Thing', [...things, { name: 7 }], { 'idempotency-key': marker }),
    () => send('POST', '/schema/Thing/retype', { field: 'group', to: chance.pick(['string', 'string#', 'number']) }),
    () => send('POST', '/undo/none'),
  ]
  const work = chance.pick(works)()
  const others = Promise.all(
    [0, 1, 2].map(async (i) => {
      await world.time.sleep(chance.between(0, 40))
      await send('POST', '/Thing', { name: `${name(i)} beside` })
      await send('GET', '/Thing?limit=3&sort=name')
    }),
  )
  await world.time.sleep(chance.between(0, 30))
  const tasks = await send('GET', '/tasks')
  if (tasks?.status === 200 && chance.next() < 0.3)
    for (const { id, state } of tasks.body.tasks) if (state === 'running') await send('DELETE', `/tasks/${id}`)
  await Promise.all([work, others])
  const [known] = tasks?.status === 200 ? tasks.body.tasks : []
  if (known) await send('GET', `/tasks/${known.id}`)
}

/** A batch whose operations refer to each other, in every way, and some that cannot. */
const refer: Action = async (world, chance, tenancy, marker) => {
  const operations = [
    { id: 'org', method: 'POST', path: '/Organization', body: { name: marker } },
    { id: 'job', method: 'POST', path: '/Job', body: { name: marker, tags: [{ $ref: 'org' }] } },
    { id: 'part', method: 'POST', path: '/Job', body: { name: marker, part: { $ref: 'job', path: '$id' } } },
    { id: 'got', method: 'GET', path: '/Job/${job.$id}', query: { include: 'part' } },
    { id: 'list', method: 'GET', path: '/Job', query: { filter: { name: { $ref: 'org', path: 'name' } }, unknwon: 1 } },
    { id: 'put', method: 'PUT', path: '/Job/${job}', body: { nme: 'x', hours: 2 }, ifMatch: chance.pick([1, '"9"']) },
    { id: 'next', method: 'POST', path: '/Job/${put.$id}/begin' },
    { id: 'none', method: 'GET', path: '/Job/${nothing.$id}' },
    { id: 'deep', method: 'GET', path: '/Job/${org.none.deeper}' },
    { id: 'object', method: 'GET', path: '/Job/${job.}' },
    { id: 'file', method: 'POST', path: '/import/Job', body: [] },
    { id: 'self', method: 'GET', path: `/~${tenancy.slug}/Job` },
    { id: 'try', method: 'POST', path: '/Job?dryRun=true', body: { name: marker } },
    { id: 'plan', method: 'POST', path: '/Job?propose=true', body: { name: marker } },
  ]
  const some = operations.filter(() => chance.next() < 0.8)
  const send = to(world, tenancy)
  await send('POST', '/batch', { atomic: chance.next() < 0.3, operations: some })
  const wrong = [{ id: '', method: 'FLY' }, 7, { id: 'a', path: '/Job', query: 1 }, { id: 'a', path: '/Job' }]
  const many = Array.from({ length: 101 }, () => ({ path: '/Job' }))
  await send('POST', '/batch', chance.pick([{ operations: wrong }, { operations: many }, { atomic: 1 }, []]))
}

/** A past that is recorded now, as far as nothing has happened since. */
const recall: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const at = (days: number) => new Date(world.time.now - days * 86_400_000).toISOString()
  const row = (verb: string, days: number, data?: object) => ({
    ...{ type: 'Contact', source: `past:${marker}`, verb, timestamp: at(days), ...(data && { data }) },
  })
  const days = chance.pick([0.01, 30])
  const rows = [
    row('create', days, { name: `${marker} past` }),
    row('update', days / 2, { phone: '9' }),
    row('delete', days / 3),
  ]
  for (let n = 0; n < 2; n++)
    await send('POST', '/import/history', rows, chance.next() < 0.5 ? {} : { 'idempotency-key': marker })
}

export const BULK: readonly Action[] = [bulk, refer, recall]
