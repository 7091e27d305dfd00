import type { Chance } from '../../../chance.ts'
import type { World } from '../world.ts'
import { ACCESS } from './access.ts'
import { BULK } from './bulk.ts'
import { DAILY_WORK } from './daily-work.ts'
import { RUNS } from './runs.ts'
import { type Action, anyContact, insist, note, synchronise, type Tenancy } from './tenancy.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The longest that an alarm of an episode waits. */
export const LONGEST_ALARM = 400 * DAY

/** One client: writes and reads for some time, one request after the other. */
export async function runClient(world: World, chance: Chance, tenancy: Tenancy, until: number, name: string) {
  for (let n = 0; world.time.now < until; n++) {
    const marker = `${name}.${n}`
    await chance.pick(ACTIONS)(world, chance, tenancy, marker)
    await world.time.sleep(chance.next() < 0.5 ? chance.between(0, 50) : chance.between(0, 10 * MINUTE))
  }
}

const create: Action = async (world, chance, tenancy, marker) => {
  const reply = await insist(world, chance, 'POST', `/~${tenancy.slug}/Contact`, { name: marker }, marker)
  note(tenancy, 'create', marker, reply)
}

const update: Action = async (world, chance, tenancy, marker) => {
  const id = anyContact(tenancy, chance)
  if (id === undefined) return
  const path = `/~${tenancy.slug}/Contact/${id}/${chance.pick(['update', 'update', 'qualify', 'delete', 'restore'])}`
  const reply = await insist(world, chance, 'POST', path, path.endsWith('update') ? { title: marker } : {}, marker)
  if (path.endsWith('update')) note(tenancy, 'update', marker, reply)
}

const batch: Action = async (world, chance, tenancy, marker) => {
  const id = anyContact(tenancy, chance)
  const operations = [0, 1, 2].map((i) => ({
    ...{ id: `c${i}`, method: 'POST', path: '/Contact', body: { name: `${marker}.${i}` } },
  }))
  const more = { id: 'u', method: 'PUT', path: `/Contact/${id ?? 'contact_none'}`, body: { phone: '1' } }
  const body = { atomic: true, operations: chance.next() < 0.5 ? operations : [...operations, more] }
  const reply = await insist(world, chance, 'POST', `/~${tenancy.slug}/batch`, body, marker)
  for (let i = 0; i < 3; i++) note(tenancy, 'batch', `${marker}.${i}`, reply)
}

const alarm: Action = async (world, chance, tenancy, marker) => {
  const wait = chance.pick([0, MINUTE, HOUR, DAY, LONGEST_ALARM])
  const ringAt = new Date(world.time.now + chance.next() * wait).toISOString()
  const reply = await insist(world, chance, 'POST', `/~${tenancy.slug}/Alarm`, { ringAt, label: marker }, marker)
  note(tenancy, 'alarm', marker, reply)
}

/** A part of a long import: after a crash, its rows may be there or not. */
const load: Action = async (world, _, tenancy, marker) => {
  const rows = [0, 1, 2].map((i) => JSON.stringify({ name: `${marker}.${i}` })).join('\n')
  const reply = await world.request('POST', `/~${tenancy.slug}/import/Contact`, rows, {
    'content-type': 'application/x-ndjson',
    'idempotency-key': marker,
  })
  for (let i = 0; i < 3; i++) note(tenancy, 'import', `${marker}.${i}`, reply?.status === 200 ? reply : null)
}

const exchange: Action = async (world, chance, tenancy) => {
  const store = chance.pick(tenancy.stores)
  const known = store.all('Contact')
  if (known.length === 0 || chance.next() < 0.3) store.create('Contact', { name: `local ${chance.next()}` })
  else if (chance.next() < 0.2) store.delete(chance.pick(known).id)
  else store.update(chance.pick(known).id, { phone: `${chance.next()}` })
  await synchronise(world, tenancy, store)
}

const read: Action = async (world, chance, tenancy) => {
  const id = anyContact(tenancy, chance)
  if (id === undefined) return
  const before = tenancy.versions.get(id)!
  const reply = await world.request('GET', `/~${tenancy.slug}/Contact/${id}/history?limit=1`)
  const found = reply?.status === 200 ? reply.body.results[0]?.version : null
  if (found !== null && !(found >= before)) tenancy.faults.push(`${id} was read at ${found} after ${before}`)
  await world.request('GET', `/~${tenancy.slug}/Contact?limit=5&sort=-name&search=local`)
}

const follow: Action = async (world, _, tenancy) => {
  const after = tenancy.followedTo
  const reply = await world.request('GET', `/~${tenancy.slug}/events?limit=1000&cursor=${after}&wait=5`)
  if (reply?.status !== 200) return
  // Another follower may have been quicker.
  if (tenancy.followedTo !== after) return
  for (const { id, seq } of reply.body.results) {
    tenancy.followed.push(id)
    tenancy.followedTo = seq
  }
}

/** A live stream of events, or of a list, which the client leaves after some time. */
const watch: Action = async (world, chance, tenancy, marker) => {
  const headers = { 'last-event-id': `${tenancy.followedTo}` }
  if (chance.next() < 0.3) {
    await world.listen(`/~${tenancy.slug}/Contact?limit=5`, chance.between(0, MINUTE))
    await world.listen(`/~${marker.replaceAll('.', '-')}-none/events`, chance.between(0, MINUTE))
  } else {
    const messages = await world.listen(`/~${tenancy.slug}/events`, chance.between(0, MINUTE), headers)
    const ids = messages.map(({ data }) => data.id)
    tenancy.streams.push({ after: Number(headers['last-event-id']), ids })
  }
}

const ACTIONS: readonly Action[] = [
  ...[
    create,
    create,
    create,
    update,
    update,
    update,
    batch,
    alarm,
    alarm,
    load,
    exchange,
    exchange,
    read,
    read,
    follow,
    watch,
    ...DAILY_WORK,
    ...ACCESS,
    ...RUNS,
    ...BULK,
  ],
]
