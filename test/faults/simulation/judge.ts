import { createHash } from 'node:crypto'
import { catalogue, type Noun, nounsOf } from '@tildebase/nouns'
import { Hooks } from '@tildebase/tenant/hooks'
import { systemRandom, systemSeal } from '../../../packages/server/src/host/ports.ts'
import { openSql } from '../../../packages/server/src/node/sqlite/sql.ts'
import { createServices } from '../../../packages/tenant/src/facade/create-services.ts'
import type { Chance } from '../../chance.ts'
import { TestTenant, testVault } from '../../tenant/fixture.ts'
import { careFaults, thingFaults } from './clients/daily-work.ts'
import { insist, synchronise, type Tenancy } from './clients/tenancy.ts'
import type { World } from './world.ts'

interface LogEvent {
  readonly id: string
  readonly type: string
  readonly seq: number
  readonly verb: string
  readonly entityId: string
  readonly version: number
  readonly data: any
  readonly previous?: any
  /** Set for a past that was imported. */
  readonly recordedAt?: string
}

/** What is wrong in a tenant after the faults have ended and all that was due had its time. */
export async function judge(world: World, chance: Chance, tenancy: Tenancy): Promise<string[]> {
  const faults = [...tenancy.faults]
  const log = await logOf(world, chance, tenancy)
  faults.push(
    ...writesFaults(tenancy, log),
    ...followerFaults(tenancy, log),
    ...streamFaults(tenancy, log),
    ...alarmFaults(tenancy, log),
    ...careFaults(log),
    ...hookFaults(log),
  )
  faults.push(...deliveryFaults(world, tenancy, log), ...(await runFaults(world, chance, tenancy)))
  faults.push(...(await keyFaults(world, tenancy)), ...(await fileFaults(world, chance, tenancy)))
  faults.push(...(await thingFaults(world, chance, tenancy)), ...(await syncFaults(world, chance, tenancy)))
  return faults.map((fault) => `${tenancy.slug}: ${fault}`)
}

async function logOf(world: World, chance: Chance, { slug }: Tenancy): Promise<LogEvent[]> {
  const log: LogEvent[] = []
  for (;;) {
    const reply = await insist(world, chance, 'GET', `/~${slug}/events?limit=1000&cursor=${log.at(-1)?.seq ?? 0}`)
    if (reply?.status !== 200) throw new Error(`${slug} does not answer: ${reply?.status} ${reply?.body?.message}`)
    log.push(...reply.body.results)
    if (!reply.body.hasMore) return log
  }
}

function writesFaults(tenancy: Tenancy, log: readonly LogEvent[]): string[] {
  const count = new Map<string, LogEvent[]>()
  for (const event of log) {
    const marker = markerOf(event)
    if (marker !== undefined) count.set(marker, [...(count.get(marker) ?? []), event])
  }
  return tenancy.written.flatMap(({ marker, kind, outcome, id, version }) => {
    const events = count.get(marker) ?? []
    const isRight =
      outcome === 'acknowledged' ? events.length === 1 : outcome === 'refused' ? events.length === 0 : events.length < 2
    if (!isRight) return [`${kind} ${marker} was ${outcome}, and the log has it ${events.length} times`]
    const [event] = events
    if (event === undefined || id === undefined) return []
    if (event.entityId === id && event.version === version) return []
    return [`${kind} ${marker} was acknowledged as version ${version}, and the log has ${event.version}`]
  })
}

/** The value that a client has written with an event and that no other write has. */
function markerOf({ type, verb, data, previous }: LogEvent): string | undefined {
  if (type === 'Contact.created') return data.name
  if (type === 'Alarm.created') return data.label
  if (type === 'Contact.updated' && verb === 'update' && previous && 'title' in previous) return data.title
  return undefined
}

function followerFaults({ followed }: Tenancy, log: readonly LogEvent[]): string[] {
  const place = followed.findIndex((id, index) => log[index]?.id !== id)
  return place < 0 ? [] : [`a follower received ${followed[place]} at ${place}, and the log has ${log[place]?.id}`]
}

/** Each live stream has shown all events after its start, in order. */
function streamFaults({ streams }: Tenancy, log: readonly LogEvent[]): string[] {
  return streams.flatMap(({ after, ids }) => {
    const expected = log.filter(({ seq }) => seq > after)
    const place = ids.findIndex((id, index) => expected[index]?.id !== id)
    return place < 0 ? [] : [`a stream after ${after} showed ${ids[place]}, and the log has ${expected[place]?.id}`]
  })
}

/** The hook of the operator has run at least once for each Organization that is not erased. */
function hookFaults(log: readonly LogEvent[]): string[] {
  const noticed = new Set(log.flatMap(({ type, data }) => (type === 'Comment.created' ? [data.body] : [])))
  return log.flatMap(({ type, entityId, data }) =>
    type !== 'Organization.created' || data?.name === undefined || noticed.has(`noticed ${entityId}`)
      ? []
      : [`${entityId} was created, and its hook has not run`],
  )
}

/** A key that was given out works. */
async function keyFaults(world: World, { keys }: Tenancy): Promise<string[]> {
  const faults: string[] = []
  for (const { slug, secret } of keys) {
    const headers = { authorization: `Bearer ${secret}` }
    const reply = await world.request('GET', `/~${slug}/Contact?limit=1`, undefined, headers)
    if (reply?.status !== 200) faults.push(`the key of ${slug} is answered with ${reply?.status}`)
  }
  return faults
}

/** Every content that was acknowledged is there, as it was sent. */
async function fileFaults(world: World, chance: Chance, { slug, files }: Tenancy): Promise<string[]> {
  const faults: string[] = []
  for (const { id, hash } of files) {
    const reply = await insist(world, chance, 'GET', `/~${slug}/Job/${id}/contract`)
    // The job may be deleted: then its past has it.
    if (reply?.status === 404 && reply.body.message?.includes('There is no Job')) continue
    const found = `sha256:${createHash('sha256').update(String(reply?.body)).digest('hex')}`
    if (reply?.status !== 200 || found !== hash) faults.push(`the contract of ${id} is answered with ${reply?.status}`)
  }
  return faults
}

/** Each alarm rang once, and the workflow has written its two comments once. */
function alarmFaults(_: Tenancy, log: readonly LogEvent[]): string[] {
  const times = (type: string, body?: string) => {
    const found = new Map<string, number>()
    for (const event of log) {
      if (event.type !== type || (body !== undefined && event.data.body !== body)) continue
      const id = body === undefined ? event.entityId : event.data.entityId
      found.set(id, (found.get(id) ?? 0) + 1)
    }
    return found
  }
  const [rang, first, last] = [times('Alarm.rang'), times('Comment.created', 'first'), times('Comment.created', 'last')]
  return log.flatMap(({ type, entityId }) => {
    if (type !== 'Alarm.created') return []
    const counts = [rang, first, last].map((found) => found.get(entityId) ?? 0)
    return counts.every((times) => times === 1)
      ? []
      : [`${entityId} rang ${counts[0]} times, with comments ${counts.slice(1)}`]
  })
}

/** Each event that the webhook names was received, and nothing of an imported past. */
function deliveryFaults({ network }: World, { slug }: Tenancy, log: readonly LogEvent[]): string[] {
  const received = new Set(
    network.received.flatMap(({ path, headers }) => (path === '/hook' ? [headers['webhook-id']] : [])),
  )
  const steps = new Set(
    network.received.flatMap(({ path, body }) => (path === '/step' ? [JSON.parse(body).alarm] : [])),
  )
  const begin = log.findIndex(({ type }) => type === 'Webhook.created')
  return log.slice(begin + 1).flatMap(({ id, type, entityId, recordedAt }) => {
    if (recordedAt !== undefined) return received.has(id) ? [`${type} ${id} of the past was delivered`] : []
    if (type === 'Alarm.rang' && !steps.has(entityId)) return [`the step of ${entityId} in ${slug} sent no request`]
    if (!type.startsWith('Contact.') && type !== 'Alarm.rang') return []
    return received.has(id) ? [] : [`${type} ${id} was not delivered`]
  })
}

async function runFaults(world: World, chance: Chance, { slug, workflow }: Tenancy): Promise<string[]> {
  const states = ['Waiting', 'Running', 'Failed', 'Cancelled']
  const faults: string[] = []
  for (const status of states) {
    const reply = await insist(world, chance, 'GET', `/~${slug}/Workflow/${workflow}/runs?limit=1&status=${status}`)
    if (reply?.body.total !== 0) faults.push(`${reply?.body.total} runs are ${status}`)
  }
  return faults
}

/** Replicas that have exchanged all changes hold what the server has. */
async function syncFaults(world: World, chance: Chance, tenancy: Tenancy): Promise<string[]> {
  for (let round = 0; round < 2; round++)
    for (const store of tenancy.stores)
      if (!(await synchronise(world, tenancy, store))) return ['a replica cannot synchronise']
  const server = new Map<string, string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/~${tenancy.slug}/Contact?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const reply = await insist(world, chance, 'GET', path)
    for (const { $id, name, phone, title } of reply!.body.results) server.set($id, JSON.stringify([name, phone, title]))
    cursor = reply!.body.cursor
  }
  return tenancy.stores.flatMap((store) => {
    const local = store.all('Contact')
    if (local.length !== server.size) return [`${store.replica} has ${local.length} of ${server.size} Contacts`]
    return local.flatMap(({ id, data: { name, phone, title } }) => {
      const here = JSON.stringify([name, phone ?? undefined, title ?? undefined])
      return here === server.get(id) ? [] : [`${store.replica} has ${here} for ${server.get(id)}`]
    })
  })
}

/** What `verify` finds in a file of a service that has stopped. */
export function verifyFile(path: string, slug: string): string[] {
  const sql = openSql(path)
  try {
    const ports = {
      ...{ sql, clock: { now: () => Date.now() }, random: systemRandom, seal: systemSeal, vault: testVault },
      alarm: { wakeAt: () => {} },
    }
    const options = {
      nouns: nounsOf(Object.values(catalogue) as Noun[]),
      hooks: new Hooks(),
      baseUrl: 'http://localhost',
    }
    const tenant = new TestTenant(createServices(slug, ports, options), sql)
    return tenant.facade.admin.verify().faults.map(({ seq, message }) => `${slug} ${seq}: ${message}`)
  } finally {
    sql.close()
  }
}
