import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp({ TILDE_IMPORT_LIMIT: '3MiB' })
})
afterAll(() => host.stop())

const NDJSON = { 'content-type': 'application/x-ndjson' }
const CSV = { 'content-type': 'text/csv' }

let tenants = 0
/** A tenant of one's own. */
const fresh = () => `t${++tenants}`
const total = async (tenant: string, type = 'Contact') =>
  (await host.request('GET', `/~${tenant}/${type}?limit=1`)).body.total

describe('an import', () => {
  verifies(
    [
      'bulk.both',
      'import.json',
      'import.answer',
      'import.success',
      'import.rows',
      'import.row.zero',
      'import.error.text',
    ],
    'takes a JSON array, tells the bad rows and keeps the others',
    async () => {
      const tenant = fresh()

      const { status, body } = await host.request('POST', `/~${tenant}/import/Contact`, [
        { name: 'Ada', email: 'ada@x.y' },
        { email: 'no@name.x' },
        { name: 'Twice', email: 'ada@x.y' },
        'text',
        { name: 'Bob' },
      ])

      expect(status).toBe(200)
      expect(body).toMatchObject({ success: true, imported: 2, errors: 3 })
      expect(body.details.map(({ row }: { row: number }) => row)).toEqual([1, 2, 3])
      expect(body.details[0].error).toContain('name: is required')
      expect(body.details[1].error).toContain('unique')
      expect(await total(tenant)).toBe(2)
    },
  )

  verifies(
    ['import.ndjson', 'import.line', 'import.detail.shape', 'import.rejected'],
    'takes NDJSON, and tells the line of a bad row',
    async () => {
      const text = '{"name":"Ada"}\n{"nam\n\n{"name":"Bob"}\n{}\n'

      const { body } = await host.request('POST', `/~${fresh()}/import/Contact`, text, NDJSON)

      expect(body).toMatchObject({ success: true, imported: 2, errors: 2 })
      expect(body.details).toMatchObject([
        { row: 1, line: 2, error: expect.stringContaining('not valid JSON') },
        { row: 3, line: 5, error: expect.stringContaining('is required') },
      ])
    },
  )

  verifies(
    ['import.csv', 'import.line', 'csv.typed', 'csv.absent', 'csv.string', 'csv.json'],
    'takes CSV, and reads declared fields by their type',
    async () => {
      const tenant = fresh()
      const text =
        'name,phone,leadScore,email,seats,tags\r\n"Ada, ""Countess""",007,1.5,,3,"[""x""]"\r\nBob,,much,,,\r\n'

      const { body } = await host.request('POST', `/~${tenant}/import/Contact`, text, CSV)
      const [ada] = (await host.request('GET', `/~${tenant}/Contact`)).body.results

      expect(body).toMatchObject({ imported: 1, errors: 1, details: [{ row: 1, line: 3 }] })
      expect(ada).toMatchObject({ name: 'Ada, "Countess"', phone: '007', leadScore: 1.5, seats: 3, tags: ['x'] })
      expect(ada).not.toHaveProperty('email')
    },
  )

  verifies(
    ['import.events', 'meta.request.id'],
    'makes of every row a create with its event, and keeps a good $id',
    async () => {
      const tenant = fresh()

      await host.request('POST', `/~${tenant}/import/Contact`, [
        { $id: 'contact_mine0000000000001', name: 'Ada', $version: 7, $createdBy: 'me' },
        { $id: 'not an id', name: 'Bob' },
      ])
      const { results } = (await host.request('GET', `/~${tenant}/Contact?sort=createdAt`)).body
      const events = (await host.request('GET', `/~${tenant}/Event?limit=100`)).body

      expect(results[0]).toMatchObject({ $id: 'contact_mine0000000000001', $version: 1, $createdBy: 'operator' })
      expect(results[1].$id).toMatch(/^contact_\w{16,}$/)
      expect(events.results.map(({ name }: { name: string }) => name)).toEqual(['Contact.created', 'Contact.created'])
    },
  )

  verifies('import.rows', 'takes rows that name each other, in any order', async () => {
    const tenant = fresh()

    const { body } = await host.request('POST', `/~${tenant}/import/Contact`, [
      { $id: 'contact_a', name: 'A', manager: 'contact_b' },
      { $id: 'contact_b', name: 'B', manager: 'contact_a' },
      { $id: 'contact_c', name: 'C', manager: 'contact_d' },
      { $id: 'contact_d', name: 'D', manager: 'contact_nobody' },
      { $id: 'contact_e', manager: 'contact_f' },
      { $id: 'contact_f', name: 'F', manager: 'contact_g' },
      { $id: 'contact_g', name: 'G', email: 'same' },
      { $id: 'contact_h', name: 'H', email: 'same' },
    ])

    expect(body.details.map(({ row }: { row: number }) => row)).toEqual([2, 3, 4, 7])
    expect(body.imported).toBe(4)
    expect(await total(tenant)).toBe(4)
  })

  verifies('import.rows', 'takes types that name each other in three steps', async () => {
    const tenant = fresh()
    await host.request('PUT', `/~${tenant}/schema/Team`, { name: 'string!' })
    await host.request('PUT', `/~${tenant}/schema/Player`, { name: 'string!', team: '-> Team!' })
    await host.request('PUT', `/~${tenant}/schema/Team`, { name: 'string!', captain: '-> Player' })
    const send = (path: string, rows: object[]) => host.request('POST', `/~${tenant}/import/${path}`, rows)

    const reports = [
      await send('Team', [{ $id: 'team_a', name: 'A' }]),
      await send('Player', [{ $id: 'player_p', name: 'P', team: 'team_a' }]),
      await send('Team?upsert=$id', [{ $id: 'team_a', captain: 'player_p' }]),
    ]
    const team = await host.request('GET', `/~${tenant}/Team/team_a`)

    expect(reports.map(({ body }) => [body.imported, body.errors])).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ])
    expect(team.body).toMatchObject({ name: 'A', captain: 'player_p' })
  })

  verifies('import.rows', 'updates instead, with upsert and a unique field', async () => {
    const tenant = fresh()
    const path = `/~${tenant}/import/Contact?upsert=email`
    await host.request('POST', path, [{ name: 'Ada', email: 'ada@x.y', phone: '1' }])

    const { body } = await host.request('POST', path, [
      { name: 'Ada L', email: 'ada@x.y' },
      { name: 'Ada L', email: 'ada@x.y' },
      { name: 'Bob', email: 'bob@x.y' },
    ])
    const refused = await host.request('POST', `/~${tenant}/import/Contact?upsert=phone`, [])

    expect(body).toMatchObject({ success: true, imported: 3, updated: 1, errors: 0 })
    expect((await host.request('GET', `/~${tenant}/Contact?email=ada@x.y`)).body.results).toMatchObject([
      { name: 'Ada L', phone: '1', $version: 2 },
    ])
    expect(refused).toMatchObject({ status: 400, body: { field: 'upsert', supported: ['$id', 'email'] } })
  })

  verifies('import.rows', 'with dryRun tells what it would do, over all slices, and writes nothing', async () => {
    const tenant = fresh()
    await host.request('POST', `/~${tenant}/Contact`, { name: 'There', email: 'e5@x.y' })
    const rows = Array.from({ length: 700 }, (_, i) => ({ name: `C${i}`, email: `e${i % 600}@x.y` }))

    const { body } = await host.request('POST', `/~${tenant}/import/Contact?dryRun=true`, rows)
    const really = await host.request('POST', `/~${tenant}/import/Contact`, rows)

    expect(body).toMatchObject({ success: true, dryRun: true, imported: 599, errors: 101 })
    expect(really.body).toMatchObject({ imported: 599, errors: 101 })
    expect(await total(tenant)).toBe(600)
  })

  verifies('import.details.cap', 'tells ten thousand bad rows and no more', async () => {
    const text = '{}\n'.repeat(10_100)

    const { body } = await host.request('POST', `/~${fresh()}/import/Contact`, text, NDJSON)

    expect(body).toMatchObject({ success: true, imported: 0, errors: 10_100, detailsTruncated: true })
    expect(body.details).toHaveLength(10_000)
  })
})

describe('an import that is not what it says', () => {
  verifies('import.success', 'breaks off where the JSON does, and tells what it had done', async () => {
    const tenant = fresh()
    const good = Array.from({ length: 300 }, (_, i) => JSON.stringify({ name: `C${i}` })).join(',')

    const { status, body } = await host.request('POST', `/~${tenant}/import/Contact`, `[${good},{"name":`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_json', success: false, row: 300 })
    expect(body.imported).toBeGreaterThan(0)
    expect(await total(tenant)).toBe(body.imported)
  })

  verifies('import.answer', 'is refused by its type, its encoding, its bytes', async () => {
    const path = `/~${fresh()}/import/Contact`
    const binary = new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])

    expect((await host.request('POST', path, 'name=Ada', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await host.request('POST', path, '[]', { 'content-encoding': 'br' })).status).toBe(415)
    expect((await host.request('POST', path, binary)).body.error).toBe('invalid_body')
    expect((await host.request('POST', path, '[{"na', { 'content-encoding': 'gzip' })).body.error).toBe('invalid_body')
    expect((await host.request('POST', path, '')).status).toBe(400)
    expect((await host.request('POST', path, '', NDJSON)).body).toMatchObject({ success: true, imported: 0 })
    expect((await host.request('POST', path, '[]')).body).toMatchObject({ success: true, imported: 0 })
    expect((await host.request('GET', path)).status).toBe(405)
  })

  verifies(
    ['import.gzip', 'import.gzip.bounded', 'limit.import', 'limit.import.configured'],
    'is bounded, after inflation',
    async () => {
      const tenant = fresh()
      const path = `/~${tenant}/import/Contact`
      const zip = { 'content-encoding': 'gzip' }
      const bomb = gzipSync(Buffer.alloc(200 * 1_048_576, ' '))
      const half = gzipSync(JSON.stringify([{ name: 'Ada' }])).subarray(0, 20)

      const good = await host.request('POST', path, gzipSync(JSON.stringify([{ name: 'Ada' }])), zip)
      const plain = await host.request('POST', path, `[${' '.repeat(4 * 1_048_576)}]`)
      const zipped = await host.request('POST', path, bomb, zip)
      const broken = await host.request('POST', path, half, zip)

      expect(good.body).toMatchObject({ success: true, imported: 1 })
      expect(plain).toMatchObject({
        status: 413,
        body: { error: 'too_large', limit: 3 * 1_048_576 },
      })
      expect(zipped).toMatchObject({ status: 413, body: { error: 'too_large', success: false, imported: 0 } })
      expect(broken).toMatchObject({ status: 400, body: { error: 'invalid_body' } })
      expect((await host.request('GET', `/~${tenant}/Contact`)).status).toBe(200)
    },
  )

  verifies(['limit.entity', 'limit.depth'], 'holds to the limits of an entity, row by row', async () => {
    const tenant = fresh()
    const rows = [
      { name: 'x'.repeat(1_048_000) },
      { name: 'x'.repeat(1_048_600) },
      { name: 'Deep', a: nested(80) },
      { name: 'Ok' },
    ]

    const { body } = await host.request('POST', `/~${tenant}/import/Contact`, rows)

    expect(body).toMatchObject({ imported: 2, errors: 2 })
    expect(body.details.map(({ row }: { row: number }) => row)).toEqual([1, 2])
  })

  verifies(['scope.write', 'secret.export'], 'needs write on the type, and never takes keys or webhooks', async () => {
    const tenant = fresh()
    const crm = host.as(await host.key(tenant, 'write:crm'))

    expect((await crm('POST', '/import/Contact', [{ name: 'Ada' }])).body.imported).toBe(1)
    expect((await crm('POST', '/import/Ticket', [{ subject: 'X' }])).status).toBe(403)
    expect((await host.request('POST', `/~${tenant}/import/ApiKey`, [{ name: 'X' }])).status).toBe(403)
    expect((await host.request('POST', `/~${tenant}/import/webhooks`, [{ url: 'https://x.y' }])).status).toBe(403)
    expect((await host.request('POST', `/~${tenant}/import/Nothing`, [])).status).toBe(404)
  })

  verifies('scope.write', 'leaves no row that a narrowed key could not see', async () => {
    const tenant = fresh()
    const key = await host.key(tenant, 'write:crm', { filter: { Contact: { stage: 'Lead' } } })

    const { body } = await host.as(key)('POST', '/import/Contact', [{ name: 'A' }, { name: 'B', stage: 'Partner' }])

    expect(body).toMatchObject({ imported: 1, errors: 1, details: [{ row: 1 }] })
  })
})

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)]
}
