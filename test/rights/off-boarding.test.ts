import { OPERATOR } from '@tildebase/tenant'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../packages/tenant/src/services/integrations/verbs.ts'
import { queueLetter } from '../../packages/tenant/src/services/mail/letters.ts'
import { receive } from '../../packages/tenant/src/services/mail/receive.ts'
import { retryRun } from '../../packages/tenant/src/services/workflows/manage.ts'
import { asksOf } from '../../packages/tenant/src/services/workflows/steps/ask.ts'
import { verifies } from '../verifies.ts'
import { type Grant, openWorld, type World } from './attacks/world.ts'

let world: World
let user: string
let mine: Grant
beforeEach(() => {
  world = openWorld()
  const draft = { name: 'Ada', email: 'ada@example.org', role: 'Admin', status: 'Active' }
  user = world.run('User', 'create', undefined, draft).$id
  mine = { ...OPERATOR, actor: user }
})
afterEach(() => world.close())

/** A workflow of the person that waits before it writes, with one open run. */
async function waiting(steps: readonly object[]): Promise<string> {
  const fields = { name: 'w', triggerEvent: 'Deal.updated', steps: steps as never }
  const id = world.run('Workflow', 'create', undefined, fields, mine).$id
  world.run('Workflow', 'activate', id)
  world.run('Deal', 'update', world.deal, { name: 'begun' })
  await world.advance(1_000)
  return id
}

const write = () => ({ verb: 'update', type: 'Deal', id: world.deal, args: { description: 'written' } })
const leave = () =>
  world.tenant.run(OPERATOR, { type: 'User', verb: 'suspend', id: user, data: {}, cascade: true }).entity.extra

describe('a person who leaves with all that they stored', () => {
  verifies(
    'rights.person.made',
    'ends a run that waits, also when another person has rewritten the workflow',
    async () => {
      const id = await waiting([{ wait: '1h' }, write()])
      world.run('Workflow', 'update', id, { steps: [] })

      leave()
      await world.advance(7_200_000)

      expect(world.tenant.sql.rows('SELECT state FROM workflow_runs')).toEqual([['Cancelled']])
      expect(world.entity('Deal', world.deal).description).toBeUndefined()
    },
  )

  verifies('rights.person.made', 'ends a retry that waits', async () => {
    const fails = { verb: 'update', type: 'Deal', id: 'deal_none', args: {} }
    const id = await waiting([{ wait: '1h' }, { ...fails, id: '$event.data.source' }, write()])
    await world.advance(3_600_000)
    const [run] = world.tenant.sql.rows('SELECT id FROM workflow_runs')[0]!
    world.run('Workflow', 'update', id, { steps: [{ wait: '1h' }, { wait: '2h' }, write()] as never }, mine)
    world.tenant.write(OPERATOR, (one) => retryRun(one, id, run))
    await world.advance(1_000)

    leave()
    await world.advance(36_000_000)

    expect(world.entity('Workflow', id).status).toBe('Paused')
    expect(world.entity('Deal', world.deal).description).toBeUndefined()
  })

  verifies(
    'rights.person.made',
    'disconnects their integrations, and their mail server sends nothing more',
    async () => {
      const apiBaseUrl = 'smtps://mail.evil.example'
      const id = world.run('Integration', 'create', undefined, { name: 'x', provider: 'smtp', apiBaseUrl }, mine).$id
      const token = JSON.stringify({ username: 'a', password: 'b' })
      world.tenant.write(mine, (one) => connect(one, id, {}, { token, address: apiBaseUrl }))

      const extra = leave()
      world.tenant.write(OPERATOR, (one) => queueLetter(one, { to: 'b@example.org', subject: 's', text: 't' }))
      await world.advance(1_000)

      expect(extra).toMatchObject({ made: { integrations: [id] } })
      expect(world.entity('Integration', id).status).toBe('Disconnected')
      expect(world.mails.map(({ server }) => server)).toEqual(['service'])
    },
  )
})

test('a repeated e-mail shows a narrowed key no message that is hidden from it', () => {
  const mail = { messageId: '<1@example.org>', from: 'a@example.org', fromName: 'A', subject: 'Hidden', text: 'hidden' }
  const rest = { html: null, to: [], cc: [], replyTo: null, sentAt: null, references: [], bounced: null }
  const kept = { ...mail, ...rest, isAutomatic: false, attachments: [] }
  const take = (grant: Grant) => world.tenant.write(grant, (one) => receive(one, kept as never))
  take(OPERATOR)

  expect(take(OPERATOR).isRepeated).toBe(true)
  expect(() => take({ ...OPERATOR, actor: 'apiKey_1', rows: { Message: { subject: 'mine' } } })).toThrow(
    /known already/,
  )
})

test('a key with a filter on workflows sees the questions of those workflows only', async () => {
  await waiting([{ ask: { of: 'role:Admin', title: 'May I?' } }])
  const asks = (rows: Grant['rows']) =>
    asksOf(world.tenant.engine, { ...OPERATOR, actor: 'apiKey_1', rows }, { cursor: null, limit: 10 })

  expect(asks({})).toMatchObject({ total: 1 })
  expect(asks({ Workflow: { name: 'other' } })).toMatchObject({ total: 0, results: [] })
})
