import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SettingError } from '@tildebase/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { needs, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
})
afterAll(() => app.stop())

/** A tenant with one visible and one hidden contact, and a key that sees the visible one only. */
async function narrowed(tenant: string, scopes = 'read:all') {
  const at = (path: string) => `/~${tenant}${path}`
  const mine = (await app.request('POST', at('/Contact'), { name: 'Visible Vera', title: 'mine' })).body
  const hidden = (await app.request('POST', at('/Contact'), { name: 'Hidden Hugo', title: 'theirs' })).body
  const key = await app.key(tenant, scopes, { filter: { Contact: { title: 'mine' } } })
  return { at, mine, hidden, key, send: app.as(key) }
}

describe('stored hooks', () => {
  const CREATE_KEY = `async (entity, $) => {
    const key = await $.ApiKey.create({ name: 'more', scopes: 'admin:all' })
    throw new Error('the secret is ' + key.secret)
  }`

  verifies(
    'rights.hook.grant',
    'an AFTER hook has the rights of the key that stored it, and creates no API keys',
    async () => {
      const send = app.as(await app.key('hook-rights', 'admin:platform'))
      const put = await send('PUT', '/~hook-rights/schema/Workflow/hooks/created', { code: CREATE_KEY })
      await send('POST', '/~hook-rights/Workflow', { name: 'w', triggerType: 'Manual' })
      const failures = await until(async () => {
        const { body } = await send('GET', '/~hook-rights/schema/Workflow/hooks/created')
        return body.failures.length > 0 ? body.failures : null
      })
      const keys = await app.request('GET', '/~hook-rights/api-keys')

      expect(put.status).toBe(201)
      expect(JSON.stringify(failures)).not.toContain('tb_')
      expect(keys.body.total).toBe(1)
    },
  )

  verifies(
    'rights.hook.keys',
    'a hook that an administrator of everything stored creates no API keys either',
    async () => {
      await app.request('PUT', '/~hook-keys/schema/Contact/hooks/created', { code: CREATE_KEY })
      await app.request('POST', '/~hook-keys/Contact', { name: 'Ada' })
      const failures = await until(async () => {
        const { body } = await app.request('GET', '/~hook-keys/schema/Contact/hooks/created')
        return body.failures.length > 0 ? body.failures : null
      })

      expect(failures[0].error).toContain('cannot create API keys')
      expect((await app.request('GET', '/~hook-keys/api-keys')).body.total).toBe(0)
    },
  )

  verifies('rights.hook.grant', 'a BEFORE hook reads only what the key that stored it may read', async () => {
    await app.request('POST', '/~hook-reads/Deal', { name: 'Secret deal' })
    const send = app.as(await app.key('hook-reads', 'admin:platform'))
    const code = 'async (entity, $) => { throw new Error(JSON.stringify(await $.Deal.find({}))) }'
    await send('PUT', '/~hook-reads/schema/Workflow/hooks/creating', { code })
    const refused = await send('POST', '/~hook-reads/Workflow', { name: 'w' })

    expect(refused.status).toBe(422)
    expect(refused.text).not.toContain('Secret deal')
  })

  verifies('rights.hook', 'a key stores hooks only for types that it may write, all rows of them', async () => {
    await app.request('POST', '/~hook-types/Contact', { name: 'Ada' })
    const put = async (scopes: string, more: object = {}) => {
      const send = app.as(await app.key('hook-types', scopes, more))
      return (await send('PUT', '/~hook-types/schema/Contact/hooks/creating', { code: '() => {}' })).status
    }

    expect(await put('admin:platform')).toBe(403)
    expect(await put('admin:all', { filter: { Contact: { title: 'mine' } } })).toBe(403)
    expect(await put('admin:platform,write:Contact')).toBe(201)
  })
})

describe('types', () => {
  verifies('rights.domain', 'a built-in type stays in its domain and at its path', async () => {
    await app.request('POST', '/~moved/Contact', { name: 'Ada' })
    const send = app.as(await app.key('moved', 'admin:platform'))
    const moved = await send('PUT', '/~moved/schema/Contact', { $domain: 'platform' })
    const renamed = await send('PUT', '/~moved/schema/Contact', { $path: 'people' })
    const read = await send('GET', '/~moved/Contact')

    expect([moved.status, renamed.status, read.status]).toEqual([422, 422, 403])
    expect(moved.body.details).toEqual([{ field: '$domain', message: expect.stringContaining('crm') }])
  })

  verifies('rights.domain.move', 'moving a type of the tenant needs admin on both domains', async () => {
    await app.request('PUT', '/~moving/schema/Ship', { name: 'string!', $domain: 'crm' })
    const move = async (scopes: string) =>
      (
        await app.as(await app.key('moving', scopes))('PUT', '/~moving/schema/Ship', {
          name: 'string!',
          $domain: 'support',
        })
      ).status

    expect(await move('admin:platform')).toBe(403)
    expect(await move('admin:platform,admin:support')).toBe(403)
    expect(await move('admin:platform,admin:support,admin:crm')).toBe(200)
  })
})

describe('a key with a row filter', () => {
  test('reads no hidden rows through the Event collection', async () => {
    const { at, send } = await narrowed('events')
    await app.request('POST', at('/events'), { name: 'Pageview', type: 'track' })
    const filter = encodeURIComponent(JSON.stringify({ type: 'verb' }))
    const pattern = encodeURIComponent(JSON.stringify({ name: { $regex: '^Contact' } }))
    const answers = [
      await send('GET', at(`/Event?filter=${filter}`)),
      await send('GET', at('/export/Event?format=ndjson')),
      await send('GET', at('/export/Event?format=csv')),
      await send('GET', at(`/Event/aggregate?group=name,data.name`)),
      await send('GET', at('/events')),
      await send('POST', at('/do'), { code: "await $.Event.find({ type: 'verb' })" }),
      await send('POST', at('/do'), { code: 'await $.events({})' }),
      await send('POST', at('/batch'), { operations: [{ id: 'a', method: 'GET', path: `/Event?filter=${filter}` }] }),
    ]
    const counts = [
      (await send('GET', at(`/Event/count?filter=${pattern}`))).body.count,
      (await send('GET', at('/Event/count?name=Contact.created'))).body.count,
    ]

    for (const answer of answers) {
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).not.toContain('Hidden Hugo')
    }
    expect(answers[0]!.text).toContain('Visible Vera')
    expect(counts).toEqual([1, 1])
  })

  verifies('rights.sync', 'is synchronised no events outside of its filter on Event', async () => {
    await app.request('POST', '/~sync-events/events', { name: 'mine', type: 'track' })
    await app.request('POST', '/~sync-events/events', { name: 'theirs', type: 'track' })
    const send = app.as(await app.key('sync-events', 'write:all', { filter: { Event: { name: 'mine' } } }))
    const { body } = await send('POST', '/~sync-events/sync', { changes: [] })

    expect(body.serverChanges.filter(({ type }: any) => type === 'Event').map(({ data }: any) => data.name)).toEqual([
      'mine',
    ])
  })

  verifies('rights.erase', 'erases no row that it does not see', async () => {
    const { at, hidden, mine, send } = await narrowed('erasing', 'admin:all')
    const erased = await send('POST', at(`/Contact/${hidden.$id}/erase`))
    const own = await send('POST', at(`/Contact/${mine.$id}/erase`))
    const kept = await app.request('GET', at(`/Contact/${hidden.$id}`))

    expect([erased.status, own.status, kept.status]).toEqual([404, 200, 200])
  })

  verifies(
    ['rights.history', 'rights.enter'],
    'reads no earlier state that it did not see, in history and diff',
    async () => {
      const { at, send } = await narrowed('history')
      const { $id } = (await app.request('POST', at('/Contact'), { name: 'Secret past', title: 'theirs' })).body
      await app.request('PUT', at(`/Contact/${$id}`), { name: 'Public present', title: 'mine' })
      const history = await send('GET', at(`/Contact/${$id}/history`))
      const diff = await send('GET', at(`/Contact/${$id}/diff?from=1&to=2`))
      const events = await send('GET', at('/events?type=Contact.updated'))

      expect(history.body).toMatchObject({ total: 1, results: [{ version: 2, previous: null }] })
      expect(diff.status).toBe(404)
      expect(events.body.results[0].data.name).toBe('Public present')
      expect(history.text + diff.text + events.text).not.toContain('Secret past')
    },
  )

  verifies('rights.ids', 'learns no hidden id from an undo or from a conflict', async () => {
    const { at, send } = await narrowed('ids', 'admin:all')
    const hidden = await app.request(
      'POST',
      at('/Contact'),
      { name: 'H', title: 'theirs', email: 'h@x.org' },
      { 'x-correlation-id': 'run-1' },
    )
    await app.request('PUT', at(`/Contact/${hidden.body.$id}`), { name: 'H2' })
    const undone = await send('POST', at('/undo/run-1'))
    const taken = await send('POST', at('/Contact'), { name: 'Me', title: 'mine', email: 'h@x.org' })

    expect([undone.status, taken.status]).toEqual([403, 409])
    expect(undone.text + taken.text).not.toContain(hidden.body.$id)
  })
})

describe('secrets', () => {
  verifies('rights.secret.kept', 'are in no answer that is kept for an Idempotency-Key, at any depth', async () => {
    await app.request('POST', '/~kept/Contact', { name: 'Ada' })
    const code =
      "const key = await $.ApiKey.create({ name: 'k', scopes: 'read:crm' }); console.log('made ' + key.secret); ({ deep: [{ in: key.secret }] })"
    const send = () => app.request('POST', '/~kept/do', { code }, { 'idempotency-key': 'once' })
    const first = await send()
    const second = await send()
    const { in: secret } = first.body.result.deep[0]
    expect(secret).toMatch(/^tb_/)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.text).not.toContain(secret)
    expect(app.stored()).toContain('ApiKey')
    expect(app.stored()).not.toContain(secret)
  })

  verifies('rights.secret.webhook', 'of webhooks are encrypted in the file', async () => {
    const { body } = await app.request('POST', '/~sealed/webhooks', {
      url: 'http://127.0.0.1:9/',
      events: ['*'],
      secret: 'a-signing-secret-of-mine',
    })
    expect(body.secret).toBe('a-signing-secret-of-mine')
    expect(app.stored()).toContain(body.$id)
    expect(app.stored()).not.toContain('a-signing-secret-of-mine')
  })

  verifies('rights.root', 'a root key of less than 32 characters is refused', async () => {
    needs('start at which settings are read: a Worker reads them with its first request')
    await expect(testApp({ TILDE_ROOT_KEY: 'a'.repeat(31) })).rejects.toThrow(SettingError)
  })
})

verifies('rights.replay', 'a kept answer is not replayed to a key that lost the rights for it', async () => {
  await app.request('POST', '/~replay/Contact', { name: 'Ada' })
  const { body: key } = await app.request('POST', '/~replay/api-keys', { name: 'k', scopes: 'write:crm' })
  const send = () => app.as(key.secret)('POST', '/~replay/Contact', { name: 'Bob' }, { 'idempotency-key': 'one' })
  const first = await send()
  const again = await send()
  await app.request('PUT', `/~replay/api-keys/${key.$id}`, { scopes: 'write:Deal' })
  const later = await send()

  expect([first.status, again.status, later.status]).toEqual([201, 201, 403])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
})

verifies(
  'rights.redirect',
  'what waits for a webhook stays at its address unless the request says redirect',
  async () => {
    const made = await app.request('POST', '/~redirect/webhooks', {
      url: 'http://127.0.0.1:9/old',
      events: ['Contact.*'],
    })
    await app.request('POST', '/~redirect/Contact', { name: 'Ada' })
    const path = `/~redirect/webhooks/${made.body.$id}`
    needs('file of a tenant that SQLite can open')
    const queued = () => sqlOf('redirect').map(([url]) => url)
    await app.request('PUT', path, { url: 'http://127.0.0.1:9/new' })
    const kept = queued()
    await app.request('POST', '/~redirect/Contact', { name: 'Bob' })
    await app.request('PUT', path, { url: 'http://127.0.0.1:9/newer', redirect: true })

    expect(kept).toEqual(['http://127.0.0.1:9/old'])
    expect(queued()).toEqual(['http://127.0.0.1:9/old', null])
  },
)

describe('revoking a key', () => {
  verifies('rights.made', 'lists what the key made, and suspends it when asked', async () => {
    await app.request('POST', '/~legacy/Contact', { name: 'Ada' })
    const { body: made } = await app.request('POST', '/~legacy/api-keys', { name: 'maker', scopes: 'admin:all' })
    const send = app.as(made.secret)
    const webhook = (await send('POST', '/~legacy/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'] })).body.$id
    await send('PUT', '/~legacy/schema/Contact/hooks/creating', { code: "() => ({ title: 'by hook' })" })
    const child = (await send('POST', '/~legacy/api-keys', { name: 'child', scopes: 'read:all' })).body
    const ship = { name: 'string!', length: 'number', twice: '= length * 2', due: 'datetime', late: 'boolean' }
    const verbs = { expire: { event: 'expired', set: { late: true } } }
    const timers = { end: { at: 'due', run: 'expire' } }
    await send('PUT', '/~legacy/schema/Ship', { ...ship, ...verbs, $timers: timers })
    const revoked = await app.request('POST', `/~legacy/api-keys/${made.$id}/revoke?cascade=true`)
    const contact = await app.request('POST', '/~legacy/Contact', { name: 'Bob' })

    expect(revoked.body.made).toEqual({
      webhooks: [webhook],
      hooks: ['hook_Contact-creating'],
      workflows: [],
      agents: [],
      integrations: [],
      timers: ['Ship.end'],
      computed: ['Ship.twice'],
      apiKeys: [child.$id],
    })
    expect((await app.request('GET', `/~legacy/webhooks/${webhook}`)).body.suspended).toBe(true)
    const after = await app.request('POST', '/~legacy/Ship', { name: 'Ark', length: 2, due: '2020-01-01T00:00:00Z' })
    expect(after.body).toMatchObject({ $id: expect.any(String) })
    expect(after.body.twice).toBeUndefined()
    await app.request('PUT', '/~legacy/schema/Ship', { ...ship, ...verbs, twice: '= length * 2 + 0', $timers: timers })
    const again = await app.request('POST', '/~legacy/Ship', { name: 'Elk', length: 2 })
    expect(again.body.twice).toBe(4)
    expect(contact.body.title).toBeUndefined()
    expect((await app.as(child.secret)('GET', '/~legacy/Contact')).status).toBe(401)
  })

  test('without cascade what the key made continues', async () => {
    await app.request('POST', '/~lasting/Contact', { name: 'Ada' })
    const { body: made } = await app.request('POST', '/~lasting/api-keys', { name: 'maker', scopes: 'admin:all' })
    await app.as(made.secret)('PUT', '/~lasting/schema/Contact/hooks/creating', {
      code: "() => ({ title: 'by hook' })",
    })
    const revoked = await app.request('POST', `/~lasting/api-keys/${made.$id}/revoke`)
    const contact = await app.request('POST', '/~lasting/Contact', { name: 'Bob' })

    expect(revoked.body.made.hooks).toEqual(['hook_Contact-creating'])
    expect(contact.body.title).toBe('by hook')
  })
})

describe('suspending a person', () => {
  /** A person who has stored a webhook, a hook and a key. */
  async function maker(at: string) {
    const draft = { name: 'Ada', email: 'ada@example.org', role: 'Admin' }
    const { body: user } = await app.request('POST', `${at}/User`, draft)
    const { body } = await app.request('POST', `${at}/User/${user.$id}/invite`)
    const password = 'correct horse battery'
    await app.as('')('POST', `${at}/invitation/accept`, { token: body.invitation.split('#')[1], password })
    const signed = await app.as('')('POST', `${at}/session`, { email: draft.email, password })
    const headers = {
      cookie: signed.headers.get('set-cookie')!.split(';')[0]!,
      'x-tilde-csrf': signed.body.csrf,
    }
    const send = (method: string, path: string, data: object) => app.as('')(method, `${at}${path}`, data, headers)
    const webhook = (await send('POST', '/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'] })).body.$id
    await send('PUT', '/schema/Contact/hooks/creating', { code: "() => ({ title: 'by hook' })" })
    const key = (await send('POST', '/api-keys', { name: 'child', scopes: 'read:all' })).body
    return { user: user.$id, webhook, key }
  }

  verifies('rights.person.made', 'lists what they made, which continues', async () => {
    const { user, webhook, key } = await maker('/~staying')

    const { body } = await app.request('POST', `/~staying/User/${user}/suspend`)

    expect(body.made).toEqual({
      webhooks: [webhook],
      hooks: ['hook_Contact-creating'],
      workflows: [],
      agents: [],
      integrations: [],
      timers: [],
      computed: [],
      apiKeys: [key.$id],
    })
    expect((await app.request('POST', '/~staying/Contact', { name: 'Bob' })).body.title).toBe('by hook')
    expect((await app.as(key.secret)('GET', '/~staying/Contact')).status).toBe(200)
  })

  verifies('rights.person.made', 'suspends it and revokes their keys when asked', async () => {
    const { user, webhook, key } = await maker('/~leaving')

    await app.request('POST', `/~leaving/User/${user}/suspend?cascade=true`)

    expect((await app.request('GET', `/~leaving/webhooks/${webhook}`)).body.suspended).toBe(true)
    expect((await app.request('POST', '/~leaving/Contact', { name: 'Bob' })).body.title).toBeUndefined()
    expect((await app.as(key.secret)('GET', '/~leaving/Contact')).status).toBe(401)
  })
})

describe('rights that a key does not hold', () => {
  test('a key of Goals learns no value of a Metric', async () => {
    const metric = (await app.request('POST', '/~goals/Metric', { name: 'mrr2', value: 4711 })).body.$id
    const send = app.as(await app.key('goals', 'write:Goal'))
    const goal = await send('POST', '/~goals/Goal', { name: 'g', metric, target: 1 })

    expect(goal.status).toBe(403)
    expect(goal.text).not.toContain('4711')
  })

  verifies('rights.cover', 'a key changes, revokes and deletes no key that can do more', async () => {
    const { body: strong } = await app.request('POST', '/~lower/api-keys', { name: 'all', scopes: 'admin:all' })
    const send = app.as(await app.key('lower', 'admin:identity'))
    const path = `/~lower/api-keys/${strong.$id}`
    const answers = [
      await send('PUT', path, { scopes: 'read:identity' }),
      await send('POST', `${path}/revoke`),
      await send('DELETE', path),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
    expect((await app.as(strong.secret)('GET', '/~lower/Contact')).status).toBe(200)
  })

  test('a path that begins with two slashes is not an address', async () => {
    const page = await app.request('GET', '//evil/~x/docs', undefined, { accept: 'text/html' })

    expect(page.status).toBe(400)
  })
})

verifies('rights.operator.log', 'what the operator does with tenants is in the operator log', async () => {
  await app.request('POST', '/~journal/Contact', { name: 'Ada' })
  const paths = ['/operator/tenants/journal/backup', '/operator/tenants/journal/log']
  const read = await Promise.all(paths.map((path) => app.request('GET', path)))
  await app.request('DELETE', '/operator/tenants/journal')
  // A host without files answers the first with 501.
  const backups = read.filter(({ status }) => status === 200)
  const { body } = await app.request('GET', `/operator/log?limit=${1 + backups.length}`)
  const refused = await app.as(await app.key('journal2', 'admin:all'))('GET', '/operator/log')

  expect(body.results.map(({ action, tenant }: any) => [action, tenant])).toEqual([
    ['delete', 'journal'],
    ...backups.map(() => ['backup', 'journal']),
  ])
  expect(backups.length).toBeGreaterThan(0)
  expect(refused.status).toBe(403)
})

verifies('rights.operator.log', 'of a series of reads of a log, the first is recorded, and its failures', async () => {
  const recorded = async () => {
    const { body } = await app.request('GET', '/operator/log?limit=1000')
    const rows = body.results.filter(({ tenant }: any) => tenant === 'series')
    return rows.map(({ action, failed }: any) => (failed ? `${action} failed` : action)).toReversed()
  }
  const read = (after: number) => app.request('GET', `/operator/tenants/series/log?after=${after}`)
  for (const name of ['Ada', 'Bob', 'Cleo']) await app.request('POST', '/~series/Contact', { name })

  for (const after of [0, 1, 2, 2, 3, 3]) await read(after)
  const followed = await recorded()
  // This one returns what was read before, so it is not part of the series.
  await read(1)
  const again = await recorded()
  for (const after of [9, 9, 3]) await read(after)

  expect(followed).toEqual(['backup'])
  expect(again).toEqual(['backup', 'backup'])
  expect(await recorded()).toEqual(['backup', 'backup', 'backup failed', 'backup'])
})

async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (let i = 0; i < 200; i++) {
    const found = await look()
    if (found !== null) return found
    await new Promise((later) => setTimeout(later, 25))
  }
  throw new Error('It did not happen.')
}

/** The addresses that deliveries of a tenant wait for, read from a copy of its file. */
function sqlOf(tenant: string): any[][] {
  const copy = join(app.data, `${tenant}.copy`)
  for (const suffix of ['', '-wal'])
    copyFileSync(join(app.data, `tenants/${tenant.slice(0, 2)}/${tenant}.db${suffix}`), `${copy}${suffix}`)
  const sql = openSql(copy)
  const rows = sql.rows('SELECT url FROM outbox WHERE due IS NOT NULL ORDER BY id')
  sql.close()
  rmSync(copy)
  return rows
}
