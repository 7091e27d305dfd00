import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readSettings } from '@tildebase/server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { targetOf } from '../../packages/server/src/doors/target.ts'
import { programOf } from '../../packages/server/src/host/program.ts'
import { TenantFiles } from '../../packages/server/src/node/sqlite/files.ts'
import { localTenants } from '../../packages/server/src/node/tenants/local.ts'
import { runFileTask } from '../../packages/server/src/node/threads/whole-files/tasks.ts'
import { noStats } from '../../packages/server/src/node/watch/stats.ts'
import { ROOT, type TestApp, testApp } from '../host.ts'
import { ask, startServer } from './server.ts'

const EVENTS = 3_000
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-restore-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('while a log is restored into a new slug', () => {
  test.each(['0', '1'])('requests to it are refused, and nothing is lost (--workers %s)', async (workers) => {
    const app = await testApp({}, { data: folder, workers })
    const log = await sourceLog(app)

    let isOver = false
    const restoring = app.request('PUT', '/operator/tenants/target/log', log).finally(() => {
      isOver = true
    })
    const refused = new Set<string>()
    let written = 0
    while (!isOver) {
      const { status, body } = await app.request('POST', '/~target/Contact', { name: 'late' })
      if (status === 201) written++
      else refused.add(`${status} ${body.error}`)
      // In one thread a refusal takes no turn of the event loop: the restore needs some.
      await pause(1)
    }
    const restored = await restoring
    const again = await app.request('POST', '/~target/Contact', { name: 'late' })
    const { body } = await app.request('GET', '/~target/Contact?limit=1')
    const verdict = await app.request('GET', '/operator/tenants/target/verify')
    await app.stop()

    expect([restored.status, restored.body.events]).toEqual([201, EVENTS])
    expect([...refused]).toEqual(['503 restoring'])
    expect([again.status, body.total]).toEqual([201, EVENTS + written + 1])
    expect(verdict.body).toMatchObject({ ok: true, events: EVENTS + written + 1 })
  })

  test('a second restore, a fork and a creation are refused, and a sender without a key learns nothing', async () => {
    const app = await testApp({ TILDE_SIGNUP: 'open' }, { data: folder })
    await app.request('POST', '/~source/Contact', { name: 'Ada' })
    const { text } = await app.request('GET', '/operator/tenants/source/log')
    const upload = heldUpload(text)

    const restoring = app.fetch('/operator/tenants/target/log', { method: 'PUT', headers: operator, ...upload.init })
    await upload.begun
    const replies = [
      await app.request('PUT', '/operator/tenants/target/log', text),
      await app.request('POST', '/operator/tenants/source/fork', { to: 'target' }),
      await app.request('POST', '/operator/tenants', { tenant: 'target' }),
      await app.request('GET', '/~target/Contact'),
      await app.as(`tb_${'a'.repeat(40)}~target`)('GET', '/~target/Contact'),
    ]
    const nobody = await app.as('')('POST', '/~target/api-keys', { name: 'first' })
    upload.finish()
    const restored = await restoring
    const { body } = await app.request('GET', '/~target/Contact')
    await app.stop()

    expect(replies.map(({ status, body: { error } }) => [status, error])).toEqual(Array(5).fill([503, 'restoring']))
    expect(replies[0]!.headers.get('retry-after')).toBe('5')
    expect(nobody.status).toBe(401)
    expect([restored.status, body.total]).toEqual([201, 1])
  })

  test('a restore that fails gives the slug back', async () => {
    const app = await testApp({}, { data: folder })

    const failed = await app.request('PUT', '/operator/tenants/target/log', 'this is no log\n')
    const created = await app.request('POST', '/~target/Contact', { name: 'Ada' })
    await app.stop()

    expect([failed.status >= 400, created.status]).toEqual([true, 201])
  })
})

test('a restore fails with 409 when its slug was created meanwhile, and loses nothing', async () => {
  const app = await testApp({}, { data: folder })
  const path = join(folder, 'source.ndjson')
  writeFileSync(path, await sourceLog(app))
  await app.stop()
  const settings = readSettings({ data: folder, workers: '0' }, { TILDE_ROOT_KEY: ROOT })
  const files = new TenantFiles(folder)
  files.prepare()
  const tenants = localTenants(settings, programOf({}), files, { baseUrl: () => '', book: () => {} })

  // Without the gateway nothing keeps the slug: a write that was in progress before the restore comes like this.
  const into = `${path}.new`
  const options = { tenant: { ...programOf({}), baseUrl: '', log: () => {} }, secretKey: 'a', stats: noStats() }
  const replay = { do: 'replay', slug: 'target', path, into, more: false } as const
  const restoring = runFileTask(options, replay, () => {}).then(() =>
    tenants.task('target', { do: 'adopt', path: into }),
  )
  const address = { scheme: 'http', host: 'localhost', path: '/~target/Contact' }
  const body = new TextEncoder().encode('{"name":"Ada"}')
  const request = { ...address, method: 'POST', query: '', headers: { 'content-type': 'application/json' }, body }
  const target = targetOf(address.scheme, address.host, address.path, 'localhost')
  const written = await tenants.handle({
    slug: 'target',
    request,
    target,
    sender: { kind: 'operator' },
    requestId: 'a-request',
  })
  const outcome = await restoring.catch((reason) => reason)
  const info = await tenants.task('target', { do: 'info' })
  await tenants.close()

  expect(written.status).toBe(201)
  expect(outcome).toMatchObject({ code: 'conflict' })
  expect(info).toMatchObject({ events: 1 })
})

test('a write-ahead log that a deleted tenant left behind is not added to a restored one', async () => {
  const files = new TenantFiles(folder)
  files.prepare()
  const path = files.pathOf('target')
  mkdirSync(join(path, '..'), { recursive: true })
  for (const suffix of ['-wal', '-shm']) writeFileSync(`${path}${suffix}`, 'of another tenant')
  writeFileSync(join(folder, 'whole.db'), 'whole')

  files.adopt('target', join(folder, 'whole.db'))

  expect(readFileSync(path, 'utf8')).toBe('whole')
  expect(['-wal', '-shm'].map((suffix) => existsSync(`${path}${suffix}`))).toEqual([false, false])
})

test('a file is not adopted while writes are left in the log next to it, or over another', () => {
  const files = new TenantFiles(folder)
  files.prepare()
  const from = join(folder, 'fresh.db')
  writeFileSync(from, 'half')
  writeFileSync(`${from}-wal`, 'the other half')

  expect(() => files.adopt('target', from)).toThrow('could not be completed')
  rmSync(`${from}-wal`)
  files.adopt('target', from)
  writeFileSync(from, 'another')
  expect(() => files.adopt('target', from)).toThrow('The tenant target already exists')
  expect(readFileSync(files.pathOf('target'), 'utf8')).toBe('half')
})

test('kill -9 during a restore leaves nothing or the whole tenant', { timeout: 300_000 }, async () => {
  const rounds = Number(process.env.TILDE_ROUNDS ?? 2)
  const app = await testApp({}, { data: folder })
  const log = await sourceLog(app)
  await app.stop()
  const faults: string[] = []
  let server = await startServer(folder)
  const begun = performance.now()
  await put(server.url, 'whole', log)
  const usual = performance.now() - begun

  for (let round = 0; round < rounds; round++) {
    const slug = `round-${round}`
    const restoring = put(server.url, slug, log)
    const writing = writeUntilDown(server.url, slug)
    await pause((usual * (round + 1)) / (rounds - 1))
    await server.kill()
    const [status, acknowledged] = await Promise.all([restoring, writing])

    server = await startServer(folder)
    const { body } = (await ask(server.url, 'GET', `/~${slug}/Contact?filter={"title":"restored"}&limit=1`))!
    const late = (await ask(server.url, 'GET', `/~${slug}/Contact?filter={"title":"late"}&limit=1`))!
    if (body.total !== EVENTS && (body.total !== 0 || status === 201)) faults.push(`${slug}: ${body.total} rows`)
    if (late.body.total < acknowledged) faults.push(`${slug}: ${late.body.total} of ${acknowledged} writes`)
    if (body.total === 0 && late.body.total === 0) continue
    const verdict = (await ask(server.url, 'GET', `/operator/tenants/${slug}/verify`))!
    if (!verdict.body.ok) faults.push(`${slug}: ${JSON.stringify(verdict.body.faults)}`)
  }
  await server.kill()

  expect(faults).toEqual([])
})

const operator = { authorization: `Bearer ${ROOT}` }

/** The log of a tenant of a few thousand events. */
async function sourceLog(app: TestApp): Promise<string> {
  const rows = Array.from({ length: EVENTS }, (_, i) => JSON.stringify({ name: `n${i}`, title: 'restored' }))
  await app.request('POST', '/~source/import/Contact', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
  const { text } = await app.request('GET', '/operator/tenants/source/log')
  return text
}

/** A body that ends on request. */
function heldUpload(text: string) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const body = new ReadableStream(
    {
      async pull(controller) {
        begin()
        await finished
        controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { begun, finish, init: { body, duplex: 'half' } as RequestInit }
}

/** The status of a restore, or null when the server was gone before it answered. */
async function put(url: string, slug: string, log: string): Promise<number | null> {
  const init = { method: 'PUT', headers: operator, body: log }
  const response = await fetch(`${url}/operator/tenants/${slug}/log`, init).catch(() => null)
  return response?.status ?? null
}

/** Writes into a slug until the server is gone; the number of acknowledged writes. */
async function writeUntilDown(url: string, slug: string): Promise<number> {
  let acknowledged = 0
  for (;;) {
    const reply = await ask(url, 'POST', `/~${slug}/Contact`, { name: 'x', title: 'late' })
    if (reply === null) return acknowledged
    if (reply.status === 201) acknowledged++
  }
}
