import { LocalStore } from '../../../packages/client/src/sync/local.ts'
import { sync } from '../../../packages/client/src/sync/sync.ts'
import type { SyncAnswer } from '../../../packages/client/src/types/sync-types.ts'
import type { Chance } from '../../chance.ts'
import type { Reply, World } from './world.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** An answer with an Idempotency-Key is kept for a day: no client repeats its request for longer. */
const MOST_REPEATED = 20 * HOUR
/** The longest that an alarm of an episode waits. */
export const LONGEST_ALARM = 400 * DAY

/** A write of a client, and what it knows of it. */
interface Written {
  /** A value that no other write has. */
  readonly marker: string
  readonly kind: 'create' | 'update' | 'batch' | 'alarm' | 'import'
  outcome: 'acknowledged' | 'refused' | 'unknown'
  readonly id?: string | undefined
  readonly version?: number | undefined
}

/** A tenant of an episode, and what its clients know. */
export interface Tenancy {
  readonly slug: string
  readonly written: Written[]
  /** The newest version of each Contact that was acknowledged. */
  readonly versions: Map<string, number>
  /** The ids of events that a follower has received, in order. */
  readonly followed: string[]
  readonly stores: LocalStore[]
  workflow: string
  readonly faults: string[]
}

const ALARM = {
  ringAt: 'datetime',
  label: 'string',
  ring: { event: 'rang' },
  $timers: { ring: { at: 'ringAt', run: 'ring' } },
}
const STEPS = [
  { verb: 'create', type: 'Comment', args: { body: 'first', entityId: '$event.data.$id' } },
  { wait: '2h' },
  { request: { method: 'POST', url: 'http://receiver.test/step', body: { alarm: '$event.data.$id' } } },
  { verb: 'create', type: 'Comment', args: { body: 'last', entityId: '$event.data.$id' } },
]

/** Creates a tenant with a webhook, a type with a timer, and a workflow. */
export async function createTenancy(world: World, chance: Chance, slug: string): Promise<Tenancy> {
  const clock = { now: () => Date.now() }
  const stores = [0, 1].map(
    (i) =>
      new LocalStore(
        { replica: `${slug}-r${i}`, lastSyncAt: null, counter: 0, lastAt: 0, entities: {}, pending: [] },
        clock,
      ),
  )
  const tenancy: Tenancy = {
    ...{ slug, written: [], versions: new Map(), followed: [], stores, workflow: '', faults: [] },
  }
  const demand = async (method: string, path: string, body?: unknown) => {
    const reply = await insist(world, chance, method, `/~${slug}${path}`, body, `setup ${method} ${path}`)
    if (!reply || reply.status >= 300) throw new Error(`${path}: ${reply?.status} ${JSON.stringify(reply?.body)}`)
    return reply.body
  }
  await demand('PUT', '/schema/Alarm', ALARM)
  await demand('POST', '/webhooks', { url: 'http://receiver.test/hook', events: ['Contact.*', 'Alarm.rang'] })
  const draft = { name: 'note', triggerEvent: 'Alarm.rang', steps: STEPS, retryPolicy: { retries: 10, backoff: '1m' } }
  tenancy.workflow = (await demand('POST', '/Workflow', draft)).$id
  await demand('POST', `/Workflow/${tenancy.workflow}/activate`)
  return tenancy
}

/** Sends a request with the same key until the answer says what came of it; null when it never does. */
export async function insist(
  world: World,
  chance: Chance,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Reply | null> {
  const until = world.time.now + MOST_REPEATED
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  while (world.time.now < until) {
    const reply = await world.request(method, path, body, headers)
    if (reply && reply.status < 500 && reply.status !== 429 && reply.body?.error !== 'in_flight') return reply
    await world.time.sleep(chance.between(SECOND, 5 * MINUTE))
  }
  return null
}

/** One client: writes and reads for some time, one request after the other. */
export async function runClient(world: World, chance: Chance, tenancy: Tenancy, until: number, name: string) {
  for (let n = 0; world.time.now < until; n++) {
    const marker = `${name}.${n}`
    await chance.pick(ACTIONS)(world, chance, tenancy, marker)
    await world.time.sleep(chance.next() < 0.5 ? chance.between(0, 50) : chance.between(0, 10 * MINUTE))
  }
}

type Action = (world: World, chance: Chance, tenancy: Tenancy, marker: string) => Promise<void>

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
  const after = tenancy.followed.length
  const reply = await world.request('GET', `/~${tenancy.slug}/events?limit=1000&cursor=${after}&wait=5`)
  if (reply?.status !== 200) return
  // Another follower may have been quicker.
  if (tenancy.followed.length === after)
    tenancy.followed.push(...reply.body.results.map((event: { id: string }) => event.id))
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
  ],
]

/** Exchanges changes with the server, if it answers. */
export async function synchronise(world: World, tenancy: Tenancy, store: LocalStore): Promise<boolean> {
  try {
    await sync(store, async (request) => {
      const reply = await world.request('POST', `/~${tenancy.slug}/sync`, { ...request, types: ['Contact'] })
      if (reply?.status !== 200) throw new Error('no answer')
      return reply.body as SyncAnswer
    })
    return true
  } catch (reason) {
    if ((reason as Error).message !== 'no answer') throw reason
    return false
  }
}

function note(tenancy: Tenancy, kind: Written['kind'], marker: string, reply: Reply | null): void {
  const outcome = reply === null ? 'unknown' : reply.status < 300 ? 'acknowledged' : 'refused'
  const id = outcome === 'acknowledged' ? reply?.body?.$id : undefined
  const version = id === undefined ? undefined : reply!.body.$version
  tenancy.written.push({ marker, kind, outcome, id, version })
  if (id?.startsWith('contact_')) tenancy.versions.set(id, Math.max(version!, tenancy.versions.get(id) ?? 0))
}

function anyContact({ versions }: Tenancy, chance: Chance): string | undefined {
  return versions.size === 0 ? undefined : chance.pick([...versions.keys()])
}
