import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { OPERATOR, type Stored } from '@tildebase/tenant'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { filterOf } from '../../packages/tenant/src/query/parameters/filter.ts'
import { Snapshot } from '../../packages/tenant/src/services/bulk/snapshot.ts'
import { nextMillisecond } from '../clock.ts'
import { DuckDBInstance } from '../duckdb.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'
import { exported, parquetRows } from './files.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

let tenants = 0
const fresh = () => `e${++tenants}`
const get = (path: string, headers: Record<string, string> = {}) => host.request('GET', path, undefined, headers)

describe('an export', () => {
  verifies(
    ['export.all', 'export.format', 'export.json', 'export.filter', 'export.ndjson', 'export.asOf'],
    'gives all entities of a type, narrowed by filter and by time, in the order of their creation',
    async () => {
      const tenant = fresh()
      await host.request('POST', `/~${tenant}/import/Contact`, [
        { name: 'Ada', leadScore: 1 },
        { name: 'Bob', leadScore: 2 },
        { name: 'Eve', leadScore: 3 },
      ])
      const all = await get(`/~${tenant}/export/Contact`)
      const then = all.body.at(-1).$createdAt
      await nextMillisecond()
      await host.request('DELETE', `/~${tenant}/Contact/${all.body[0].$id}`)
      await host.request('PUT', `/~${tenant}/Contact/${all.body[1].$id}`, { name: 'Robert' })
      const names = (body: { name: string }[]) => body.map(({ name }) => name)

      const now = await get(`/~${tenant}/export/contacts?format=json`)
      const past = await get(`/~${tenant}/export/Contact?asOf=${then}`)
      const some = await get(`/~${tenant}/export/Contact?filter=${encodeURIComponent('{"leadScore":{"$gte":3}}')}`)
      const lines = (await get(`/~${tenant}/export/Contact?format=ndjson&fields=name`)).text.trim().split('\n')

      expect(names(all.body)).toEqual(['Ada', 'Bob', 'Eve'])
      expect(all.body[0]).toMatchObject({ $type: 'Contact', $version: 1, stage: 'Lead' })
      expect(names(now.body)).toEqual(['Robert', 'Eve'])
      expect(names(past.body)).toEqual(['Ada', 'Bob', 'Eve'])
      expect(names(some.body)).toEqual(['Eve'])
      expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([
        ['$id', '$type', 'name'],
        ['$id', '$type', 'name'],
      ])
      expect((await get(`/~${tenant}/export/Contact?format=xml`)).status).toBe(400)
      expect((await get(`/~${tenant}/export/Deal`)).text).toBe('[]')
    },
  )

  verifies(['export.csv'], 'as CSV has the header first: meta-fields, declared fields, then the others', async () => {
    const tenant = fresh()
    await host.request('POST', `/~${tenant}/import/Contact`, [
      { name: '=cmd()', zip: '101', nested: { a: [1, 'x"y'] } },
      { name: 'Line\r\nbreak', avatar: '' },
    ])

    const { text, headers } = await get(`/~${tenant}/export/Contact?format=csv`)
    const safe = (await get(`/~${tenant}/export/Contact?format=csv&fields=name&safe=true`)).text

    const [header] = text.split('\r\n')
    expect(header).toMatch(/^\$id,\$type,\$version,\$createdAt,\$updatedAt,\$createdBy,name,firstName,.*,nested,zip$/)
    expect(text).toContain('"{""a"":[1,""x\\""y""]}","""101"""')
    expect(text).toContain('"Line\r\nbreak"')
    expect(headers.get('content-type')).toContain('text/csv')
    expect(headers.get('content-disposition')).toBe('attachment; filename="Contact.csv"')
    expect(safe).toContain(",'=cmd()")
  })

  verifies('export.asOf', 'is one moment, though the type changes while it is read', async () => {
    const tenant = fresh()
    const rows = Array.from({ length: 3_000 }, (_, i) => ({ name: `C${i}`, note: 'x'.repeat(2_000) }))
    for (let i = 0; i < 3; i++) {
      await host.request('POST', `/~${tenant}/import/Contact`, rows.slice(i * 1_000, (i + 1) * 1_000))
    }
    const response = await fetch(`${host.url}/~${tenant}/export/Contact?format=ndjson`, {
      headers: { authorization: `Bearer ${ROOT}` },
    })
    const ids = (await get(`/~${tenant}/Contact?limit=100`)).body.results.map(({ $id }: { $id: string }) => $id)
    for (const id of ids) await host.request('PUT', `/~${tenant}/Contact/${id}`, { name: 'Changed' })
    await host.request('DELETE', `/~${tenant}/Contact/${ids[0]}`)
    await host.request('POST', `/~${tenant}/Contact`, { name: 'Late' })

    const names = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name)

    expect(names).toEqual(rows.map(({ name }) => name))
  })

  verifies('export.asOf', 'of what has certain words is one moment too', () => {
    const { tenant } = openAcme()
    const write = (verb: string, data: object, id?: string) =>
      tenant.act({ type: 'Contact', verb, actor: 't', data, ...(id !== undefined && { id }) }).entity
    const notes = Array.from({ length: 300 }, (_, i) => (i % 3 ? 'Zürich, x' : 'Bern, y'))
    const all = notes.map((note, i) => write('create', { name: `C${i}`, note }))
    const pagesOf = (type: string, filter: object) => {
      const { engine } = tenant
      const noun = engine.noun(type)
      return new Snapshot(engine, OPERATOR, noun, filterOf(engine, noun, filter)).pages()
    }
    const pages = [pagesOf('Contact', { $text: 'zurich', name: { $ne: 'C1' } }), pagesOf('Event', { $text: 'contact' })]
    const first = pages.map((one) => one.next().value as readonly Stored[])

    write('update', { note: 'Basel' }, all[200]!.id)
    write('update', { note: 'Zurich now' }, all[201]!.id)
    write('delete', {}, all[203]!.id)
    write('create', { name: 'Late', note: 'Zürich' })
    const [found, told] = pages.map((one, i) => [first[i]!, ...one].flat())

    const expected = notes.flatMap((note, i) => (note.startsWith('Z') && i !== 1 ? [`C${i}`] : []))
    expect(found!.map(({ data }) => JSON.parse(data).name)).toEqual(expected)
    expect(told).toHaveLength(300)
  })

  verifies(['export.filter', 'slices.background'], 'looks at some entities at a time for those that pass', () => {
    const { tenant } = openAcme()
    const contacts = Array.from({ length: 600 }, (_, i) => ({
      name: `C${i}`,
      note: `${i % 7 ? 'x' : 'y'} ${i % 3 ? 'tea' : 'coffee'}`,
    }))
    for (const data of contacts) tenant.act({ type: 'Contact', verb: 'create', actor: 't', data })
    const noun = tenant.engine.noun('Contact')
    const pagesOf = (filter: object) => [
      ...new Snapshot(tenant.engine, OPERATOR, noun, filterOf(tenant.engine, noun, filter)).pages(),
    ]
    const filters: [object, (contact: { name: string; note: string }) => boolean][] = [
      [{}, () => true],
      [{ note: 'x tea' }, ({ note }) => note === 'x tea'],
      [{ note: { $regex: '^y' } }, ({ note }) => note.startsWith('y')],
      [{ $text: 'coffee' }, ({ note }) => note.endsWith('coffee')],
      [{ $text: 'coffee', note: { $regex: '^y' } }, ({ note }) => note === 'y coffee'],
      [{ $text: 'coffee', note: { $ne: 'y coffee' } }, ({ note }) => note === 'x coffee'],
      [{ name: 'C599' }, ({ name }) => name === 'C599'],
      [{ 'organization.name': 'Acme' }, () => false],
      [{ note: { $regex: '^z' } }, () => false],
    ]

    for (const [filter, passes] of filters) {
      const names = pagesOf(filter).flatMap((page) => page.map(({ data }) => JSON.parse(data).name))
      expect(names).toEqual(contacts.filter(passes).map(({ name }) => name))
    }
    expect(pagesOf({ note: { $regex: '^z' } }).length).toBeGreaterThan(1)
    expect(pagesOf({ note: 'z' }).length).toBeGreaterThan(1)
  })

  verifies('export.all', 'is refused as CSV where there are too many columns, and says what to do', async () => {
    const tenant = fresh()
    for (let i = 0; i < 17; i++) {
      const fields = Array.from({ length: 1_000 }, (_, j) => [`field${i}_${j}`, 1])
      await host.request('POST', `/~${tenant}/Contact`, { name: 'Ada', ...Object.fromEntries(fields) })
    }
    const path = `/~${tenant}/export/Contact?format=csv`

    const refused = await get(path)
    const some = await get(`${path}&fields=name,field3_7`)
    const filter = encodeURIComponent(JSON.stringify({ field0_0: null }))
    const fewer = await get(`${path}&filter=${filter}`)

    expect([refused.status, refused.body.error, refused.body.type]).toEqual([422, 'over_budget', 'Contact'])
    expect(some.text.split('\r\n').filter((line) => line.endsWith(',Ada,1'))).toHaveLength(1)
    expect(fewer.text.split('\r\n')[0]!.split(',').length).toBeGreaterThan(16_000)
  })

  verifies('export.all', 'has another ETag once something of its moment was erased', async () => {
    const tenant = fresh()
    const { $id, $updatedAt } = (await host.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })).body
    await nextMillisecond()
    await host.request('PUT', `/~${tenant}/Contact/${$id}`, { name: 'Countess' })
    const path = `/~${tenant}/export/Contact?format=csv&asOf=${$updatedAt}`
    const before = await get(path)
    const same = await get(path, { 'if-none-match': before.headers.get('etag')! })

    await host.request('POST', `/~${tenant}/Contact/${$id}/erase`, {})
    const after = await get(path, { 'if-none-match': before.headers.get('etag')! })

    expect([before.text.includes('Ada'), same.status]).toEqual([true, 304])
    expect([after.status, after.text.includes('Ada')]).toEqual([200, false])
  })

  verifies('export.all', 'answers 304 while nothing it shows has changed', async () => {
    const tenant = fresh()
    await host.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })
    const path = `/~${tenant}/export/Contact?format=csv`
    const etag = (await get(path)).headers.get('etag')!

    await host.request('POST', `/~${tenant}/Deal`, { name: 'Of another type' })
    const same = await get(path, { 'if-none-match': etag })
    const other = await get(`${path}&safe=true`, { 'if-none-match': etag })
    await host.request('POST', `/~${tenant}/Contact`, { name: 'Bob' })
    const changed = await get(path, { 'if-none-match': etag })

    expect([same.status, other.status, changed.status]).toEqual([304, 200, 200])
  })

  verifies(
    ['scope.export.forbidden', 'secret.export', 'scope.leaveOut.export', 'scope.read'],
    'needs read on the type, shows a narrowed key its rows, and never a secret',
    async () => {
      const tenant = fresh()
      await host.request('POST', `/~${tenant}/import/Contact`, [{ name: 'Ada' }, { name: 'Bob', stage: 'Partner' }])
      await host.request('POST', `/~${tenant}/Ticket`, { subject: 'Secret' })
      const key = await host.key(tenant, 'read:crm', { filter: { Contact: { stage: 'Lead' } } })
      const crm = host.as(key)

      const rows = await crm('GET', '/export/Contact')
      const keys = await get(`/~${tenant}/export/ApiKey`)
      const events = await crm('GET', '/export/Event')

      expect(rows.body.map(({ name }: { name: string }) => name)).toEqual(['Ada'])
      expect((await crm('GET', '/export/Ticket')).status).toBe(403)
      expect((await crm('GET', '/export/ApiKey')).status).toBe(403)
      expect(keys.body).toHaveLength(1)
      expect(keys.text).not.toContain(key)
      expect(events.status).toBe(403)
    },
  )

  verifies('export.all', 'of Events holds tracked events and those of verbs', async () => {
    const tenant = fresh()
    await host.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })
    await host.request('POST', `/~${tenant}/Event`, { name: 'signup', type: 'track' })

    const { body } = await get(`/~${tenant}/export/Event`)

    expect(body.map(({ name }: { name: string }) => name)).toEqual(['Contact.created', 'signup'])
  })
})

describe('a parquet file', () => {
  verifies(
    ['export.parquet'],
    'has typed columns that DuckDB reads, and undeclared fields as one JSON column',
    async () => {
      const tenant = fresh()
      await host.request('POST', `/~${tenant}/import/Deal`, [
        {
          name: '😀 Söme',
          value: 12.5,
          expectedCloseDate: '2026-03-01',
          lastActivityAt: '2026-01-02T03:04:05.678Z',
          zone: { a: [1] },
        },
        { name: '', value: -1e300, stage: 'Won' },
        { name: '\ue000' },
      ])
      const file = join(mkdtempSync(join(tmpdir(), 'tildebase-')), 'deals.parquet')
      writeFileSync(file, (await exported(host, `/~${tenant}/export/Deal?format=parquet`)).bytes)

      const db = await (await DuckDBInstance.create(':memory:')).connect()
      const types = await db.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet('${file}')`)
      const rows = await db.runAndReadAll(
        `SELECT name, value, stage, CAST("expectedCloseDate" AS VARCHAR), epoch_ms("lastActivityAt"), "$extra"::JSON->>'zone', "$version"
      FROM read_parquet('${file}') ORDER BY value DESC NULLS LAST`,
      )
      const found = await db.runAndReadAll(
        `SELECT count(*)::INTEGER FROM read_parquet('${file}') WHERE name = '😀 Söme' OR name = '\ue000'`,
      )
      rmSync(dirname(file), { recursive: true })

      const columns = Object.fromEntries(types.getRows().map(([name, type]) => [name, type]))
      expect(columns).toMatchObject({
        $id: 'VARCHAR',
        $version: 'INTEGER',
        $createdAt: expect.stringMatching(/^TIMESTAMP/),
        name: 'VARCHAR',
        value: 'DOUBLE',
        expectedCloseDate: 'DATE',
        lastActivityAt: expect.stringMatching(/^TIMESTAMP/),
      })
      expect(rows.getRows().map((row) => row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)))).toEqual([
        ['😀 Söme', 12.5, 'Prospecting', '2026-03-01', Date.UTC(2026, 0, 2, 3, 4, 5, 678), '{"a":[1]}', 1],
        ['', -1e300, 'Won', null, null, null, 1],
        ['\ue000', null, 'Prospecting', null, null, null, 1],
      ])
      expect(found.getRows()).toEqual([[2]])
    },
  )

  verifies(['export.parquet', 'manifest.hash'], 'is the same bytes for the same entities', async () => {
    const tenant = fresh()
    await host.request(
      'POST',
      `/~${tenant}/import/Contact`,
      Array.from({ length: 500 }, (_, i) => ({ name: `C${i % 7}`, i })),
    )
    const path = `/~${tenant}/export/Contact?format=parquet`

    const [a, b] = [await exported(host, path), await exported(host, path)]

    expect(Buffer.compare(a.bytes, b.bytes)).toBe(0)
    expect(await parquetRows(a.bytes)).toHaveLength(500)
  })

  verifies(['export.parquet'], 'of nothing is still a file with its columns', async () => {
    const { bytes } = await exported(host, `/~${fresh()}/export/Contact?format=parquet`)

    expect(await parquetRows(bytes)).toEqual([])
  })
})

describe('the manifest', () => {
  const hash = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

  verifies(
    [
      'manifest.files',
      'manifest.generatedAt',
      'manifest.entry',
      'manifest.hash',
      'manifest.stable',
      'manifest.compare',
    ],
    'tells hash, size and records of the very file that the export gives, and a new hash once the type has changed',
    async () => {
      const tenant = fresh()
      await host.request('POST', `/~${tenant}/import/Contact`, [{ name: 'Ada' }, { name: 'Bob' }])
      await host.request('POST', `/~${tenant}/Deal`, { name: 'Big' })

      const first = (await get(`/~${tenant}/manifest`)).body
      const { bytes } = await exported(host, `/~${tenant}/export/Contact?format=parquet`)
      const again = (await get(`/~${tenant}/manifest`)).body
      await host.request('POST', `/~${tenant}/Contact`, { name: 'Eve' })
      const changed = (await get(`/~${tenant}/manifest`)).body

      expect(Object.keys(first.files)).toEqual(['Contact.parquet', 'Deal.parquet'])
      expect(first.files['Contact.parquet']).toEqual({ hash: hash(bytes), size: bytes.length, records: 2 })
      expect(first.generatedAt).toMatch(/^\d{4}-.*Z$/)
      expect(first.head).toMatchObject({ seq: 3, hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) })
      expect(again.files).toEqual(first.files)
      expect(changed.files['Deal.parquet']).toEqual(first.files['Deal.parquet'])
      expect(changed.files['Contact.parquet']).not.toEqual(first.files['Contact.parquet'])
    },
  )

  verifies(
    ['manifest.hash', 'scope.read'],
    'shows a key what it may read, with the hash of what it would get',
    async () => {
      const tenant = fresh()
      await host.request('POST', `/~${tenant}/import/Contact`, [{ name: 'Ada' }, { name: 'Bob', stage: 'Partner' }])
      await host.request('POST', `/~${tenant}/Ticket`, { subject: 'X' })
      const key = await host.key(tenant, 'read:crm', { filter: { Contact: { stage: 'Lead' } } })

      const { files } = (await host.as(key)('GET', '/manifest')).body
      const { bytes } = await exported(host, '/export/Contact?format=parquet', key)

      expect(files).toEqual({ 'Contact.parquet': { hash: hash(bytes), size: bytes.length, records: 1 } })
    },
  )
})
