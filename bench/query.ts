import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'
import { OPERATOR, type Query } from '@tildebase/tenant'
import { systemClock, systemRandom, systemSeal } from '../packages/server/src/host/ports.ts'
import { loadProgram } from '../packages/server/src/host/settings/settings.ts'
import { createVault } from '../packages/server/src/host/vault.ts'
import { TenantFiles } from '../packages/server/src/node/sqlite/files.ts'
import { openSql } from '../packages/server/src/node/sqlite/sql.ts'
import { createServices } from '../packages/tenant/src/facade/create-services.ts'
import { find } from '../packages/tenant/src/query/answer/find.ts'
import { filterOf } from '../packages/tenant/src/query/parameters/filter.ts'
import { includeOf } from '../packages/tenant/src/query/parameters/parameters.ts'
import { readContextOf } from '../packages/tenant/src/query/read-context.ts'

/** How long questions take inside the engine, over contacts of five versions each. Run it with `node bench/query.ts [contacts]`. */
const CONTACTS = Number(process.argv[2] ?? 100_000)
const VERSIONS = 5
const SLICE = 10_000
const KEY = 'key-of-the-bench-which-is-long-enough'
const WORDS = ['ada', 'grace', 'alan', 'edsger', 'barbara', 'donald', 'margaret', 'linus', 'radia', 'tim']

const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
try {
  const firstLoaded = await load()
  await measure(firstLoaded)
} finally {
  rmSync(data, { recursive: true, force: true })
}

/** Loads through the public API: an import, then imports that update. Tells when the first versions were there. */
async function load(): Promise<string> {
  let firstLoaded = ''
  const host = await startHost(readSettings({ port: '0', workers: '0', data }, { TILDE_ROOT_KEY: KEY }))
  const send = async (method: string, path: string, body: unknown) => {
    const answer = await fetch(`${host.url}/~bench${path}`, {
      method,
      headers: {
        authorization: `Bearer ${KEY}`,
        ...(typeof body === 'string' && { 'content-type': 'application/x-ndjson' }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`Loading failed: ${(await answer.text()).slice(0, 300)}`)
    return (await answer.json()) as { $id: string }
  }
  await send('PUT', '/schema/Firm', { name: 'string!' })
  await send('PUT', '/schema/Person', {
    name: 'string!',
    email: 'string##',
    source: 'string#',
    score: 'number',
    employer: '-> Firm',
    mentor: '-> Person',
    friend: '-> Person',
  })
  const firms = await Promise.all(Array.from({ length: 50 }, (_, i) => send('POST', '/Firm', { name: `Firm ${i}` })))
  const first = await send('POST', '/Person', { name: 'Ada', email: 'ada@example.org' })
  for (let version = 0; version < VERSIONS; version++) {
    for (let from = 0; from < CONTACTS; from += SLICE) {
      const rows = Array.from({ length: Math.min(SLICE, CONTACTS - from) }, (_, i) =>
        JSON.stringify(contact(from + i, version, firms, first.$id)),
      )
      await send('POST', '/import/Person?upsert=email', rows.join('\n'))
    }
    if (version === 0) firstLoaded = new Date().toISOString()
  }
  await host.stop()
  return firstLoaded
}

function contact(i: number, version: number, firms: readonly { $id: string }[], friend: string): object {
  return {
    name: `Person ${i}`,
    email: `p${i}@example.org`,
    source: `source-${i % 1_000}`,
    score: i + version,
    notes: `${WORDS[i % 10]} and ${WORDS[Math.floor(i / 10) % 10]} met at the conference, ${version} times`,
    employer: firms[i % firms.length]!.$id,
    mentor: friend,
    friend,
  }
}

async function measure(firstLoaded: string): Promise<void> {
  const settings = readSettings({ data }, {})
  const program = await loadProgram(settings.config)
  const sql = openSql(new TenantFiles(data).pathOf('bench'))
  let statements = 0
  const counting = { ...wrapped(sql), tick: sql.tick }
  const ports = {
    sql: counting,
    clock: systemClock,
    random: systemRandom,
    seal: systemSeal,
    vault: createVault(KEY, 'bench'),
    alarm: { wakeAt: () => {} },
  }
  const { engine } = createServices('bench', ports, { ...program, baseUrl: 'http://localhost' }).transactor
  const noun = engine.noun('Person')
  const ask = (filter: object, more: Partial<Query> = {}) =>
    find(readContextOf(engine, OPERATOR), { type: 'Person', filter: filterOf(engine, noun, filter), ...more })
  const past = engine.sql.rows('SELECT max(seq) FROM events WHERE at <= ?', Date.parse(firstLoaded))[0]![0]
  const source = () => ({ source: `source-${Math.floor(Math.random() * 1_000)}` })
  // A total is remembered until the type changes: forgotten each time, so that it is counted.
  const forgetting = (work: () => unknown) => () => {
    engine.cache.forget('Person')
    return work()
  }

  console.log(
    `${CONTACTS} contacts of ${VERSIONS} versions each, Node ${process.version}; milliseconds of computing in the engine`,
  )
  ask({ $text: 'warm' })
  const live = report(
    'indexed equality, 25 rows, total counted',
    300,
    forgetting(() => ask(source())),
  )
  const known = report('the same, total remembered', 300, () => ask(source()))
  const then = report(
    'the same as of the first versions',
    300,
    forgetting(() => ask(source(), { asOf: past })),
  )
  console.log(
    `  as of the past takes ${(then / live).toFixed(2)} × the present (${(then / known).toFixed(2)} × with the total known)`,
  )

  const include = includeOf(engine, OPERATOR, noun, 'employer,mentor,friend')
  ask(source(), { limit: 100, include })
  const before = statements
  ask(source(), { limit: 100, include, total: false })
  console.log(`  100 rows with three includes: ${statements - before} statements`)
  report('100 rows with three includes', 100, () => ask(source(), { limit: 100, include, total: false }))

  const pages = walk((cursor) => ask({}, { limit: 100, cursor, total: false }))
  console.log(
    `  walking all by cursor: first pages ${pages.first.toFixed(3)} ms, last pages ${pages.last.toFixed(3)} ms, ${pages.count} pages`,
  )
  report(
    '$text: two words that a fifth has each',
    20,
    forgetting(() => ask({ $text: 'ada grace' })),
  )
  report(
    '$text: a word of a fifth, and one that all have',
    20,
    forgetting(() => ask({ $text: 'ada conference' })),
  )
  report(
    'an equality without index, none found',
    5,
    forgetting(() => ask({ notes: 'x' })),
  )
  const word = report(
    '$regex word over all names, none found',
    5,
    forgetting(() => ask({ name: { $regex: 'word' } })),
  )
  const bad = report(
    '$regex (a+)+$ over all names, none found',
    5,
    forgetting(() => ask({ name: { $regex: '(a+)+$' } })),
  )
  console.log(`  the bad pattern takes ${(bad - word).toFixed(1)} ms more than the word`)
  sql.close()

  function wrapped(real: ReturnType<typeof openSql>) {
    return {
      rows: (text: string, ...values: (string | number | null | Uint8Array)[]) => {
        statements++
        return real.rows(text, ...values)
      },
      run: (text: string, ...values: (string | number | null | Uint8Array)[]) => real.run(text, ...values),
      transaction: real.transaction.bind(real),
      within: real.within.bind(real),
    }
  }
}

/** Milliseconds of computing so far: what others do on the machine does not count. */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Runs something often and prints the median, the fastest and the slowest tenth. */
function report(title: string, times: number, work: () => unknown): number {
  for (let i = 0; i < Math.ceil(times / 10); i++) work()
  const spent = Array.from({ length: times }, () => {
    const began = cpu()
    work()
    return cpu() - began
  }).sort((a, b) => a - b)
  const part = (share: number) => spent[Math.floor(spent.length * share)]!
  console.log(
    `${title.padEnd(46)} ${part(0.5).toFixed(3).padStart(9)} (${part(0.1).toFixed(3)}–${part(0.9).toFixed(3)})`,
  )
  return part(0.5)
}

function walk(page: (cursor: string | null) => { cursor: string | null }) {
  const spent: number[] = []
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    const began = cpu()
    ;({ cursor } = page(cursor))
    spent.push(cpu() - began)
  }
  const edge = Math.max(1, Math.floor(spent.length / 10))
  const middle = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]!
  return { count: spent.length, first: middle(spent.slice(0, edge)), last: middle(spent.slice(-edge)) }
}
