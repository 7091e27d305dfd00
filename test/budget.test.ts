import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogue, type Noun, nounsOf } from '@tildebase/nouns'
import { Budget, OPERATOR, openTenant } from '@tildebase/tenant'
import type { Sql, SqlValue, TransactionWay } from '@tildebase/tenant/ports'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AppOptions, handleRequest } from '../packages/server/src/doors/app.ts'
import { routes } from '../packages/server/src/doors/route-table.ts'
import { systemClock, systemRandom, systemSeal } from '../packages/server/src/host/ports.ts'
import { openSql } from '../packages/server/src/node/sqlite/sql.ts'
import { testVault } from './tenant/fixture.ts'

// What an operation may cost, in things that can be counted on any machine. Raise a number only with a reason.

/** A Sql port that counts what goes through it. */
class CountingSql implements Sql {
  readonly #sql: ReturnType<typeof openSql>
  statements = 0
  commits = 0
  readonly texts = new Set<string>()
  /** What was written while the time of a question ran. */
  readonly writtenInTime: string[] = []
  #depth = 0
  #isTimed = false

  constructor(sql: ReturnType<typeof openSql>) {
    this.#sql = sql
  }

  get tick() {
    return this.#sql.tick
  }

  rows(sql: string, ...values: SqlValue[]) {
    this.statements++
    this.texts.add(sql)
    if (this.#isTimed && /^\s*(?:INSERT|UPDATE|DELETE)/.test(sql)) this.writtenInTime.push(sql)
    return this.#sql.rows(sql, ...values)
  }

  run(sql: string, ...values: SqlValue[]) {
    this.rows(sql, ...values)
  }

  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T, way?: TransactionWay): T {
    if (this.#depth++ === 0) this.commits++
    try {
      return this.#sql.transaction(work, way)
    } finally {
      this.#depth--
    }
  }

  within<T>(ms: number, work: () => T): T {
    this.#isTimed = true
    try {
      return this.#sql.within(ms, work)
    } finally {
      this.#isTimed = false
    }
  }

  /** Brings everything into the file and empties the log next to it. */
  settle() {
    this.#sql.scrub?.()
  }

  close() {
    this.#sql.close()
  }
}

const SCHEMA = {
  name: 'string!',
  email: 'string##',
  source: 'string#',
  score: 'number',
  state: 'New | Seen = New',
  employer: '-> Firm',
  see: { set: { state: 'Seen' } },
}

const folder = mkdtempSync(join(tmpdir(), 'tildebase-budget-'))
const path = join(folder, 'acme.db')
const sql = new CountingSql(openSql(path))
const ports = {
  sql,
  clock: systemClock,
  random: systemRandom,
  seal: systemSeal,
  vault: testVault,
  alarm: { wakeAt: () => {} },
  soon: setImmediate,
}
const tenant = openTenant('acme', ports, {
  nouns: nounsOf(Object.values(catalogue) as Noun[]),
  baseUrl: 'http://localhost',
})
const options: AppOptions = { routes, signup: false, report: (reason) => console.error(reason) }
let secret = ''
let ids: string[] = []
let firm = ''
let loaded = ''

async function ask(method: string, target: string, body?: unknown): Promise<{ status: number; body: any }> {
  const [where = '', query = ''] = target.split('?')
  const given = body === undefined ? null : new TextEncoder().encode(JSON.stringify(body))
  const request = { method, scheme: 'http', host: 'localhost', path: where, query, headers: {}, body: given }
  const place = { tenant: 'acme', dimensions: [], segments: where.split('/').slice(1), baseUrl: 'http://localhost' }
  const sender = secret === '' ? ({ kind: 'operator' } as const) : ({ kind: 'secret', secret } as const)
  const call = { slug: 'acme', request, target: place, sender, requestId: 'r' }
  const { status, body: text } = await handleRequest(tenant, call, options)
  return { status, body: typeof text === 'string' && text !== '' ? JSON.parse(text) : null }
}

/** The statements of one request that is not the first of its kind. */
async function statementsOf(request: () => Promise<{ status: number }>): Promise<number> {
  await request()
  const before = sql.statements
  const { status } = await request()
  expect(status).toBeLessThan(300)
  return sql.statements - before
}

let serial = 0
function person() {
  const i = serial++
  return { name: `Ada ${i}`, email: `p${i}@example.org`, source: `source-${i % 10}`, score: i, notes: 'x'.repeat(60) }
}

beforeAll(async () => {
  await ask('PUT', '/schema/Firm', { name: 'string!' })
  await ask('PUT', '/schema/Person', SCHEMA)
  expect((await ask('PUT', '/schema/Firm', { name: 'string!', staff: '<- Person.employer[]' })).status).toBe(200)
  firm = (await ask('POST', '/Firm', { name: 'Analytical Engines' })).body.$id
  const made = await Promise.all(Array.from({ length: 300 }, () => ask('POST', '/Person', person())))
  ids = made.map(({ body }) => body.$id)
  loaded = new Date().toISOString()
  await ask('POST', '/Person', { ...person(), employer: firm })
  secret = (await ask('POST', '/api-keys', { name: 'b', scopes: 'admin:all' })).body.secret
})

afterAll(() => {
  sql.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('statements of a request', () => {
  const next = () => ids[serial++ % ids.length]

  test.each([
    ['get', 1, () => ask('GET', `/Person/${next()}`)],
    ['list by an indexed field, its total known', 1, () => ask('GET', '/Person?source=source-1')],
    ['list by an indexed field, as of a time before', 2, () => ask('GET', `/Person?source=source-1&asOf=${loaded}`)],
    ['create: unique field, indexed fields, log, its end', 6, () => ask('POST', '/Person', person())],
    ['create with a relation', 8, () => ask('POST', '/Person', { ...person(), employer: firm })],
    ['update of a field without index', 4, () => ask('PUT', `/Person/${next()}`, { score: serial })],
    ['update that changes nothing', 1, () => ask('PUT', `/Person/${ids[0]}`, { name: 'Ada 0' })],
    ['verb', 4, () => ask('POST', `/Person/${next()}/see`)],
  ])('%s: at most %i', async (_, budget, request) => {
    expect(await statementsOf(request)).toBeLessThanOrEqual(budget)
  })

  test('a batch of a hundred creates takes a hundred times a create, and no more', async () => {
    const operations = () =>
      Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, method: 'POST', path: '/Person', body: person() }))

    expect(
      await statementsOf(() => ask('POST', '/batch', { atomic: true, operations: operations() })),
    ).toBeLessThanOrEqual(501)
  })

  test('a list with three levels of relations takes one statement for each', async () => {
    const budget = 1 + 3

    const list = () => ask('GET', `/Person?employer=${firm}&include=employer.staff.employer`)

    expect(await statementsOf(list)).toBeLessThanOrEqual(budget)
  })

  test('no statement of a list with relations reads all entities of a type', async () => {
    sql.texts.clear()
    await ask('GET', `/Person?employer=${firm}&include=employer.staff&limit=7`)
    await ask('GET', `/Person?employer=${firm}&include=employer&asOf=${new Date().toISOString()}`)

    const steps = [...sql.texts].flatMap((text) => sql.rows(`EXPLAIN QUERY PLAN ${text}`).map((step) => step[3]))
    expect(steps.filter((step) => /type=\?(?!.*\b(?:n|rowid)=\?)|SCAN [et]\b/.test(step as string))).toEqual([])
    expect(steps.join('; ')).toContain('(id=?)')
  })
})

test('sixty-four creates at once are one commit', async () => {
  const before = sql.commits

  await Promise.all(Array.from({ length: 64 }, () => ask('POST', '/Person', person())))

  expect(sql.commits - before).toBe(1)
})

test('a commit syncs the disk before it returns', () => {
  expect(sql.rows('PRAGMA synchronous')).toEqual([[2]])
})

test('other values are no other statements: what is prepared does not grow with requests', async () => {
  let value = 0
  const round = async () => {
    for (let i = 0; i < 20; i++) {
      value++
      const filter = { score: { $gt: value }, name: { $in: ['a', 'b', `c${value}`] } }
      await ask('POST', '/Person', person())
      await ask('GET', `/Person?source=source-${i % 10}&sort=-score`)
      await ask('GET', `/Person?filter=${encodeURIComponent(JSON.stringify(filter))}`)
      await ask('PUT', `/Person/${ids[i]}`, { score: -value })
    }
  }
  const growth: number[] = []
  // A list that once takes long is read in slices, which have a few statements of their own: they come once.
  while (growth.length < 2 || (growth.length < 6 && growth.at(-1) !== 0)) {
    const before = sql.texts.size
    await round()
    growth.push(sql.texts.size - before)
  }

  expect(growth.at(-1)).toBe(0)
})

test('no statement is prepared again for every value, as a bound LIMIT or the column of a partial index would', () => {
  const anew = [...sql.texts].filter((text) => /(?:LIMIT|OFFSET) \?|(?<!fields WHERE )\b(?:type|state) = \?/.test(text))

  expect(anew).toEqual([])
})

test('words that are not in the index yet are folded in before the time of a search begins', async () => {
  const { body } = await ask('GET', `/Person?filter=${encodeURIComponent('{"$text":"ada"}')}`)

  expect(body.total).toBeGreaterThan(300)
  expect(sql.writtenInTime).toEqual([])
})

test('a thousand creates grow the file by at most 900 bytes each', async () => {
  sql.settle()
  const before = statSync(path).size

  const most = Number.POSITIVE_INFINITY
  const budget = new Budget({ ms: most, rows: most, bytes: most }, () => performance.now())
  await tenant.write(OPERATOR, {}, budget, (write) => {
    for (let i = 0; i < 1_000; i++) write.run({ type: 'Person', verb: 'create', data: person() })
  })
  sql.settle()

  expect((statSync(path).size - before) / 1_000).toBeLessThanOrEqual(900)
})

test('a commit of sixty-four creates writes at most 3,000 bytes for each', async () => {
  sql.settle()

  await Promise.all(Array.from({ length: 64 }, () => ask('POST', '/Person', person())))

  expect(statSync(`${path}-wal`).size / 64).toBeLessThanOrEqual(3_000)
})
