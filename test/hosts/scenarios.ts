import { createHash, createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import {
  fromBase64,
  isConsistent,
  leafHash,
  parseCheckpoint,
  parseNote,
  rootOfInclusion,
  validSignatures,
} from '@tildebase/nouns'
import { expect } from 'vitest'
import { ROOT } from '../host.ts'
import { fieldsOf, pkce } from '../people/agents.ts'
import { Authenticator } from '../people/authenticator.ts'
import { ed25519, sha256 } from '../proof/crypto.ts'
import { Receiver } from '../receiver.ts'
import { Sse } from '../sse.ts'
import type { Stage } from './ask.ts'

/** A type whose verb runs at the time of a field. */
const ALARM = {
  status: 'Armed | Off = Armed',
  ringAt: 'datetime',
  ring: { event: 'rang' },
  $timers: { ring: { at: 'ringAt', from: 'Armed', run: 'ring' } },
}

/** What must be so on every host. Each scenario has its own tenant, whose path is `at`. */
export const SCENARIOS: { readonly [title: string]: (stage: Stage, at: string) => Promise<void> } = {
  'a tenant that was only read does not exist': async ({ request }, at) => {
    for (const path of [
      'Contact',
      'Contact/count',
      'events',
      'schema',
      'metrics',
      'export/Contact',
      'manifest',
      'checkpoint',
    ]) {
      expect((await request('GET', `${at}/${path}`)).status, path).toBe(200)
    }
    expect((await request('POST', `${at}/Contact`, { name: 3 })).status).toBe(422)
    expect((await request('POST', `${at}/Contact?dryRun=true`, { name: 'Ada' })).body.status).toBe(201)

    expect((await request('GET', `/operator/tenants/${at.slice(2)}`)).status).toBe(404)
  },

  'entities are created, read, changed and deleted': async ({ request }, at) => {
    const created = await request('POST', `${at}/Contact`, {
      name: 'Ada',
      email: 'ada@x.de',
      extra: { deep: ['ü', 1.5] },
    })
    expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"'])
    const path = `${at}/Contact/${created.body.$id}`

    const updated = await request('PUT', path, { email: null }, { 'if-match': '"1"' })
    const stale = await request('PATCH', path, { name: 'Eve' }, { 'if-match': '"1"' })

    expect(updated.body).toMatchObject({ $version: 2, name: 'Ada', extra: { deep: ['ü', 1.5] } })
    expect(stale.status).toBe(412)
    expect((await request('GET', path, undefined, { 'if-none-match': '"2"' })).status).toBe(304)
    expect([(await request('DELETE', path)).status, (await request('GET', path)).status]).toEqual([204, 404])
  },

  'checkpoints are signed by a published key, and events and earlier logs are proved': async ({ request }, at) => {
    const rows = Array.from({ length: 40 }, (_, i) => ({ name: `Person ${i}` }))
    await request('POST', `${at}/import/Contact`, rows)
    const checkpoint = async () => {
      const note = parseNote((await request('GET', `${at}/checkpoint`)).text)!
      return { note, ...parseCheckpoint(note.text)! }
    }
    const first = await checkpoint()
    await request('POST', `${at}/Contact`, { name: 'Ada' })
    const second = await checkpoint()

    const { keys } = (await request('GET', '/.well-known/tilde-keys')).body
    const key = { name: first.origin, use: 'note', publicKey: fromBase64(keys[0].publicKey)! } as const
    expect(first.origin).toMatch(new RegExp(`/${at.slice(1)}$`))
    expect(await validSignatures(sha256, ed25519, second.note, [key])).toHaveLength(1)
    const { body: consistency } = await request('GET', `${at}/consistency?from=40&to=41`)
    expect(isConsistent(sha256, first, second, consistency.proof.map(fromBase64))).toBe(true)
    const { body } = await request('GET', `${at}/proof/23`)
    const leaf = sha256(fromBase64(body.entry.before)!, body.entry.header, fromBase64(body.entry.digest)!)
    const root = rootOfInclusion(sha256, leafHash(sha256, leaf), 22, 41, body.proof.map(fromBase64))
    expect(Buffer.from(root!)).toEqual(Buffer.from(second.root))
    expect((await request('GET', `/operator/tenants/${at.slice(2)}/verify`)).body).toMatchObject({ ok: true })
  },

  'verbs move an entity from state to state': async ({ request }, at) => {
    const { body: contact } = await request('POST', `${at}/Contact`, { name: 'Ada' })

    expect((await request('POST', `${at}/Contact/${contact.$id}/qualify`)).body.stage).toBe('Qualified')
    expect((await request('POST', `${at}/Contact/${contact.$id}/qualify`)).body.error).toBe('invalid_transition')
  },

  'types compute, guard, keep unique and change what is stored': async ({ request }, at) => {
    await request('PUT', `${at}/schema/Order`, {})
    const line = { order: '-> Order', place: 'number 1..', price: 'number', $unique: [['order', 'place']] }
    await request('PUT', `${at}/schema/Line`, line)
    const declared = await request('PUT', `${at}/schema/Order`, {
      status: 'Draft | Placed = Draft',
      lines: '<- Line.order[]',
      total: '= sum(lines.price)',
      place: { from: 'Draft', set: { status: 'Placed' } },
      $guarded: true,
    })
    expect(declared.status).toBe(200)
    const { body: order } = await request('POST', `${at}/Order`, {})
    await request('POST', `${at}/Line`, { order: order.$id, place: 1, price: 0.1 })
    const { body: second } = await request('POST', `${at}/Line`, { order: order.$id, place: 2, price: 0.2 })
    const then = (await request('GET', `${at}/events?limit=1000`)).body.results.at(-1).seq

    const twice = await request('POST', `${at}/Line`, { order: order.$id, place: 2 })
    const past = await request('PUT', `${at}/Order/${order.$id}`, { status: 'Placed' })
    await request('DELETE', `${at}/Line/${second.$id}`)
    const renamed = await request('POST', `${at}/schema/Order/rename`, { from: 'total', to: 'sum' })
    await request('PUT', `${at}/schema/Parcel`, { size: 'number' })
    await request('POST', `${at}/import/Parcel`, [{ size: 1 }])
    const retyped = await request('POST', `${at}/schema/Parcel/retype`, { field: 'size', to: 'string' })

    expect([twice.status, past.status, past.body.verbs]).toEqual([409, 409, ['place']])
    expect([renamed.body.migrated, retyped.body.migrated]).toEqual([1, 1])
    expect((await request('GET', `${at}/Order/${order.$id}`)).body).toMatchObject({ sum: 0.1, status: 'Draft' })
    expect((await request('GET', `${at}/Order/${order.$id}?asOf=${then}`)).body.total).toBe(0.3)
    expect((await request('GET', `${at}/Parcel?size=1`)).body.results[0].size).toBe('1')
    expect((await request('GET', `/operator/tenants/${at.slice(2)}/verify`)).body.ok).toBe(true)
  },

  'contacts are merged, leads converted, forms sent and invoices added up': async ({ request }, at) => {
    const make = async (type: string, fields: object) => (await request('POST', `${at}/${type}`, fields)).body.$id
    const [source, target] = [
      await make('Contact', { name: 'S', email: 's@x.de' }),
      await make('Contact', { name: 'T' }),
    ]
    const deal = await make('Deal', { name: 'D', contact: source })
    const merged = await request('POST', `${at}/Contact/${source}/merge`, { into: target })
    const lead = await make('Lead', { name: 'L' })
    const converted = await request('POST', `${at}/Lead/${lead}/convert`, { deal: { value: 1 }, contact: target })
    const form = await make('Form', { name: 'F', status: 'Published' })
    await request('POST', `${at}/Form/${form}/submit`, { name: 'Ada' })
    const invoice = await request('POST', `${at}/Invoice`, { number: '1', lineItems: [{ quantity: 2, unitPrice: 5 }] })

    expect(merged.body).toMatchObject({ $id: target, email: 's@x.de' })
    expect((await request('GET', `${at}/Deal/${deal}`)).body.contact).toBe(target)
    expect((await request('GET', `${at}/Deal/${converted.body.deal}`)).body).toMatchObject({
      name: 'L',
      contact: target,
    })
    expect((await request('GET', `${at}/Form/${form}/submissions`)).body.results[0].data).toEqual({ name: 'Ada' })
    expect(invoice.body).toMatchObject({ subtotal: 10, total: 10, amountDue: 10 })
    const undone = await request('POST', `${at}/undo/${merged.headers.get('x-tilde-correlation')}`)
    expect([undone.status, (await request('GET', `${at}/Contact/${source}`)).status]).toEqual([200, 200])
  },

  'a key opens its tenant, as far as its scopes reach, until it is revoked': async ({ request, as }, at) => {
    const { body: key } = await request('POST', `${at}/api-keys`, { name: 'crm', scopes: 'read:crm' })

    expect((await as(key.secret)('GET', `${at}/Contact`)).status).toBe(200)
    expect((await as(key.secret)('POST', `${at}/Contact`, { name: 'Ada' })).status).toBe(403)
    expect((await as(key.secret)('GET', '/~another/Contact')).status).toBe(403)
    expect((await as('')('GET', `${at}/Contact`)).status).toBe(401)
    expect((await request('POST', `${at}/api-keys/${key.$id}/revoke`)).status).toBe(200)
    expect((await as(key.secret)('GET', `${at}/Contact`)).status).toBe(401)
  },

  'a key expires when its time has come, though nobody asks': async ({ request }, at) => {
    const expiresAt = new Date(Date.now() + 2_000).toISOString()
    expect((await request('POST', `${at}/api-keys`, { name: 'short', expiresAt })).status).toBe(201)

    const expired = () => request('GET', `${at}/events?type=ApiKey.expired`)
    await expect.poll(async () => (await expired()).body.results.length, { timeout: 20_000 }).toBe(1)
  },

  'lists are filtered, sorted, walked by cursor and joined': async ({ request }, at) => {
    const { body: org } = await request('POST', `${at}/Organization`, { name: 'Analytical', industry: 'Healthcare' })
    const operations = Array.from({ length: 60 }, (_, i) => ({
      id: `op${i}`,
      method: 'POST',
      path: '/Contact',
      body: { name: `Person ${i}`, leadScore: i % 7, ...(i % 2 && { organization: org.$id }) },
    }))
    expect((await request('POST', `${at}/batch`, { operations })).status).toBe(200)
    const list = (filter: object, more = '') =>
      request('GET', `${at}/Contact?filter=${encodeURIComponent(JSON.stringify(filter))}${more}`)

    expect((await list({ 'organization.industry': 'Healthcare', leadScore: { $gte: 3 } })).body.total).toBe(17)
    expect((await list({ leadScore: { $in: Array.from({ length: 150 }, (_, i) => i + 5) } })).body.total).toBe(16)
    expect((await list({ name: { $regex: '^person 1\\d$', $options: 'i' } })).body.total).toBe(10)
    expect((await list({ $or: [{ leadScore: 1 }, { name: 'Person 59' }] })).body.total).toBe(10)
    expect(
      (await list({ organization: { $exists: true } }, '&include=organization&limit=1')).body.results[0].organization
        .name,
    ).toBe('Analytical')
    const names: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await request('GET', `${at}/Contact?sort=-leadScore,name&limit=25&cursor=${cursor}`)
      names.push(...body.results.map((contact: { name: string }) => contact.name))
      if (!body.hasMore) break
      cursor = body.cursor
    }
    expect(new Set(names).size).toBe(60)
  },

  'texts are found by the beginnings of their words': async ({ request }, at) => {
    await request('POST', `${at}/Contact`, { name: 'Grüne Wiese' })
    await request('POST', `${at}/Contact`, { name: 'Graue Stadt' })
    const find = (text: string) =>
      request('GET', `${at}/Contact?filter=${encodeURIComponent(JSON.stringify({ $text: text }))}`)

    expect((await find('gru wie')).body.results.map((one: { name: string }) => one.name)).toEqual(['Grüne Wiese'])
    expect((await find('gra')).body.total).toBe(1)
  },

  'the past is listed, told and rolled back to': async ({ request }, at) => {
    const { body: first } = await request('POST', `${at}/Contact`, { name: 'Ada' })
    await pause()
    const path = `${at}/Contact/${first.$id}`
    const { body: second } = await request('PUT', path, { name: 'Ada L.' })
    await pause()
    await request('DELETE', path)

    expect((await request('GET', `${at}/Contact?asOf=${first.$updatedAt}`)).body.results[0].name).toBe('Ada')
    expect((await request('GET', `${path}?asOf=${second.$updatedAt}`)).body.name).toBe('Ada L.')
    expect((await request('GET', `${path}/history`)).body.total).toBe(3)
    expect((await request('POST', `${path}/restore`)).status).toBe(200)
    expect((await request('POST', `${path}/rollback`, { asOf: first.$updatedAt })).body.name).toBe('Ada')
  },

  'a batch is one commit, and refers to its own results': async ({ request }, at) => {
    const operations = [
      { id: 'a', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
      { id: 'b', method: 'POST', path: '/Deal', body: { name: 'Engine', contact: { $ref: 'a', path: '$id' } } },
    ]
    const broken = { id: 'c', method: 'POST', path: '/Contact', body: {} }

    const good = await request('POST', `${at}/batch`, { atomic: true, operations })
    const bad = await request('POST', `${at}/batch`, { atomic: true, operations: [...operations, broken] })

    expect(good.body.results.map((result: { status: number }) => result.status)).toEqual([201, 201])
    expect([bad.status, bad.body.error]).toEqual([422, 'batch_failed'])
    expect((await request('GET', `${at}/Contact`)).body.total).toBe(1)
  },

  'an Idempotency-Key is answered once': async ({ request }, at) => {
    const send = (name: string) => request('POST', `${at}/Contact`, { name }, { 'idempotency-key': 'one' })

    const [first, again, other] = [await send('Ada'), await send('Ada'), await send('Eve')]

    expect([first.body.$id, again.headers.get('idempotency-replayed')]).toEqual([again.body.$id, 'true'])
    expect(other.status).toBe(422)
  },

  'the change stream tells everything once, and live': async ({ request, url }, at) => {
    await request('POST', `${at}/Contact`, { name: 'First' })
    const live = await Sse.open(`${url}${at}/events`, ROOT)
    await request('POST', `${at}/Contact`, { name: 'Second' })
    await live.got(2)
    live.close()
    await request('POST', `${at}/Contact`, { name: 'Third' })

    const resumed = await Sse.open(`${url}${at}/events`, ROOT, { 'last-event-id': live.messages.at(-1)!.id })
    const [third] = await resumed.got(1)
    resumed.close()

    expect(third).toMatchObject({ id: '3', event: 'Contact.created', data: { data: { name: 'Third' } } })
    const { body } = await request('GET', `${at}/events?limit=2`)
    expect([body.results.length, body.cursor, body.hasMore]).toEqual([2, '2', true])
  },

  'thousands of rows come in and go out in every format': async ({ request }, at) => {
    const rows = Array.from({ length: 3_000 }, (_, i) => JSON.stringify({ name: `Person ${i}`, leadScore: i })).join(
      '\n',
    )
    const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' }

    const imported = await request('POST', `${at}/import/Contact`, gzipSync(`${rows}\n{"name":3}\n`), headers)

    expect(imported.body).toMatchObject({ imported: 3_000, success: true })
    for (const [format, lines] of [
      ['csv', 3_002],
      ['ndjson', 3_001],
    ] as const) {
      expect((await request('GET', `${at}/export/Contact?format=${format}`)).text.split('\n').length).toBe(lines)
    }
    expect((await request('GET', `${at}/export/Contact?format=json`)).body).toHaveLength(3_000)
    const { bytes } = (await request('GET', `${at}/export/Contact?format=parquet`)) as unknown as { bytes: Uint8Array }
    const { body: manifest } = await request('GET', `${at}/manifest`)
    expect(manifest.files['Contact.parquet'].hash).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
  },

  'a replica is synchronised': async ({ request }, at) => {
    const { body: ada } = await request('POST', `${at}/Contact`, { name: 'Ada' })
    const changes = [
      {
        type: 'Contact',
        id: 'contact_fromAReplica',
        operation: 'create',
        data: { name: 'Bob' },
        timestamp: new Date().toISOString(),
      },
    ]

    const first = await request('POST', `${at}/sync`, { replica: 'r1', changes })
    const again = await request('POST', `${at}/sync`, { replica: 'r1', changes, lastSyncAt: first.body.syncedAt })

    expect(first.body).toMatchObject({ applied: 1, conflicts: 0 })
    expect(first.body.serverChanges.map((change: { id: string }) => change.id)).toContain(ada.$id)
    expect(again.body).toMatchObject({ applied: 1, conflicts: 0 })
    expect((await request('GET', `${at}/Contact`)).body.total).toBe(2)
  },

  'business metrics are counted': async ({ request }, at) => {
    await request('POST', `${at}/Deal`, { name: 'Engine', value: 100, stage: 'Proposal' })

    expect((await request('GET', `${at}/metrics`)).body.pipeline).toMatchObject({ totalDeals: 1, totalValue: 100 })
    expect((await request('GET', `${at}/Metric/pipeline`)).body.value).toBe(100)
  },

  'types of the tenant’s own are declared and indexed': async ({ request }, at) => {
    await request('PUT', `${at}/schema/Ship`, { name: 'string!##', knots: 'number' })
    await request('POST', `${at}/Ship`, { name: 'Dove', knots: 3 })
    await request('PUT', `${at}/schema/Ship`, { name: 'string!##', knots: 'number#' })

    expect((await request('POST', `${at}/Ship`, { name: 'Dove' })).body.error).toBe('conflict')
    expect((await request('GET', `${at}/Ship?knots=3`)).body.total).toBe(1)
    expect((await request('GET', `${at}/openapi.json`)).body.paths).toBeTypeOf('object')
  },

  'agents speak MCP and run code': async ({ request }, at) => {
    await request('POST', `${at}/Contact`, { name: 'Ada' })
    const mcp = async (method: string, params: object) => {
      const accept = 'application/json, text/event-stream'
      const reply = await request(
        'POST',
        `${at}/mcp`,
        { jsonrpc: '2.0', id: 1, method, params },
        { accept, 'mcp-protocol-version': '2025-06-18' },
      )
      return JSON.parse(reply.text.replace(/^[\s\S]*?data: (?=\{)/, '')).result
    }

    const { tools } = await mcp('tools/list', {})
    const found = await mcp('tools/call', { name: 'search', arguments: { type: 'Contact', filter: { name: 'Ada' } } })
    const run = await request('POST', `${at}/do`, { code: 'await $.Contact.count()' })

    expect(tools.map((tool: { name: string }) => tool.name).toSorted()).toEqual(['do', 'fetch', 'search'])
    expect(found.structuredContent.total).toBe(1)
    expect(run.body.result, run.text).toBe(1)
    const ran = await mcp('tools/call', { name: 'do', arguments: { code: 'const n: number = 2; [n]' } })
    expect(ran.structuredContent.result).toEqual([2])
  },

  'code is TypeScript and can be tried without a trace': async ({ request }, at) => {
    const code = `const names: string[] = ['Ada', 'Bob']
      for (const name of names) await $.Contact.create({ name } as any)
      ;(await $.Contact.find({ name: 'Ada' }))!.map(({ name }: { name: string }) => name)`
    const tried = await request('POST', `${at}/do?dryRun=true`, { code })
    const before = await request('GET', `${at}/Contact`)
    const done = await request('POST', `${at}/do`, { code })
    const outside = await request('POST', `${at}/do`, { code: 'typeof fetch + typeof process + typeof WebAssembly' })

    expect([tried.body.result, tried.body.events.length]).toEqual([['Ada'], 2])
    expect(before.body.total).toBe(0)
    expect(done.body.result).toEqual(['Ada'])
    expect(outside.body.result).toBe('undefinedundefinedundefined')
    expect((await request('POST', `${at}/undo/${done.body.correlation}`)).status).toBe(200)
    expect((await request('GET', `${at}/Contact`)).body.total).toBe(0)
  },

  'stored hooks change, refuse and follow what is written': async ({ request }, at) => {
    const hook = async (name: string, code: string) => {
      const { status, text } = await request('PUT', `${at}/schema/Contact/hooks/${name}`, { code })
      expect(status, text).toBeLessThan(300)
    }
    await hook(
      'creating',
      "(c) => { if (c.name === 'Eve') throw new Error('Not her.'); return { title: c.name.toUpperCase() } }",
    )
    await hook('created', '(c, $) => $.Comment.create({ body: `made ${c.name}` })')

    const ada = await request('POST', `${at}/Contact`, { name: 'Ada' })
    const eve = await request('POST', `${at}/Contact`, { name: 'Eve' })

    expect(ada.body.title, ada.text).toBe('ADA')
    expect([eve.status, eve.body.error]).toEqual([422, 'rejected'])
    const comments = async () => (await request('GET', `${at}/Comment`)).body.results.map((one: any) => one.body)
    await expect.poll(comments, { timeout: 20_000 }).toEqual(['made Ada'])
  },

  'a webhook is told, signed, and again after it failed': async ({ request }, at) => {
    const receiver = await Receiver.start()
    try {
      receiver.answer(500)
      const { body: webhook } = await request('POST', `${at}/webhooks`, { url: receiver.url, events: ['Contact.*'] })
      await request('POST', `${at}/Contact`, { name: 'Ada' })
      await receiver.got(1)
      receiver.answer(204)

      const [, again] = await receiver.got(2)

      const sum = createHmac('sha256', webhook.secret).update(again!.text).digest('hex')
      expect(again!.headers['x-service-signature']).toBe(`sha256=${sum}`)
      expect(again!.body).toMatchObject({ type: 'Contact.created', tenant: at.slice(2), data: { name: 'Ada' } })
    } finally {
      await receiver.stop()
    }
  },

  'a timer runs its verb at its time, though nobody asks, and is listed before': async ({ request }, at) => {
    await request('PUT', `${at}/schema/Alarm`, ALARM)
    const ringAt = new Date(Date.now() + 1_500).toISOString()
    const { body: alarm } = await request('POST', `${at}/Alarm`, { ringAt })
    const { body: off } = await request('POST', `${at}/Alarm`, { ringAt, status: 'Off' })

    const listed = await request('GET', `${at}/Alarm/${alarm.$id}/timers`)
    const rang = async () => (await request('GET', `${at}/events?type=Alarm.rang`)).body.results
    expect(listed.body).toMatchObject({ timers: [{ name: 'ring', at: ringAt, run: 'ring', status: 'Waiting' }] })
    expect(await rang()).toEqual([])
    await expect.poll(async () => (await rang()).length, { timeout: 20_000 }).toBe(1)

    expect((await rang())[0]).toMatchObject({ entityId: alarm.$id, actor: 'timer:Alarm.ring' })
    expect((await request('GET', `${at}/Alarm/${alarm.$id}/timers`)).body).toEqual({ timers: [], total: 0 })
    await expect
      .poll(async () => (await request('GET', `${at}/Alarm/${off.$id}/timers`)).body.total, { timeout: 20_000 })
      .toBe(0)
  },

  'workflows run for events, by schedule and by hand': async ({ request }, at) => {
    const note = (body: string) => ({ verb: 'create', type: 'Comment', args: { body } })
    const draft = {
      name: 'w',
      triggerEvent: 'Contact.created',
      filter: { title: 'new' },
      steps: [note('$event.data.name')],
    }
    const { body: workflow } = await request('POST', `${at}/Workflow`, draft)
    const path = `${at}/Workflow/${workflow.$id}`
    const { body: timed } = await request('POST', `${at}/workflows`, {
      name: 't',
      schedule: '* * * * * * Europe/Berlin',
      steps: [note('tick')],
    })
    for (const id of [workflow.$id, timed.$id]) {
      expect((await request('POST', `${at}/Workflow/${id}/activate`)).status).toBe(200)
    }
    const bodies = async (filter: object) =>
      (await request('GET', `${at}/Comment?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body.results

    await request('POST', `${at}/Contact`, { name: 'Ada', title: 'new' })
    await request('POST', `${at}/Contact`, { name: 'Bob', title: 'old' })
    await expect.poll(async () => (await bodies({ body: 'Ada' })).length, { timeout: 20_000 }).toBe(1)
    await expect.poll(async () => (await bodies({ body: 'tick' })).length, { timeout: 20_000 }).toBeGreaterThan(1)
    await request('POST', `${at}/Workflow/${timed.$id}/pause`)
    expect(await bodies({ body: 'Bob' })).toEqual([])
    const runs = await request('GET', `${path}/runs`)
    expect(runs.body).toMatchObject({ total: 1, results: [{ status: 'Succeeded', trigger: 'event' }] })
    const run = await request('GET', `${path}/runs/${runs.body.results[0].id}`)
    expect(run.body.steps).toMatchObject([{ verb: 'create', status: 'Succeeded', output: { body: 'Ada' } }])
    expect((await request('POST', `${path}/runs/${run.body.id}/retry`)).status).toBe(409)
    const test = await request('POST', `${path}/test`, { event: { type: 'Contact.created', data: { name: 'Eve' } } })
    expect(test.body).toMatchObject({ dryRun: true, matches: false, steps: [{ output: { body: 'Eve' } }] })
    expect(await bodies({ body: 'Eve' })).toEqual([])
    expect((await request('POST', `${path}/trigger`)).body.runCount).toBe(2)
    const failed = async () => (await request('GET', `${path}/runs?status=Succeeded`)).body.total
    await expect.poll(failed, { timeout: 20_000 }).toBe(2)

    const coded = {
      name: 'c',
      triggerEvent: 'Organization.created',
      steps: [{ code: 'async (event, $) => (await $.Comment.create({ body: event.data.name })).$id' }],
    }
    const { body: code } = await request('POST', `${at}/Workflow`, coded)
    await request('POST', `${at}/Workflow/${code.$id}/activate`)
    await request('POST', `${at}/Organization`, { name: 'by code' })
    await expect.poll(() => bodies({ body: 'by code' }), { timeout: 20_000 }).toHaveLength(1)
  },

  'a fork and a restored log do not run what was due before': async ({ request }, at) => {
    const tenant = `/operator/tenants/${at.slice(2)}`
    await request('PUT', `${at}/schema/Alarm`, ALARM)
    // Its time comes, and nothing is done: then it is switched on again, so that only the timer of a copy could ring it.
    const { body: past } = await request('POST', `${at}/Alarm`, { ringAt: new Date().toISOString(), status: 'Off' })
    const timers = async () => (await request('GET', `${at}/Alarm/${past.$id}/timers`)).body.total
    await expect.poll(timers, { timeout: 20_000 }).toBe(0)
    await request('PUT', `${at}/Alarm/${past.$id}`, { status: 'Armed' })
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const { body: next } = await request('POST', `${at}/Alarm`, { ringAt: later })

    await request('POST', `${tenant}/fork`, { to: `${at.slice(2)}-fork` })
    const { text } = await request('GET', `${tenant}/log`)
    await request('PUT', `${tenant}-copy/log`, text)

    for (const copy of [`${at}-fork`, `${at}-copy`]) {
      const waiting = async () => (await request('GET', `${copy}/Alarm/${next.$id}/timers`)).body.timers
      await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBe(1)
      expect((await waiting())[0]).toMatchObject({ at: later, status: 'Waiting' })
      expect((await request('GET', `${copy}/Alarm/${past.$id}/timers`)).body.total).toBe(0)
      expect((await request('GET', `${copy}/events?type=Alarm.rang`)).body.results).toEqual([])
    }
  },

  'a large entity is kept, a too large one is refused with the limit': async ({ request }, at) => {
    const { body } = await request('POST', `${at}/Contact`, { name: 'Ada', notes: 'ä'.repeat(300_000) })

    const updated = await request('PUT', `${at}/Contact/${body.$id}`, { notes: 'ö'.repeat(300_000) })
    const refused = await request('PUT', `${at}/Contact/${body.$id}`, { notes: 'x'.repeat(1_100_000) })

    expect(updated.body.$version).toBe(2)
    expect([refused.status, refused.body.error]).toEqual([413, 'too_large'])
  },

  'a tenant moves away and back as its log': async ({ request }, at) => {
    await request('POST', `${at}/Contact`, { name: 'Ada' })
    const tenant = `/operator/tenants/${at.slice(2)}`
    const { text } = await request('GET', `${tenant}/log`)
    const before = await request('GET', `${tenant}/verify`)

    expect((await request('DELETE', tenant)).status).toBe(204)
    // Where only the operator creates tenants, one that was deleted is unknown.
    expect((await request('GET', `${at}/Contact`)).body.total).toBe(0)
    expect((await request('PUT', `${tenant}/log`, text.replace('Ada', 'Eve'))).status).toBe(422)
    expect((await request('GET', tenant)).status).toBe(404)
    expect((await request('PUT', `${tenant}/log`, text)).status).toBe(201)

    expect((await request('GET', `${tenant}/verify`)).body).toEqual(before.body)
    expect(before.body.ok).toBe(true)
    expect((await request('GET', `${at}/Contact?filter={"$text":"ada"}`)).body.total).toBe(1)
  },

  'a write is proposed, shown as a diff, and approved': async ({ request, as }, at) => {
    const { body: ada } = await request('POST', `${at}/Contact`, { name: 'Ada' })
    const { body: key } = await request('POST', `${at}/api-keys`, { name: 'agent', scopes: 'propose:crm' })

    const plain = await as(key.secret)('PUT', `${at}/Contact/${ada.$id}`, { title: 'x' })
    const proposed = await as(key.secret)('PUT', `${at}/Contact/${ada.$id}?propose=Titles`, { title: 'Countess' })
    const shown = await request('GET', `${at}/changesets/${proposed.body.$id}`)
    const approved = await request('POST', `${at}/changesets/${proposed.body.$id}/approve`)

    expect([plain.status, proposed.status, approved.status]).toEqual([403, 202, 200])
    expect(shown.body.diff).toMatchObject([{ changes: { title: { from: null, to: 'Countess' } } }])
    expect((await request('GET', `${at}/Contact/${ada.$id}`)).body.title).toBe('Countess')
  },

  'what a fork did is merged into its origin': async ({ request, as }, at) => {
    const slug = at.slice(2)
    const { body: ada } = await request('POST', `${at}/Contact`, { name: 'Ada' })
    await request('POST', `/operator/tenants/${slug}/fork`, { to: `${slug}-draft` })
    await request('POST', `/~${slug}-draft/Contact/${ada.$id}/qualify`)
    await request('PUT', `${at}/Contact/${ada.$id}`, { title: 'Countess' })
    const { body: key } = await request('POST', `${at}/api-keys`, { name: 'reviewer', scopes: 'write:crm' })
    const { body: reader } = await request('POST', `/~${slug}-draft/api-keys`, { name: 'reader', scopes: 'read:crm' })

    const keyless = await as(key.secret)('POST', `${at}/changesets`, { from: `${slug}-draft` })
    const { status, body } = await as(key.secret)('POST', `${at}/changesets`, {
      from: `${slug}-draft`,
      key: reader.secret,
    })
    const approved = await request('POST', `${at}/changesets/${body.$id}/approve`)

    expect([keyless.status, status, approved.status]).toEqual([403, 201, 200])
    expect(body).toMatchObject({ from: `${slug}-draft`, operationCount: 1, conflicts: [] })
    expect((await request('GET', `${at}/Contact/${ada.$id}`)).body).toMatchObject({
      stage: 'Qualified',
      title: 'Countess',
    })
  },

  'a fork is the tenant at a moment, without its keys': async ({ request, as }, at) => {
    const tenant = `/operator/tenants/${at.slice(2)}`
    const { body: key } = await request('POST', `${at}/api-keys`, { name: 'crm', scopes: 'read:crm' })
    const { body: ada } = await request('POST', `${at}/Contact`, { name: 'Ada', email: 'ada@x.de' })
    await pause()
    await request('PUT', `${at}/Contact/${ada.$id}`, { name: 'Eve' })
    await request('POST', `${at}/Contact`, { name: 'Bob' })

    const now = await request('POST', `${tenant}/fork`, { to: `${at.slice(2)}-now` })
    const then = await request('POST', `${tenant}/fork`, { to: `${at.slice(2)}-then`, asOf: ada.$createdAt })
    const again = await request('POST', `${tenant}/fork`, { to: `${at.slice(2)}-then` })
    const unnamed = await request('POST', `${tenant}/fork`, {})
    const untimed = await request('POST', `${tenant}/fork`, { to: 'other', asOf: 'then' })

    expect([now, then].map(({ status, body }) => [status, body.events])).toEqual([
      [201, 4],
      [201, 2],
    ])
    expect([again, unnamed, untimed].map(({ status }) => status)).toEqual([409, 400, 400])
    const names = async (slug: string) =>
      (await request('GET', `${slug}/Contact?sort=name`)).body.results.map((one: { name: string }) => one.name)
    expect([await names(`${at}-now`), await names(`${at}-then`)]).toEqual([['Bob', 'Eve'], ['Ada']])
    const heads = await Promise.all(
      [tenant, `${tenant}-now`].map(async (one) => (await request('GET', `${one}/verify`)).body.head),
    )
    expect(heads[1]).toEqual(heads[0])
    expect((await request('GET', `${tenant}-then/verify`)).body.ok).toBe(true)
    expect((await as(key.secret)('GET', `${at}/Contact`)).status).toBe(200)
    expect((await request('GET', `${tenant}-now/log`)).text).not.toContain('"beside"')
  },

  'a log is waited for': async ({ request }, at) => {
    await request('POST', `${at}/Contact`, { name: 'Ada' })
    const log = `/operator/tenants/${at.slice(2)}/log?beside=secrets&after=1&wait=`

    const later = request('GET', `${log}60`)
    await request('POST', `${at}/Contact`, { name: 'Bob' })

    expect((await later).text).toContain('Bob')
    expect((await request('GET', `/operator/tenants/${at.slice(2)}/log?after=3`)).status).toBe(409)
  },

  'a person signs in with a passkey, an agent acts for them, and both end with a suspension': async (stage, at) => {
    const { request, as, url } = stage
    const fields = { name: 'Ada', email: 'ada@example.org', role: 'Member' }
    const { body: user } = await request('POST', `${at}/User`, fields)
    const { body: invited } = await request('POST', `${at}/User/${user.$id}/invite`)
    const token = invited.invitation.split('#')[1]
    const start = await as('')('POST', `${at}/invitation/passkey/options`, { token })
    const response = new Authenticator().create(start.body.options, url)
    const challenge = start.body.challenge
    const joined = await as('')('POST', `${at}/invitation/passkey`, { token, challenge, response })
    expect(joined.status, joined.text).toBe(201)
    const cookie = joined.headers.get('set-cookie')!.split(';')[0]!
    const session = { cookie, 'x-tilde-csrf': joined.body.csrf }
    const contact = await as('')('POST', `${at}/Contact`, { name: 'Grace' }, session)
    expect(contact.body.$createdBy, contact.text).toBe(user.$id)

    const redirect = 'http://127.0.0.1:4711/callback'
    const client = (await as('')('POST', `${at}/oauth/register`, { redirect_uris: [redirect] })).body.client_id
    const { verifier, challenge: proof } = pkce()
    const asked = { response_type: 'code', client_id: client, code_challenge: proof, code_challenge_method: 'S256' }
    const page = await as('')('GET', `${at}/oauth/authorize?${new URLSearchParams(asked)}`, undefined, { cookie })
    const form = new URLSearchParams({ ...fieldsOf(page.text), decision: 'allow' }).toString()
    const kind = { 'content-type': 'application/x-www-form-urlencoded' }
    const decided = await as('')('POST', `${at}/oauth/authorize`, form, { cookie, ...kind })
    const code = new URL(decided.headers.get('location')!).searchParams.get('code')!
    const exchange = { grant_type: 'authorization_code', code, client_id: client, code_verifier: verifier }
    const { body: tokens } = await as('')('POST', `${at}/oauth/token`, new URLSearchParams(exchange).toString(), kind)
    const agent = as(tokens.access_token)
    const made = await agent('POST', `${at}/Contact`, { name: 'By agent' })
    const { body: log } = await request('GET', `${at}/events?type=Contact.created`)
    expect(made.body.$createdBy).toMatch(/^agent_/)
    expect(log.results.at(-1)).toMatchObject({ actor: made.body.$createdBy, onBehalfOf: user.$id })

    await request('POST', `${at}/User/${user.$id}/suspend`)
    expect((await agent('GET', `${at}/Contact`)).status).toBe(401)
    expect((await as('')('GET', `${at}/Contact`, undefined, { cookie })).status).toBe(401)
    expect((await request('GET', `/operator/tenants/${at.slice(2)}/verify`)).body.ok).toBe(true)
  },

  'a person signs in with a password': async ({ request, as }, at) => {
    const { body: user } = await request('POST', `${at}/User`, {
      name: 'Ada',
      email: 'ada@example.org',
      role: 'Member',
    })
    const { body: invited } = await request('POST', `${at}/User/${user.$id}/invite`)
    const token = invited.invitation.split('#')[1]
    const password = 'a long enough phrase'
    const accepted = await as('')('POST', `${at}/invitation/accept`, { token, password })
    const signIn = (given: string) => as('')('POST', `${at}/session`, { email: 'ada@example.org', password: given })

    expect(accepted.status, accepted.text).toBe(201)
    expect((await signIn(password)).status).toBe(201)
    expect((await signIn('another long phrase')).status).toBe(401)
    const { body: document } = await request('GET', `${at}/openapi.json`)
    expect(document.paths).toHaveProperty(['/account/password'])
  },

  'tenants are listed, created and deleted, and what the operator did is recorded': async ({ request }, at) => {
    const slugs = ['a', 'b', 'c'].map((letter) => `${at.slice(2)}-${letter}`)
    for (const slug of slugs.slice(1)) await request('POST', `/~${slug}/Contact`, { name: 'Ada' })
    const created = await request('POST', '/operator/tenants', { tenant: slugs[0] })
    const again = await request('POST', '/operator/tenants', { tenant: slugs[1] })
    expect([created.status, again.status]).toEqual([201, 409])
    expect((await request('GET', `/operator/tenants/${slugs[0]}`)).body.events).toBe(0)

    const listed: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body }: any = await request('GET', `/operator/tenants?limit=2${cursor && `&cursor=${cursor}`}`)
      expect(body.results.length).toBeLessThanOrEqual(2)
      listed.push(...body.results.map(({ tenant }: { tenant: string }) => tenant))
      cursor = body.cursor
    }
    expect(listed).toEqual([...new Set(listed)].sort())
    expect(listed).toEqual(expect.arrayContaining(slugs))

    await request('DELETE', `/operator/tenants/${slugs[2]}`)
    const { body: rest } = await request('GET', '/operator/tenants?limit=1000')
    expect(rest.results.map(({ tenant }: { tenant: string }) => tenant)).not.toContain(slugs[2])
    const { body: journal } = await request('GET', '/operator/log?limit=1')
    expect(journal.results).toMatchObject([{ action: 'delete', tenant: slugs[2] }])
  },

  'a long log is restored in slices, during which nobody is let in': async ({ request, as }, at) => {
    const [from, to] = [at.slice(2), `${at.slice(2)}-sliced`]
    for (const name of ['Ada', 'Bob', 'Cleo']) await request('POST', `${at}/Contact`, { name })
    const { text } = await request('GET', `/operator/tenants/${from}/log`)
    const lines = text.trim().split('\n')
    const events = lines.filter((line) => JSON.parse(line).seq !== undefined && !JSON.parse(line).end)
    const rest = lines.filter((line) => JSON.parse(line).beside !== undefined || JSON.parse(line).end)
    const head = (after: number) => JSON.stringify({ ...JSON.parse(lines[0]!), after })
    const put = (query: string, after: number, body: readonly string[]) =>
      request('PUT', `/operator/tenants/${to}/log${query}`, [head(after), ...body, ''].join('\n'))

    const first = await put('?more=true&of=3', 0, events.slice(0, 2))
    expect([first.status, first.body]).toEqual([202, { tenant: to, events: 2, restoring: true }])
    const written = await request('POST', `/~${to}/Contact`, { name: 'Eve' })
    expect([written.status, written.body.error]).toEqual([503, 'restoring'])
    expect((await as('')('GET', `/~${to}/Contact`)).status).toBe(401)
    const { body: progress } = await request('GET', `/operator/tenants/${to}`)
    expect(progress).toMatchObject({ restoring: true, events: 2, of: 3 })
    const astray = await put('?more=true', 1, events.slice(1))
    expect([astray.status, astray.body.seq]).toEqual([409, 2])
    const last = await put('', 2, [...events.slice(2), ...rest])
    expect([last.status, last.body]).toEqual([
      201,
      { tenant: to, events: 3, missing: [], verified: expect.any(Boolean) },
    ])

    const verdicts = await Promise.all([from, to].map((slug) => request('GET', `/operator/tenants/${slug}/verify`)))
    expect(verdicts[1]!.body).toEqual({ ...verdicts[0]!.body, tenant: to })
    expect((await request('POST', `/~${to}/Contact`, { name: 'Dan' })).status).toBe(201)

    await put('?more=true', 0, events)
    await request('PUT', `/operator/tenants/${to}-2/log?more=true`, [head(0), ...events, ''].join('\n'))
    expect((await request('DELETE', `/operator/tenants/${to}-2`)).status).toBe(204)
    expect((await request('GET', `/operator/tenants/${to}-2`)).status).toBe(404)
  },

  'nobody can sign in to a tenant without people, and trying lays nothing out': async ({ request, as }, at) => {
    for (const path of ['session', 'session/passkey/options', 'oauth/register', 'invitation']) {
      const body = { email: 'a@example.org', password: 'x', token: 'x', redirect_uris: ['https://app.example/cb'] }
      expect((await as('')('POST', `${at}/${path}`, body)).status, path).toBe(401)
    }

    expect((await request('GET', `/operator/tenants/${at.slice(2)}`)).status).toBe(404)
  },

  'what the operator is refused carries the id of the request': async ({ request }, at) => {
    const refused = await request('GET', `/operator/tenants/${at.slice(2)}`)

    expect(refused.status).toBe(404)
    expect(refused.body.requestId).toBe(refused.headers.get('x-request-id'))
    expect(refused.body.requestId).toMatch(/^[\da-f-]{36}$/)
  },
}

/** Long enough for the next event to have a later time, though a host may look at the clock a hundred times a second. */
function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, 25))
}
