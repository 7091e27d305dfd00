import { expect, test } from 'vitest'
import { ROOT, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const ALARM = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }
const ticks = [{ verb: 'create', type: 'Comment', args: { body: 'tick' } }]

verifies(
  'timer.closed',
  'timers and schedules of closed tenants run: each is opened when something is due',
  async () => {
    const app = await testApp({ TILDE_OPEN_TENANTS: '1' })
    const slugs = ['one', 'two', 'three']
    const ringAt = new Date(Date.now() + 1_500).toISOString()
    for (const slug of slugs) {
      await app.request('PUT', `/~${slug}/schema/Alarm`, ALARM)
      await app.request('POST', `/~${slug}/Alarm`, { ringAt })
      const { body } = await app.request('POST', `/~${slug}/Workflow`, {
        name: 's',
        schedule: '*/2 * * * * *',
        steps: ticks,
      })
      await app.request('POST', `/~${slug}/Workflow/${body.$id}/activate`)
    }

    // Nothing is asked of them until long after the time.
    await new Promise((done) => setTimeout(done, 4_000))
    const asked = Date.now()

    for (const slug of slugs) {
      const { body } = await app.request('GET', `/~${slug}/events?type=Alarm.rang`)
      expect(body.results, slug).toHaveLength(1)
      expect(Date.parse(body.results[0].timestamp)).toBeLessThan(asked)
      expect((await app.request('GET', `/~${slug}/Comment/count`)).body.count, slug).toBeGreaterThan(0)
    }
    await app.stop()
  },
  30_000,
)

verifies('timer.copies', 'a restored backup does not run what came due before', async () => {
  const app = await testApp()
  await app.request('PUT', '/~acme/schema/Alarm', ALARM)
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const { body: second } = await app.request('POST', '/~acme/Alarm', { ringAt: later })
  const rang = async (slug: string) => {
    const { body } = await app.request('GET', `/~${slug}/events?type=Alarm.rang`)
    return body.results.map(({ entityId }: { entityId: string }) => entityId)
  }
  /** An Alarm, and a backup from before it comes due. On a busy machine it may come too late for the first ones. */
  const alarmAfterBackup = async (ms: number): Promise<{ id: string; file: Uint8Array<ArrayBuffer> }> => {
    const soon = Date.now() + ms
    const { body } = await app.request('POST', '/~acme/Alarm', { ringAt: new Date(soon).toISOString() })
    const backup = await app.fetch('/operator/tenants/acme/backup', { headers: { authorization: `Bearer ${ROOT}` } })
    const file = new Uint8Array(await backup.arrayBuffer())
    return Date.now() < soon ? { id: body.$id, file } : alarmAfterBackup(2 * ms)
  }
  const { id, file } = await alarmAfterBackup(600)
  await expect.poll(() => rang('acme')).toContain(id)

  const restored = await app.request('PUT', '/operator/tenants/again/restore', file)

  expect(restored.status, restored.text).toBe(201)
  const waits = async () => (await app.request('GET', `/~again/Alarm/${second.$id}/timers`)).body.total
  await expect.poll(waits).toBe(1)
  expect(await rang('again')).not.toContain(id)
  await app.stop()
})

verifies('timer.rights', 'declaring a timer needs write on the type, for all rows', async () => {
  const app = await testApp()
  await app.request('PUT', '/~acme/schema/Contact', { callAt: 'datetime' })
  const notation = { callAt: 'datetime', $timers: { call: { at: 'callAt', run: 'qualify' } } }
  const platform = await app.key('acme', 'admin:platform')
  const narrowed = await app.key('acme', 'admin:all', { filter: { Contact: { title: 'mine' } } })
  const whole = await app.key('acme', 'admin:platform,write:crm')

  const answers = []
  for (const key of [platform, narrowed, whole]) {
    answers.push((await app.as(key)('PUT', '/~acme/schema/Contact', notation)).status)
  }

  expect(answers).toEqual([403, 403, 200])
  // What does not touch the timers needs no more than before.
  const again = await app.as(platform)('PUT', '/~acme/schema/Contact', { ...notation, nickname: 'string' })
  expect(again.status).toBe(200)
  await app.stop()
})

test('revoking a key with cascade pauses its workflows', async () => {
  const app = await testApp()
  const { body: key } = await app.request('POST', '/~acme/api-keys', { name: 'k', scopes: 'write:all' })
  const send = app.as(key.secret)
  const { body: workflow } = await send('POST', '/~acme/Workflow', {
    name: 'w',
    triggerEvent: 'Contact.created',
    steps: ticks,
  })
  await send('POST', `/~acme/Workflow/${workflow.$id}/activate`)

  const revoked = await app.request('POST', `/~acme/api-keys/${key.$id}/revoke?cascade=true`)
  await app.request('POST', '/~acme/Contact', { name: 'Ada' })

  expect(revoked.body.made.workflows).toEqual([workflow.$id])
  expect((await app.request('GET', `/~acme/Workflow/${workflow.$id}`)).body.status).toBe('Paused')
  expect((await app.request('GET', `/~acme/Workflow/${workflow.$id}/runs`)).body.total).toBe(0)
  await app.stop()
})
