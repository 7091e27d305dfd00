import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, testHost } from '../host.ts'
import { Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'
import { type Stage, stageAt } from './ask.ts'
import { SERVICE, startWorkerd, type Workerd } from './workerd.ts'

describe('the service on workerd', () => {
  let workerd: Workerd
  let stage: Stage

  beforeAll(async () => {
    workerd = await startWorkerd({
      ...SERVICE,
      variables: { TILDE_SIGNUP: 'open', TILDE_HOST_SUFFIX: 'tilde.test', TILDE_WEBHOOKS_INSECURE: '1' },
    })
    stage = stageAt(() => workerd.url)
  })
  afterAll(() => workerd?.stop())

  test('what was acknowledged is there after a kill -9 under load', async () => {
    const acknowledged: string[] = []
    let crashed = false
    const write = async () => {
      while (!crashed) {
        const reply = await stage.request('POST', '/~crash/Contact', { name: 'Ada' }).catch(() => null)
        if (reply?.status === 201) acknowledged.push(reply.body.$id)
      }
    }
    const writers = Array.from({ length: 4 }, write)
    await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(100)

    const restarted = workerd.crash()
    crashed = true
    await Promise.all([restarted, ...writers])

    const { body } = await stage.request('GET', '/operator/tenants/crash/verify')
    const missing = await Promise.all(
      acknowledged.map(async (id) => (await stage.request('GET', `/~crash/Contact/${id}`)).status !== 200),
    )
    expect(body.ok).toBe(true)
    expect(missing).not.toContain(true)
  })

  test('checkpoints are signed under the configured host, whatever host a request names', async () => {
    await stage.request('POST', '/~named/Contact', { name: 'Ada' })

    const { text } = await stage.request('GET', '/~named/checkpoint')

    expect(text.split('\n', 1)).toEqual(['tilde.test/~named'])
  })

  test('due work runs after a restart, without a request to the tenant', async () => {
    const receiver = await Receiver.start()
    const expiresAt = new Date(Date.now() + 3_000).toISOString()
    await stage.request('POST', '/~due/webhooks', { url: receiver.url, events: ['ApiKey.expired'] })
    await stage.request('POST', '/~due/api-keys', { name: 'short', expiresAt })
    await workerd.crash()

    const [told] = await receiver.got(1)
    await receiver.stop()

    expect(told!.body).toMatchObject({ type: 'ApiKey.expired', tenant: 'due', data: { name: 'short' } })
  })

  verifies('timer.crash', 'a timer runs once after a kill -9 of workerd, and its workflow too', async () => {
    const at = '/~due-timer'
    await stage.request('PUT', `${at}/schema/Alarm`, {
      ringAt: 'datetime',
      ring: { event: 'rang' },
      $timers: { ring: { at: 'ringAt', run: 'ring' } },
    })
    const steps = [{ verb: 'create', type: 'Comment', args: { body: '$event.data.$id' } }]
    const { body: workflow } = await stage.request('POST', `${at}/Workflow`, {
      name: 'w',
      triggerEvent: 'Alarm.rang',
      steps,
    })
    await stage.request('POST', `${at}/Workflow/${workflow.$id}/activate`)
    const ringAt = new Date(Date.now() + 2_000).toISOString()
    for (let i = 0; i < 20; i++) await stage.request('POST', `${at}/Alarm`, { ringAt })
    await workerd.crash()

    const comments = async () => (await stage.request('GET', `${at}/Comment/count`)).body.count
    await expect.poll(comments, { timeout: 30_000 }).toBe(20)
    const { body } = await stage.request('GET', `${at}/events?type=Alarm.rang`)
    expect(new Set(body.results.map(({ entityId }: { entityId: string }) => entityId)).size).toBe(20)
    expect(body.results).toHaveLength(20)
  })

  test('signing up makes a tenant with its first key, once', async () => {
    const first = await stage.as('')('POST', '/~fresh/api-keys', { name: 'first' })
    const second = await stage.as('')('POST', '/~fresh/api-keys', { name: 'second' })

    expect([first.status, second.status]).toEqual([201, 401])
    expect((await stage.as(first.body.secret)('POST', '/~fresh/Contact', { name: 'Ada' })).status).toBe(201)
  })

  test('a request without a key lays nothing out', async () => {
    expect((await stage.as('')('POST', '/~nobody/Contact', { name: 'Ada' })).status).toBe(401)
    expect((await stage.request('GET', '/operator/tenants/nobody')).status).toBe(404)
  })

  test('a header of a client cannot pass for one of the Worker', async () => {
    const errand = encodeURIComponent(
      JSON.stringify({ do: 'task', slug: 'fresh', task: { do: 'delete' }, requestId: 'x' }),
    )

    await stage.as('')('DELETE', '/~fresh/Contact/x', undefined, { 'tilde-command': errand })

    expect((await stage.request('GET', '/operator/tenants/fresh')).status).toBe(200)
  })

  test('unsupported operations of this host return 501', async () => {
    for (const [method, path] of [
      ['POST', '/operator/tenants/fresh/release'],
      ['GET', '/operator/tenants/fresh/backup'],
      ['POST', '/operator/signing-key'],
    ] as const) {
      expect((await stage.request(method, path)).body.error, path).toBe('not_supported')
    }
  })

  test('a body over the limit is refused without being held', async () => {
    const { status, body } = await stage.request('POST', '/~fresh/Contact', `{"name":"${'x'.repeat(11_000_000)}"}`)

    expect([status, body.error]).toEqual([413, 'too_large'])
  })

  test('a Durable Object is backed up to a folder, and restored from it as of any moment', async () => {
    const tilde = tildeWith({ TILDE_URL: workerd.url, TILDE_ROOT_KEY: ROOT })
    for (const name of ['Ada', 'Bob', 'Cleo']) await stage.request('POST', '/~kept/Contact', { name })

    const saved = await tilde('backup', 'kept', '--to', 'kept', '--json')
    const whole = await tilde('restore', 'kept', '--as', 'kept-again', '--json')
    await tilde('restore', 'kept', '--as', 'kept-before', '--as-of', '2')

    expect(saved.json).toMatchObject({ events: 3, seq: 3 })
    const { body: verdict } = await stage.request('GET', '/operator/tenants/kept/verify')
    expect(whole.json.head).toBe(verdict.head.hash)
    expect((await stage.request('GET', '/~kept-before/Contact')).body.total).toBe(2)
  })

  test('a tenant moves from a Node host into a Durable Object and back', async () => {
    const node = await testHost()
    try {
      const key = await node.key('mover', 'write:crm')
      await node.as(key)('POST', '/~mover/Contact', { name: 'Ada' })
      const out = await node.request('GET', '/operator/tenants/mover/log')
      const verdict = await node.request('GET', '/operator/tenants/mover/verify')

      expect((await stage.request('PUT', '/operator/tenants/mover/log', out.text)).status).toBe(201)
      expect((await stage.request('GET', '/operator/tenants/mover/verify')).body).toEqual(verdict.body)
      expect((await stage.as(key)('POST', '/~mover/Contact', { name: 'Bob' })).status).toBe(201)

      const more = await stage.request('GET', '/operator/tenants/mover/log?after=2')
      expect((await node.request('PUT', '/operator/tenants/mover/log', more.text)).status).toBe(201)
      expect((await node.as(key)('GET', '/~mover/Contact')).body.total).toBe(2)
      expect((await node.request('GET', '/operator/tenants/mover/verify')).body.ok).toBe(true)
    } finally {
      await node.stop()
    }
  })
})

test('without a key of its own the service answers nothing: the names of tenants would decrypt their secrets', async () => {
  const workerd = await startWorkerd({ ...SERVICE, variables: { TILDE_ROOT_KEY: '', TILDE_SIGNUP: 'open' } })

  const { status } = await fetch(`${workerd.url}/~mine/api-keys`, { method: 'POST', body: '{"name": "first"}' })
  await workerd.stop()

  expect(status).toBe(500)
})
