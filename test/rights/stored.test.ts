import { OPERATOR } from '@tildebase/tenant'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acceptInvitation } from '../../packages/tenant/src/services/identity/invitations.ts'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'
import { Receiver } from '../receiver.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
})
afterAll(() => app.stop())

const PAST = '2020-01-01T00:00:00Z'

/** A key with its id, and how to send requests with it. */
async function keyOf(tenant: string, scopes: string, more: object = {}) {
  const { body } = await app.request('POST', `/~${tenant}/api-keys`, { name: 'k', scopes, ...more })
  const send = app.as(body.secret)
  return {
    id: body.$id as string,
    send: (method: string, path: string, data?: unknown) => send(method, `/~${tenant}${path}`, data),
  }
}

const admin = (tenant: string) => (method: string, path: string, data?: unknown) =>
  app.request(method, `/~${tenant}${path}`, data)

/** Waits until the tenant has done what was due. */
async function settled(tenant: string): Promise<void> {
  const head = async () => (await app.request('GET', `/~${tenant}/status`)).text
  for (let before = await head(), same = 0; same < 4; ) {
    await new Promise((done) => setTimeout(done, 60))
    const now = await head()
    same = now === before ? same + 1 : 0
    before = now
  }
}

describe('a workflow', () => {
  const climb = (id: string) => [{ verb: 'update', type: 'ApiKey', id, args: { scopes: 'admin:all' } }]

  verifies('rights.author', 'takes no rights from a timer that touches it', async () => {
    const as = admin('timer-climb')
    await as('POST', '/Contact', { name: 'Ada' })
    const { id, send } = await keyOf('timer-climb', 'admin:platform')
    const steps = climb(id)
    await send('PUT', '/schema/Workflow', {
      due: 'datetime',
      kick: { event: 'kicked', set: { timeout: 60 } },
      $timers: { kick: { at: 'due', run: 'kick' } },
    })
    const { body } = await send('POST', '/Workflow', { name: 'w', triggerEvent: 'Workflow.kicked', steps })
    await send('POST', `/Workflow/${body.$id}/activate`)
    await send('PUT', `/Workflow/${body.$id}`, { due: PAST })
    await settled('timer-climb')

    expect((await as('GET', `/api-keys/${id}`)).body.scopes).toBe('admin:platform')
  })

  verifies('rights.acts', 'of an administrator is not changed by a hook of another key', async () => {
    const as = admin('hook-climb')
    await as('POST', '/Contact', { name: 'Ada' })
    const { id, send } = await keyOf('hook-climb', 'admin:platform')
    const code = `() => (${JSON.stringify({ steps: climb(id) })})`
    await send('PUT', '/schema/Workflow/hooks/creating', { code })
    const { body } = await as('POST', '/Workflow', { name: 'w', triggerEvent: 'Contact.created', steps: [] })
    await as('POST', `/Workflow/${body.$id}/activate`)
    await as('POST', '/Contact', { name: 'Bob' })
    await settled('hook-climb')

    expect(body.steps).toEqual([])
    expect((await as('GET', `/api-keys/${id}`)).body.scopes).toBe('admin:platform')
  })

  verifies('rights.service', 'of a Member does not change the account of a colleague', async () => {
    const as = admin('colleague')
    const colleague = (await as('POST', '/User', { name: 'Bob', email: 'bob@example.org', role: 'Viewer' })).body.$id
    const member = await person(app, 'colleague', { email: 'eve@example.org', role: 'Member' })
    const args = { email: 'mine@example.org', role: 'Member' }
    const steps = [{ verb: 'update', type: 'User', id: colleague, args }]
    const draft = { name: 'w', triggerEvent: 'Contact.created', steps }
    const { body } = await member.send('POST', '/~colleague/Workflow', draft)
    await member.send('POST', `/~colleague/Workflow/${body.$id}/activate`)
    await member.send('POST', '/~colleague/Contact', { name: 'x' })
    await settled('colleague')

    expect((await as('GET', `/User/${colleague}`)).body).toMatchObject({ email: 'bob@example.org', role: 'Viewer' })
  })

  verifies('rights.reach', 'is refused with the right that its author lacks', async () => {
    const { send } = await keyOf('refused', 'write:platform')
    const steps = [{ verb: 'create', type: 'Deal', args: { name: 'x' } }]
    const reply = await send('POST', '/Workflow', { name: 'w', steps })

    expect([reply.status, reply.body.error, reply.body.missing]).toEqual([403, 'forbidden', 'write:Deal'])
  })

  test('is tested on no event that its author may not see', async () => {
    const as = admin('tested')
    const contact = (await as('POST', '/Contact', { name: 'Ada', phone: '555-secret' })).body
    const [event] = (await as('GET', '/events?type=Contact.created')).body.results
    const { send } = await keyOf('tested', 'write:Workflow')
    const { body } = await send('POST', '/Workflow', { name: 'w', triggerEvent: '*', steps: [] })
    const reply = await send('POST', `/Workflow/${body.$id}/test`, { event: event.id })

    expect(event.entityId).toBe(contact.$id)
    expect([reply.status, reply.text.includes('555-secret')]).toEqual([404, false])
  })
})

describe('a stored filter', () => {
  async function deals(tenant: string) {
    const as = admin(tenant)
    const contact = (await as('POST', '/Contact', { name: 'Hugo', title: 'theirs', phone: '555-1' })).body.$id
    await as('POST', '/Deal', { name: 'Roof', contact })
    return { as, contact }
  }
  const rows = { Deal: { 'contact.phone': { $regex: '^555' } } }

  verifies('rights.reach', 'of a key reads no row that its author may not read', async () => {
    await deals('oracle')
    const { send } = await keyOf('oracle', 'admin:all', { filter: { Contact: { title: 'mine' } } })
    const reply = await send('POST', '/api-keys', { name: 'o', scopes: 'read:Deal', filter: rows })

    expect([reply.status, reply.body.missing]).toEqual([403, 'read:Contact'])
  })

  verifies('rights.reach', 'of a consent reads no type that its person may not read', async () => {
    const { as } = await deals('consents')
    await as('PUT', '/schema/roles/Seller', { scopes: 'read:Deal' })
    const seller = await person(app, 'consents', { email: 'eve@example.org', role: 'Seller' })
    const connected = connect(app, seller, 'consents', {
      asked: { scope: 'read:Deal' },
      chosen: { rows: JSON.stringify(rows) },
    })

    await expect(connected).rejects.toThrow()
  })
})

describe('a declaration', () => {
  async function world(tenant: string) {
    const as = admin(tenant)
    const contact = (await as('POST', '/Contact', { name: 'Hugo', phone: '555-secret' })).body.$id
    const deal = (await as('POST', '/Deal', { name: 'Roof', contact })).body.$id
    return { as, contact, deal, ...(await keyOf(tenant, 'admin:platform,read:Deal')) }
  }

  verifies('rights.values', 'shows no values in the errors of a retype, also not in a dry run', async () => {
    const { as, send } = await world('retyped')
    await as('POST', '/User', { name: 'Ada', email: 'ada@secret.example' })
    const weak = await send('POST', '/schema/Contact/retype?dryRun=true', { field: 'phone', to: 'number' })
    const strong = await as('POST', '/schema/Contact/retype?dryRun=true', { field: 'phone', to: 'number' })

    expect([weak.status, strong.status]).toEqual([403, 422])
    expect(weak.text + strong.text).not.toContain('555-secret')
  })

  verifies('rights.reach', 'computes nothing from fields that its author may not read', async () => {
    const { as, deal, send } = await world('computed-copy')
    const reply = await send('PUT', '/schema/Deal', { copy: '= contact.phone' })

    expect(reply.status).toBe(403)
    expect((await as('GET', `/Deal/${deal}`)).text).not.toContain('555-secret')
  })

  verifies('rights.reach', 'has no timer whose condition reads what its author may not read', async () => {
    await world('timer-oracle')
    const { send } = await keyOf('timer-oracle', 'admin:platform,write:Deal')
    const reply = await send('PUT', '/schema/Deal', {
      due: 'datetime',
      $timers: { t: { at: 'due', when: { 'contact.phone': { $regex: '^5' } }, run: 'win' } },
    })

    expect(reply.status).toBe(403)
  })

  test('leads no relation to a type that its author may not read, where stored filters could follow it', async () => {
    const { send } = await world('retarget')
    const reply = await send('PUT', '/schema/Deal', { other: '-> User' })

    expect([reply.status, reply.body.missing]).toEqual([403, 'read:User'])
  })
})

describe('a webhook', () => {
  verifies(
    'rights.now',
    'of an administrator is changed, redelivered and tested by no key with fewer rights',
    async () => {
      const receiver = await Receiver.start()
      const as = admin('redelivered')
      const { body } = await as('POST', '/webhooks', { url: 'http://127.0.0.1:9/', events: ['Contact.*'] })
      await as('POST', '/Contact', { name: 'Ada', phone: '555-secret' })
      const { send } = await keyOf('redelivered', 'admin:Webhook')
      const path = `/webhooks/${body.$id}`
      const answers = [
        await send('PUT', path, { url: receiver.url, redirect: true }),
        await send('POST', `${path}/redeliver`, {}),
        await send('POST', `${path}/test`, {}),
        await send('POST', `${path}/rotate`, {}),
        await send('DELETE', path),
      ]
      const listed = await send('GET', `${path}/deliveries`)
      await receiver.stop()

      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
      expect(receiver.requests).toEqual([])
      // It sees that something was sent, and not of which event.
      expect(listed.body.results[0]).toMatchObject({ event: null, type: null, seq: null })
    },
  )
})

describe('off-boarding', () => {
  verifies('rights.holder', 'lists and suspends what the agents of a person stored', async () => {
    const as = admin('leaver')
    await as('POST', '/Contact', { name: 'Ada' })
    const boss = await person(app, 'leaver', { email: 'boss@example.org', role: 'Admin' })
    const agent = await connect(app, boss, 'leaver', { asked: { scope: 'admin:all' } })
    const send = app.as(agent.access)
    const webhook = await send('POST', '/~leaver/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'] })
    const workflow = await send('POST', '/~leaver/Workflow', { name: 'w', triggerEvent: 'Contact.created', steps: [] })
    const { body } = await as('POST', `/User/${boss.user.$id}/suspend?cascade=true`)

    expect(body.made).toMatchObject({ webhooks: [webhook.body.$id], workflows: [workflow.body.$id] })
    expect((await as('GET', `/webhooks/${webhook.body.$id}`)).body.suspended).toBe(true)
  })

  test('lists a hook with the key that stored it last', async () => {
    const as = admin('rewritten')
    await as('PUT', '/schema/Contact/hooks/creating', { code: '() => ({})' })
    const { id, send } = await keyOf('rewritten', 'admin:all')
    await send('PUT', '/schema/Contact/hooks/creating', { code: "() => ({ title: 'x' })" })
    const { body } = await as('POST', `/api-keys/${id}/revoke`)

    expect(body.made.hooks).toEqual(['hook_Contact-creating'])
  })
})

describe('the limits of a consent', () => {
  async function limited(tenant: string, chosen: Record<string, string>) {
    const as = admin(tenant)
    const ids: string[] = []
    for (let i = 0; i < 9; i++) ids.push((await as('POST', '/Contact', { name: `contact ${i}`, phone: '1' })).body.$id)
    const boss = await person(app, tenant, { email: 'boss@example.org', role: 'Admin' })
    const agent = await connect(app, boss, tenant, { asked: { scope: 'admin:all' }, chosen })
    return {
      as,
      ids,
      send: (method: string, path: string, data?: unknown) => app.as(agent.access)(method, `/~${tenant}${path}`, data),
    }
  }

  verifies('rights.limits', 'hold for erasures, declarations, roles and migrations', async () => {
    const { as, ids, send } = await limited('erasing', { verbs: 'Deal.win' })
    const answers = [
      await send('POST', `/Contact/${ids[0]}/erase`, {}),
      await send('PUT', '/schema/Ship', { name: 'string' }),
      await send('PUT', '/schema/roles/Big', { scopes: 'read:all' }),
      await send('POST', '/schema/Contact/retype', { field: 'phone', to: 'number' }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect((await as('GET', `/Contact/${ids[0]}`)).status).toBe(200)
  })

  verifies('rights.limits', 'hold for all that code is given', async () => {
    const { send } = await limited('reading', { rowsPerAnswer: '2' })
    const code = `const names = []
      for (let offset = 0; offset < 8; offset += 2) {
        for (const { name } of await $.Contact.find({}, { limit: 2, offset })) names.push(name)
      }
      names`
    const few = await send('POST', '/do', { code: 'await $.Contact.find({})' })
    const many = await send('POST', '/do', { code })

    expect([few.status, few.body.result?.length]).toEqual([200, 2])
    expect([many.status, many.text.includes('contact 3')]).toEqual([422, false])
  })
})

describe('a narrowed key', () => {
  async function narrowed(tenant: string) {
    const as = admin(tenant)
    const hidden = (await as('POST', '/Contact', { name: 'Hugo', title: 'theirs' })).body.$id
    const { send } = await keyOf(tenant, 'admin:all', { filter: { Contact: { title: 'mine' } } })
    return { as, hidden, send }
  }

  verifies('rights.refer', 'refers to a hidden entity as to one that does not exist', async () => {
    const { hidden, send } = await narrowed('referring')
    const none = 'contact_0V70MWDg2nQ2inj0r8bF3e'
    const answers = [hidden, none].map((contact) => send('POST', '/Deal', { name: 'x', contact }))
    const [one, other] = await Promise.all(answers)

    expect([one!.status, other!.status]).toEqual([422, 422])
    expect(one!.body.message.replace(hidden, none)).toBe(other!.body.message)
  })

  test('learns nothing about a hidden row from restore', async () => {
    const { hidden, send } = await narrowed('restoring')
    const none = await send('POST', '/Contact/contact_0V70MWDg2nQ2inj0r8bF3e/restore')
    const live = await send('POST', `/Contact/${hidden}/restore`)

    expect([none.status, live.status]).toEqual([404, 404])
  })
})

describe('rights of related types', () => {
  test('are needed for groups by the time of a related entity', async () => {
    await admin('grouped')('POST', '/Contact', { name: 'Ada' })
    const { send } = await keyOf('grouped', 'read:Deal')

    expect((await send('GET', '/Deal/aggregate?group=contact.$createdAt:hour')).status).toBe(403)
  })

  test('are needed for the lens of an industry', async () => {
    const as = admin('lens')
    const organization = (await as('POST', '/Organization', { name: 'Clinic', industry: 'healthcare' })).body.$id
    await as('POST', '/Contact', { name: 'Ada', organization })
    const { body } = await app.request('POST', '/~lens/api-keys', { name: 'k', scopes: 'read:Contact' })
    const reply = await app.as(body.secret)('GET', '/healthcare/~lens/Contact')

    expect(reply.status).toBe(403)
  })
})

test('an invited person cannot replace the passkey of another person', () => {
  const { tenant } = openAcme()
  const { identity } = tenant.facade
  const user = (email: string) =>
    tenant.run(OPERATOR, { type: 'User', verb: 'create', data: { name: 'x', email } }).entity.id
  const [ada, eve] = [user('ada@example.org'), user('eve@example.org')]
  identity.saveCredential({ id: 'passkey-1', user: ada, kind: 'passkey', data: {} })
  const invited = tenant.run(OPERATOR, { type: 'User', verb: 'invite', id: eve, data: {} })
  const secret = (invited.entity.extra!.invitation as string).split('#')[1]!
  const taken = { id: 'passkey-1', kind: 'passkey', data: {} } as const
  const conflict = expect.objectContaining({ code: 'conflict' })

  expect(() => tenant.write(OPERATOR, (write) => acceptInvitation(write, secret, taken))).toThrow(conflict)
  expect(() => identity.saveCredential({ ...taken, user: eve })).toThrow(conflict)
  expect(identity.credential('passkey-1')?.user).toBe(ada)
})
