import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '@tildebase/server'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { defaultWorkers } from '../../packages/server/src/host/settings/settings.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-workers-'))
const config = join(folder, 'hooks.mjs')
const gate = join(folder, 'gate')
const proof = join(folder, 'proof')
const asleep = join(folder, 'asleep')

// What an operator's code can do to the thread it runs in, by the name of the contact.
const HOOKS = `
  import { existsSync, writeFileSync } from 'node:fs'
  export function hooks({ Contact }) {
    Contact.creating((contact) => {
      if (contact.name === 'die') process.exit(1)
      if (contact.name === 'throw') setImmediate(() => { throw new Error('thrown outside of a request') })
      if (contact.name === 'hang') for (;;);
      if (contact.name === 'sleep') {
        writeFileSync('${asleep}', '')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
      }
      return { title: 'hooked' }
    })
    Contact.created((contact) => {
      if (contact.name !== 'later') return
      if (!existsSync('${gate}')) throw new Error('not yet')
      writeFileSync('${proof}', contact.name)
    })
  }
`

let host: TestHost

beforeAll(() => writeFileSync(config, HOOKS))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => host?.stop())

async function start(workers: string, env: Record<string, string> = {}): Promise<void> {
  host = await testHost(env, { workers, config })
}

/** Two tenants that are in different ones of two workers. */
const HERE = 'acme'
const ELSEWHERE = 'globex'

verifies('cli.workers', '--workers beats TILDE_WORKERS, and must be a whole number', () => {
  expect(readSettings({ workers: '3' }, { TILDE_WORKERS: '2' }).workers).toBe(3)
  expect(readSettings({}, { TILDE_WORKERS: '2' }).workers).toBe(2)
  expect(() => readSettings({ workers: 'many' }, {})).toThrow('--workers must be a whole number')
})

test.each([
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 4],
  [64, 4],
])('on %i cores there are %i workers by default', (cores, workers) => {
  expect(defaultWorkers(cores)).toBe(workers)
})

verifies('host.compute', 'when the worker of one tenant dies, another tenant notices nothing', async () => {
  await start('2')
  await host.request('POST', `/~${HERE}/Contact`, { name: 'Ada' })
  await host.request('POST', `/~${ELSEWHERE}/Contact`, { name: 'Bob' })

  const [fatal, others] = await Promise.all([
    host.request('POST', `/~${HERE}/Contact`, { name: 'die' }),
    Promise.all(Array.from({ length: 50 }, () => host.request('GET', `/~${ELSEWHERE}/Contact`))),
  ])

  expect([fatal.status, fatal.body.error, fatal.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
  expect(others.map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect((await again(() => host.request('GET', `/~${HERE}/Contact`))).body.total).toBe(1)
})

test('an error outside of every request ends its worker and nothing else', async () => {
  await start('2')

  await host.request('POST', `/~${HERE}/Contact`, { name: 'throw' })

  expect((await host.request('POST', `/~${ELSEWHERE}/Contact`, { name: 'Bob' })).status).toBe(201)
  expect((await again(() => host.request('POST', `/~${HERE}/Contact`, { name: 'Ada' }))).status).toBe(201)
})

test('a worker that hangs is replaced, and its requests answer 503', async () => {
  await start('2', { TILDE_WORKER_TIMEOUT: '2s' })
  await host.request('POST', `/~${HERE}/Contact`, { name: 'Ada' })

  const stuck = await host.request('POST', `/~${HERE}/Contact`, { name: 'hang' })

  expect([stuck.status, stuck.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await again(() => host.request('GET', `/~${HERE}/Contact`))).body.total).toBe(1)
})

test('due work of a tenant runs after its worker died, without a request to the tenant', async () => {
  await start('1')
  await host.request('POST', `/~${HERE}/Contact`, { name: 'later' })
  await host.request('POST', `/~${HERE}/Contact`, { name: 'die' })

  writeFileSync(gate, '')

  await expect.poll(() => existsSync(proof), { timeout: 20_000 }).toBe(true)
})

test('hooks of the config file run in the workers', async () => {
  await start('2')

  const { body } = await host.request('POST', `/~${HERE}/Contact`, { name: 'Ada' })

  expect(body.title).toBe('hooked')
  expect(body.$context).toBe(`${host.url}/~${HERE}`)
})

test('a config file that does not load stops the start, with or without workers', async () => {
  const broken = join(folder, 'broken.mjs')
  writeFileSync(broken, 'throw new Error("this file is broken")')

  await expect(testHost({}, { workers: '1', config: broken })).rejects.toThrow('this file is broken')
  await expect(testHost({}, { workers: '0', config: broken })).rejects.toThrow('this file is broken')
})

test('a host that cannot listen leaves no worker behind', async () => {
  await start('1')
  const { port } = new URL(host.url)

  await expect(testHost({}, { workers: '1', port })).rejects.toThrow('EADDRINUSE')
})

verifies('running.stop', 'a graceful stop lets a request finish that a worker is at', async () => {
  await start('1')
  const slow = host.request('POST', `/~${HERE}/Contact`, { name: 'sleep' })
  await expect.poll(() => existsSync(asleep), { timeout: 20_000 }).toBe(true)

  await host.stop()

  expect((await slow).status).toBe(201)
})

test('the operator copies, checks and deletes tenants in whatever worker they live', async () => {
  await start('2')
  await host.request('POST', `/~${HERE}/Contact`, { name: 'Ada' })

  const forked = await host.request('POST', `/operator/tenants/${HERE}/fork`, { to: ELSEWHERE })
  const checked = await host.request('GET', `/operator/tenants/${ELSEWHERE}/verify`)
  const deleted = await host.request('DELETE', `/operator/tenants/${HERE}`)

  expect([forked.status, checked.body.ok, deleted.status]).toEqual([201, true, 204])
  expect((await host.request('GET', `/~${ELSEWHERE}/Contact`)).body.total).toBe(1)
  expect((await host.request('GET', `/~${HERE}/Contact`)).body.total).toBe(0)
})

/** Asks until the answer is not 503, as clients do. */
async function again(ask: () => ReturnType<TestHost['request']>): ReturnType<TestHost['request']> {
  for (;;) {
    const reply = await ask()
    if (reply.status !== 503) return reply
    await new Promise((done) => setTimeout(done, 50))
  }
}
