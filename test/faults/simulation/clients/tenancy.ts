import { LocalStore } from '../../../../packages/client/src/sync/local.ts'
import { sync } from '../../../../packages/client/src/sync/sync.ts'
import type { SyncAnswer } from '../../../../packages/client/src/types/sync-types.ts'
import type { Chance } from '../../../chance.ts'
import type { Reply, World } from '../world.ts'
import { ALARM, CARE, JOB, STEPS, THING } from './declarations.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** An answer with an Idempotency-Key is kept for a day: no client repeats its request for longer. */
const MOST_REPEATED = 20 * HOUR

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
  /** The number of the last of them. */
  followedTo: number
  /** The ids of the events that each live stream has shown after a place in the log. */
  readonly streams: { readonly after: number; readonly ids: readonly string[] }[]
  /** The first keys of tenants that were created by signing up. */
  readonly keys: { readonly slug: string; readonly secret: string }[]
  /** The contents of jobs that were acknowledged. */
  readonly files: { readonly id: string; readonly hash: string }[]
  readonly stores: LocalStore[]
  workflow: string
  readonly faults: string[]
}

/** What a client does. The marker is a value that no other write has. */
export type Action = (world: World, chance: Chance, tenancy: Tenancy, marker: string) => Promise<void>

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
    ...{ slug, written: [], versions: new Map(), followed: [], followedTo: 0 },
    ...{ streams: [], keys: [], files: [], stores, workflow: '', faults: [] },
  }
  let count = 0
  const demand = async (method: string, path: string, body?: unknown) => {
    const reply = await insist(world, chance, method, `/~${slug}${path}`, body, `setup ${count++}`)
    if (!reply || reply.status >= 300) throw new Error(`${path}: ${reply?.status} ${JSON.stringify(reply?.body)}`)
    return reply.body
  }
  await demand('PUT', '/schema/Alarm', ALARM)
  await demand('PUT', '/schema/Thing', THING)
  await demand('PUT', '/schema/Job', JOB)
  await demand('POST', '/webhooks', { url: 'http://receiver.test/hook', events: ['Contact.*', 'Alarm.rang'] })
  const draft = { name: 'note', triggerEvent: 'Alarm.rang', steps: STEPS, retryPolicy: { retries: 10, backoff: '1m' } }
  tenancy.workflow = (await demand('POST', '/Workflow', draft)).$id
  await demand('POST', `/Workflow/${tenancy.workflow}/activate`)
  await demand('POST', `/Workflow/${(await demand('POST', '/Workflow', CARE)).$id}/activate`)
  return tenancy
}

/** Sends a request to a tenant, once. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Reply | null>

export const to =
  (world: World, { slug }: Tenancy): Send =>
  (method, path, body, headers) =>
    world.request(method, `/~${slug}${path}`, body, headers)

/** The id of an entity that was created. */
export function idOf(reply: Reply | null): string | undefined {
  return reply?.status === 201 ? reply.body.$id : undefined
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

/** Remembers a write, and what came of it. */
export function note(tenancy: Tenancy, kind: Written['kind'], marker: string, reply: Reply | null): void {
  const outcome = reply === null ? 'unknown' : reply.status < 300 ? 'acknowledged' : 'refused'
  const id = outcome === 'acknowledged' ? reply?.body?.$id : undefined
  const version = id === undefined ? undefined : reply!.body.$version
  tenancy.written.push({ marker, kind, outcome, id, version })
  if (id?.startsWith('contact_')) tenancy.versions.set(id, Math.max(version!, tenancy.versions.get(id) ?? 0))
}

export function anyContact({ versions }: Tenancy, chance: Chance): string | undefined {
  return versions.size === 0 ? undefined : chance.pick([...versions.keys()])
}
