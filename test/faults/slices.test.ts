import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { wireTo } from '@tildebase/client'
import { chain } from '@tildebase/tenant/internal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openArchive } from '../../packages/cli/src/backup/open.ts'
import { folderPlace } from '../../packages/cli/src/backup/place.ts'
import { examine, openBackup } from '../../packages/cli/src/backup/portable.ts'
import { sendBackup } from '../../packages/cli/src/backup/send.ts'
import { shipOnce } from '../../packages/cli/src/backup/ship.ts'
import { slicesOf } from '../../packages/cli/src/backup/slices.ts'
import { systemSeal } from '../../packages/server/src/host/ports.ts'
import { type Reply, ROOT, type TestApp, testApp } from '../host.ts'
import { ask, KEY, startServer } from './server.ts'

const EVENTS = 600
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-slices-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a log that is restored in slices', () => {
  test.each(['0', '1'])(
    'arrives unchanged, and no other client can write there during it (--workers %s)',
    async (workers) => {
      const app = await testApp({}, { data: folder, workers })
      const [head, ...lines] = await sourceLines(app)
      const send = (from: number, to: number, more: boolean) =>
        put(app, [head!.replace('"after":0', `"after":${from}`), ...lines.slice(from, to)], more)

      const first = await send(0, 200, true)
      const between = await Promise.all([
        app.request('GET', '/~target/Contact'),
        app.request('POST', '/~target/Contact', { name: 'late' }),
        app.request('POST', '/operator/tenants', { tenant: 'target' }),
        app.request('POST', '/operator/tenants/source/fork', { to: 'target' }),
      ])
      const info = await app.request('GET', '/operator/tenants/target')
      const listed = await app.request('GET', '/operator/tenants')
      const elsewhere = await send(300, 400, true)
      const second = await send(200, 400, true)
      const last = await send(400, lines.length, false)
      const [source, target] = await Promise.all(['source', 'target'].map((slug) => verdict(app, slug)))
      const written = await app.request('POST', '/~target/Contact', { name: 'later' })
      await app.stop()

      expect([first.status, first.body]).toEqual([202, { tenant: 'target', events: 200, restoring: true }])
      expect(between.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([503, 'restoring']))
      expect(info.body).toEqual({ tenant: 'target', restoring: true, events: 200, of: EVENTS })
      expect(listed.body.results.find(({ tenant }: any) => tenant === 'target')).toMatchObject({ restoring: true })
      expect([elsewhere.status, elsewhere.body.seq]).toEqual([409, 200])
      expect([second.status, second.body.events, last.status, last.body]).toEqual([
        202,
        400,
        201,
        { tenant: 'target', events: EVENTS, missing: [], verified: true },
      ])
      expect(target).toMatchObject({ ok: true, head: source.head })
      expect(written.status).toBe(201)
    },
  )

  test('a slice that arrives while the one before is worked on waits for it; a third is refused', async () => {
    const app = await testApp({}, { data: folder })
    const [head, ...lines] = await sourceLines(app)
    const slice = (from: number, to: number) => [
      head!.replace('"after":0', `"after":${from}`),
      ...lines.slice(from, to),
    ]
    await put(app, slice(0, 100), true)

    const second = held(app, slice(100, 200))
    await second.arrived
    const third = held(app, slice(200, 300))
    await third.arrived
    const fourth = await put(app, slice(300, lines.length), false)
    third.finish()
    second.finish()
    const statuses = [(await second.reply).status, (await third.reply).status]
    const last = await put(app, slice(300, lines.length), false)
    const [source, target] = await Promise.all(['source', 'target'].map((slug) => verdict(app, slug)))
    await app.stop()

    expect([fourth.status, fourth.body.error, statuses, last.status]).toEqual([503, 'restoring', [202, 202], 201])
    expect(target).toMatchObject({ ok: true, head: source.head })
  })

  test('a slice that waits for a first one that is refused is refused too, and leaves nothing', async () => {
    const app = await testApp({}, { data: folder })
    const [head, ...lines] = await sourceLines(app)

    const first = held(app, [head!, ...lines.slice(1, 100)])
    await first.arrived
    const second = held(app, [head!.replace('"after":0', '"after":100'), ...lines.slice(100, 200)])
    await second.arrived
    second.finish()
    first.finish()
    const statuses = [(await first.reply).status, (await second.reply).status]
    const info = await app.request('GET', '/operator/tenants/target')
    await app.stop()

    expect([statuses, info.status]).toEqual([[422, 409], 404])
  })

  test('continues after a restart, and begins again with its first event', async () => {
    const before = await testApp({}, { data: folder })
    const [head, ...lines] = await sourceLines(before)
    await put(before, [head!, ...lines.slice(0, 300)], true)
    await before.stop()

    const app = await testApp({}, { data: folder })
    const refused = await app.request('POST', '/~target/Contact', { name: 'late' })
    const info = await app.request('GET', '/operator/tenants/target')
    const again = await put(app, [head!, ...lines.slice(0, 100)], true)
    const last = await put(app, [head!.replace('"after":0', '"after":100'), ...lines.slice(100)], false)
    await app.stop()

    expect([refused.status, info.body.events]).toEqual([503, 300])
    expect([again.body.events, last.status, last.body.events]).toEqual([100, 201, EVENTS])
    expect(existsSync(join(folder, 'restoring', 'target.db'))).toBe(false)
  })

  test('is given up by DELETE, and a first slice that is refused leaves nothing', async () => {
    const app = await testApp({}, { data: folder })
    const [head, ...lines] = await sourceLines(app)

    await put(app, [head!, ...lines.slice(0, 100)], true)
    const deleted = await app.request('DELETE', '/operator/tenants/target')
    const created = await app.request('POST', '/~target/Contact', { name: 'Ada' })
    await app.request('DELETE', '/operator/tenants/target')
    const broken = await put(app, [head!, ...lines.slice(1, 100)], true)
    const info = await app.request('GET', '/operator/tenants/target')
    const early = await put(app, [head!, ...lines], true)
    await app.stop()

    expect([deleted.status, created.status, broken.status, info.status, early.status]).toEqual([
      204, 201, 422, 404, 422,
    ])
    expect(early.body.message).toContain('events only')
  })

  test('has slices of the size that was asked for, and no event twice', async () => {
    const app = await testApp({}, { data: folder })
    const found = await backupOf(app)

    const slices = await all(slicesOf(found, 'target', 0, 20_000))
    const rest = await all(slicesOf(found, 'target', 450, 20_000))
    await app.stop()

    expect(slices.length).toBeGreaterThan(5)
    expect(slices.every(({ text }) => Buffer.byteLength(text) <= 20_000)).toBe(true)
    expect(slices.map(({ more }) => more)).toEqual([...Array(slices.length - 1).fill(true), false])
    const seqs = (some: typeof slices) =>
      some.flatMap(({ text }) =>
        text.split('\n').flatMap((line) => (line.startsWith('{"seq"') ? JSON.parse(line).seq : [])),
      )
    expect(seqs(slices)).toEqual(Array.from({ length: EVENTS }, (_, i) => i + 1))
    expect(seqs(rest)).toEqual(Array.from({ length: EVENTS - 450 }, (_, i) => i + 451))
  })

  test('is given up when an event turns out to be damaged, and leaves nothing', async () => {
    const app = await testApp({}, { data: folder })
    await backupOf(app)
    const segment = join(folder, 'backup', '000000000000001.ndjson')
    writeFileSync(segment, readFileSync(segment, 'utf8').replace('n500', 'n005'))
    const arrived: number[] = []

    const backup = await openBackup(folderPlace(join(folder, 'backup')), null)
    const told = (events: number) => void arrived.push(events)
    const sent = sendBackup(wireOf(app), '/operator/tenants/target', backup, 'target', told, 20_000)
    const outcome = await sent.catch((reason) => reason)
    const info = await app.request('GET', '/operator/tenants/target')
    await app.stop()

    expect(outcome).toMatchObject({ code: 'damaged', about: { seq: 501 } })
    expect(arrived.some((events) => events > 0)).toBe(true)
    expect(info.status).toBe(404)
  })

  test('is refused when an event creates an entity that is there already', async () => {
    const app = await testApp({}, { data: folder })
    const lines = (await sourceLines(app)).slice(0, -1)
    const last = JSON.parse(lines.at(-1)!)
    const again = { ...last, seq: last.seq + 1, id: `${last.id}2` }
    const [before, digest] = [last.hash, last.digest].map((hex) => Buffer.from(hex, 'hex'))
    const hash = Buffer.from(chain(systemSeal, before!, again.seq, again, digest!)).toString('hex')

    const refused = await put(app, [...lines, JSON.stringify({ ...again, hash })], true)
    await app.stop()

    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain(`Event ${again.seq} creates ${last.entity} again.`)
  })

  test('is refused when its end has another hash than its last event', async () => {
    const app = await testApp({}, { data: folder })
    const lines = await sourceLines(app)
    const { hash, ...end } = JSON.parse(lines.at(-1)!)

    const refused = await put(
      app,
      [...lines.slice(0, -1), JSON.stringify({ ...end, hash: hash.replace(/./g, '0') })],
      false,
    )
    const info = await app.request('GET', '/operator/tenants/target')
    await app.stop()

    expect([refused.status, refused.body.error, info.status]).toEqual([422, 'validation_error', 404])
  })
})

test('kill -9 at any point of a restore in slices: it continues automatically and loses nothing', {
  timeout: 900_000,
}, async () => {
  const kills = Number(process.env.TILDE_ROUNDS ?? 1)
  const chance = chanceOf(Number(process.env.TILDE_SEED ?? 7))
  const app = await testApp({}, { data: folder })
  const found = await backupOf(app)
  const { head } = await verdict(app, 'source')
  await app.stop()
  let server = await startServer(folder)
  const { port } = new URL(server.url)
  const wire = wireTo({ baseUrl: server.url, apiKey: KEY, retries: 2 })
  const faults: string[] = []

  let left = kills
  for (let round = 0; left > 0; round++) {
    const slug = `target-${round}`
    let isOver = false
    // Small slices, so that a restore takes long enough to be killed often.
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const told = (events: number) => void (events > 0 && begin())
    const restoring = sendBackup(wire, `/operator/tenants/${slug}`, found, slug, told, 12_000).finally(() => {
      isOver = true
    })
    // Before its first slice a slug is free.
    await begun
    const writing = writeUntil(server.url, slug, () => isOver)
    while (!isOver && left > 0) {
      await pause(chance() * 400)
      if (isOver) break
      await server.kill()
      left--
      server = await startServer(folder, {}, ['--port', port])
    }
    await restoring
    const acknowledged = await writing
    const [verified, rows] = await Promise.all([
      ask(server.url, 'GET', `/operator/tenants/${slug}/verify`),
      ask(server.url, 'GET', `/~${slug}/Contact?limit=1&filter={"title":"late"}`),
    ])
    const events = EVENTS + rows!.body.total
    if (!verified!.body.ok || verified!.body.events !== events)
      faults.push(`${slug}: ${JSON.stringify(verified!.body)}`)
    if (rows!.body.total === 0 && verified!.body.head.hash !== head.hash) faults.push(`${slug}: another head`)
    if (rows!.body.total < acknowledged) faults.push(`${slug}: ${rows!.body.total} of ${acknowledged} writes`)
  }
  await server.kill()

  expect(faults).toEqual([])
})

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const things: T[] = []
  for await (const thing of source) things.push(thing)
  return things
}

/** The lines of the log of a tenant with some hundred events. */
async function sourceLines(app: TestApp): Promise<string[]> {
  await fill(app)
  const { text } = await app.request('GET', '/operator/tenants/source/log')
  return text.trim().split('\n')
}

async function fill(app: TestApp): Promise<void> {
  const rows = Array.from({ length: EVENTS }, (_, i) => JSON.stringify({ name: `n${i}`, title: 'restored' }))
  await app.request('POST', '/~source/import/Contact', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
}

/** A backup of that tenant in a folder. */
async function backupOf(app: TestApp) {
  await fill(app)
  const archive = await openArchive(folderPlace(join(folder, 'backup')), 'source')
  await shipOnce(wireOf(app), '/operator/tenants/source/log', archive)
  await archive.close()
  return examine(folderPlace(join(folder, 'backup')), null)
}

function wireOf(app: TestApp) {
  const fetch = (url: string, init: RequestInit) => app.fetch(url.slice('http://app'.length), init)
  return wireTo({ baseUrl: 'http://app', apiKey: ROOT, fetch })
}

/** A slice of which the last line is sent when it may be finished. */
function held(app: TestApp, lines: readonly string[]) {
  const { promise: isFinished, resolve: finish } = Promise.withResolvers<void>()
  const tasks = async (): Promise<number> =>
    (await app.request('GET', '/operator/tenants/target/tasks')).body.results.length
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async start(stream) {
      stream.enqueue(
        encoder.encode(
          lines
            .slice(0, -1)
            .map((line) => `${line}\n`)
            .join(''),
        ),
      )
      await isFinished
      stream.enqueue(encoder.encode(`${lines.at(-1)}\n`))
      stream.close()
    },
  })
  const before = tasks()
  const path = `/operator/tenants/target/log?of=${EVENTS}&more=true`
  const init = { method: 'PUT', headers: { authorization: `Bearer ${ROOT}` }, body, duplex: 'half' }
  const reply = before.then(() => app.fetch(path, init as RequestInit))
  const arrived = before.then((count) => expect.poll(tasks).toBeGreaterThan(count))
  return { arrived, finish, reply }
}

function put(app: TestApp, lines: readonly string[], more: boolean): Promise<Reply> {
  const path = `/operator/tenants/target/log?of=${EVENTS}${more ? '&more=true' : ''}`
  return app.request('PUT', path, lines.map((line) => `${line}\n`).join(''))
}

async function verdict(app: TestApp, slug: string) {
  return (await app.request('GET', `/operator/tenants/${slug}/verify`)).body
}

/** Writes into a slug until the restore is over; the number of acknowledged writes. */
async function writeUntil(url: string, slug: string, isOver: () => boolean): Promise<number> {
  let acknowledged = 0
  for (; !isOver(); await pause(5)) {
    const reply = await ask(url, 'POST', `/~${slug}/Contact`, { name: 'x', title: 'late' })
    if (reply?.status === 201) acknowledged++
  }
  return acknowledged
}

/** Chance that a seed repeats. */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}
