import { isoOf } from '@tildebase/nouns'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import type { OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'
import { expect, test } from 'vitest'
import { erase } from '../../packages/tenant/src/services/erasure/erase.ts'
import { verifies } from '../verifies.ts'
import { type Bench, openAcme } from './fixture.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface World extends Bench {
  readonly sent: { readonly at: number; readonly request: OutboundRequest }[]
  /** What the endpoint answers from now on. */
  answer: OutboundAnswer
  /** Moves the clock to where the tenant asked to be woken, as long as that is before a time. */
  until(at: number): Promise<void>
}

function openWorld(): World {
  const bench = openAcme()
  const { tenant, clock, alarms } = bench
  const world: World = {
    ...bench,
    sent: [],
    answer: { status: 200 },
    async until(end) {
      for (;;) {
        const next = Math.min(...alarms)
        alarms.length = 0
        if (next > end) {
          alarms.push(next)
          clock.at = end
          return
        }
        clock.at = Math.max(clock.at, next)
        await tenant.wake()
        await settled()
      }
    },
  }
  const post = async (request: OutboundRequest) => {
    world.sent.push({ at: clock.at, request })
    return world.answer
  }
  tenant.equip({ outbound: { send: post } })
  return world
}

/** Runs all pending microtasks and timers. */
const settled = () => new Promise<void>((done) => setImmediate(done))

const run = ({ tenant }: World, type: string, verb: string, data: object, id?: string) =>
  tenant.run(OPERATOR, { type, verb, data, id })
const register = (world: World) =>
  run(world, 'Webhook', 'create', { url: 'https://example.com/', events: ['Contact.*'] }).entity.id
const statusOf = (world: World, id: string) =>
  JSON.parse(String(world.tenant.sql.rows('SELECT data FROM states WHERE id = ?', id)[0]![0])).status

verifies(
  ['webhook.retry.delays', 'limit.webhook.retries', 'webhook.env.retries'],
  'by default retries come 30 seconds, 2 minutes, 15 minutes, 1 hour and 6 hours after each failure',
  async () => {
    const world = openWorld()
    const start = world.clock.at
    const id = register(world)
    world.answer = { status: 500 }

    run(world, 'Contact', 'create', { name: 'Ada' })
    await world.until(start + 6 * HOUR)
    const before = statusOf(world, id)
    await world.until(start + 2 * DAY)

    const times = world.sent.map(({ at }) => at - start)
    expect(times.slice(1).map((at, i) => at - times[i]!)).toEqual([
      30 * SECOND,
      2 * MINUTE,
      15 * MINUTE,
      HOUR,
      6 * HOUR,
    ])
    expect([before, statusOf(world, id)]).toEqual(['active', 'failing'])
  },
)

verifies(
  ['webhook.rotate.overlap', 'signature.overlap'],
  'the old secret signs alongside for a day and no longer',
  async () => {
    const world = openWorld()
    const id = register(world)
    run(world, 'Webhook', 'rotate', {}, id)
    const rotated = world.clock.at

    for (const at of [rotated + DAY - 1, rotated + DAY]) {
      world.clock.at = at
      run(world, 'Contact', 'create', { name: `at ${at}` })
      await world.until(at)
    }

    expect(world.sent.map(({ request }) => request.headers['webhook-signature']!.split(' ').length)).toEqual([2, 1])
  },
)

test.each(['restore', 'rollback'])(
  'after a %s a webhook receives what the author of its declaration may see',
  async (verb) => {
    const world = openWorld()
    const narrowed: Grant = { ...OPERATOR, actor: 'key', rows: { Contact: { stage: 'Lead' } } }
    const data = { url: 'https://example.com/', events: ['Contact.*'] }
    const { id } = world.tenant.run(narrowed, { type: 'Webhook', verb: 'create', data }).entity
    const asOf = isoOf(world.clock.at)
    world.clock.at += SECOND
    const before = verb === 'restore' ? 'delete' : 'update'
    run(world, 'Webhook', before, before === 'update' ? { events: ['Deal.*'] } : {}, id)

    world.tenant.run(OPERATOR, { type: 'Webhook', verb, id, data: verb === 'rollback' ? { asOf } : {} })
    for (const stage of ['Lead', 'Partner', 'Lead']) run(world, 'Contact', 'create', { name: 'Ada', stage })
    await world.until(world.clock.at + SECOND)

    expect(world.sent.map(({ request }) => JSON.parse(request.body).data.stage)).toEqual(['Lead', 'Lead'])
  },
)

test('a failed test is reported, not repeated, and does not count for the webhook', async () => {
  const world = openWorld()
  const id = register(world)
  const start = world.clock.at
  world.answer = { status: 500 }

  await world.tenant.facade.testWebhook(OPERATOR, id)
  await world.until(start + 2 * DAY)

  expect([world.sent.length, statusOf(world, id)]).toEqual([1, 'active'])
})

test('a delivery is signed for the second that has begun', async () => {
  const world = openWorld()
  register(world)
  world.clock.at += 999
  run(world, 'Contact', 'create', { name: 'Ada' })

  await world.until(world.clock.at)

  expect(world.sent[0]!.request.headers['webhook-timestamp']).toBe(String(Math.floor(world.clock.at / SECOND)))
})

test('records of deliveries are forgotten after thirty days, and the log never', async () => {
  const world = openWorld()
  register(world)
  run(world, 'Contact', 'create', { name: 'Ada' })
  const start = world.clock.at
  const count = () => world.tenant.sql.rows('SELECT count(*) FROM outbox')[0]![0]

  await world.until(start + 30 * DAY - 1)
  const kept = count()
  await world.until(start + 31 * DAY)

  expect([kept, count(), world.tenant.head.seq]).toEqual([1, 0, 2])
})

test('while the disk refuses to mark what is delivered, nothing is sent again and again', async () => {
  const world = openWorld()
  register(world)
  const { sql } = world.tenant
  const { run: write } = sql
  let isFull = true
  sql.run = (text, ...values) => {
    if (isFull && text.startsWith('UPDATE outbox')) throw new Error('database or disk is full')
    write.call(sql, text, ...values)
  }
  const start = world.clock.at

  run(world, 'Contact', 'create', { name: 'Ada' })
  await world.until(start + MINUTE)
  const whileFull = world.sent.length
  isFull = false
  run(world, 'Contact', 'create', { name: 'Grace' })
  await world.until(start + 2 * MINUTE)

  expect([whileFull, world.sent.length]).toEqual([1, 2])
  expect(world.log.some((line) => line.includes('blocked'))).toBe(true)
})

test('a feed has what happened since it is followed, and says so when it has not', () => {
  const world = openWorld()
  const contact = () => run(world, 'Contact', 'create', { name: 'Ada' })
  contact()
  contact()
  const feed = world.tenant.services.feed
  const stop = feed.follow(() => {})

  contact()
  contact()

  expect(feed.recent(1)).toBe(null)
  expect(feed.recent(2)?.map(({ seq }) => seq)).toEqual([3, 4])
  expect(feed.recent(3)?.map(({ seq }) => seq)).toEqual([4])
  expect(feed.recent(4)).toEqual([])
  stop()
  contact()
  expect(feed.recent(4)).toBe(null)
})

test('a retry after an erasure has no values, though the event was sent with them before', async () => {
  const world = openWorld()
  const start = world.clock.at
  register(world)
  world.answer = { status: 500 }
  const { id } = run(world, 'Contact', 'create', { name: 'Ada' }).entity
  await world.until(start + SECOND)
  const { tenant } = world

  tenant.write(OPERATOR, (write) => erase(write, tenant.engine.noun('Contact'), id, null))
  await world.until(start + 31 * SECOND)

  const [first, second] = world.sent.filter(({ request }) => request.body.includes('Contact.created'))
  expect(JSON.parse(first!.request.body).data).toMatchObject({ name: 'Ada' })
  expect(JSON.parse(second!.request.body).data).toBeNull()
})
