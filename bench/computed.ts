import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localTildebase } from '@tildebase/server'

/**
 * What computed fields cost a create, and how fast fields are renamed. Run it with `npm run bench -- computed [rounds]`.
 * The kinds take turns, so that what else the machine does touches all of them alike.
 */
const ROUNDS = Number(process.argv[2] ?? 15)
const CREATES = 1_000
const AT_ONCE = 64
const PARENTS = 100
const MIGRATED = 20_000

const LINE = { name: 'string!', quantity: 'number', price: 'number', order: '-> Order' }
const KINDS: { readonly [kind: string]: { readonly type: string; readonly notation: object } } = {
  'no computed field': { type: 'Plain', notation: LINE },
  'one, of own fields': { type: 'Own', notation: { ...LINE, amount: '= quantity * price' } },
  'three, of own fields': {
    type: 'Three',
    notation: { ...LINE, amount: '= quantity * price', tax: '= amount * 0.2', total: '= amount + tax' },
  },
  'one, of a related entity': { type: 'Behind', notation: { ...LINE, rate: '= order.rate' } },
  'its parent sums it up': { type: 'Summed', notation: LINE },
}

const path = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
const service = await localTildebase({ path, tenant: 'bench' })
await send('PUT', '/schema/Order', { name: 'string', rate: 'number' })
for (const { type, notation } of Object.values(KINDS)) await send('PUT', `/schema/${type}`, notation)
const order = { name: 'string', rate: 'number', lines: '<- Summed.order[]', total: '= sum(lines.price)' }
await send('PUT', '/schema/Order', order)
const parents: string[] = []
for (let n = 0; n < PARENTS; n++) parents.push((await send('POST', '/Order', { name: `${n}`, rate: n })).$id)

const taken = new Map(Object.keys(KINDS).map((kind) => [kind, [] as number[]]))
for (let round = -1; round < ROUNDS; round++) {
  for (const [kind, { type }] of Object.entries(KINDS)) {
    const micros = await creates(type)
    if (round >= 0) taken.get(kind)!.push(micros)
  }
}
const base = median(taken.get('no computed field')!)
console.log(`Node ${process.version}; µs of computing per create, ${AT_ONCE} at once, medians of ${ROUNDS} rounds`)
for (const [kind, micros] of taken) {
  console.log(`${kind.padEnd(26)} ${median(micros).toFixed(0).padStart(5)} µs  ${(median(micros) / base).toFixed(2)}`)
}
await migrate()
await service.close()
rmSync(path, { recursive: true })

/** The processor's time for one create, in microseconds. */
async function creates(type: string): Promise<number> {
  const began = process.cpuUsage()
  let next = 0
  const one = async () => {
    for (let n = next++; n < CREATES; n = next++) {
      const body = { name: `Line ${n}`, quantity: n % 7, price: n / 4, order: parents[n % PARENTS]! }
      await send('POST', `/${type}`, body)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  const { user, system } = process.cpuUsage(began)
  return (user + system) / CREATES
}

/** How many entities a second a rename writes. */
async function migrate(): Promise<void> {
  await send('PUT', '/schema/Many', { name: 'string', size: 'string' })
  const rows = Array.from({ length: MIGRATED }, (_, n) => ({ name: `${n}`, size: `${n}` }))
  await send('POST', '/import/Many', rows)
  for (const [way, body] of [
    ['rename', { from: 'name', to: 'title' }],
    ['retype', { field: 'size', to: 'number' }],
  ] as const) {
    const began = performance.now()
    const { migrated } = await send('POST', `/schema/Many/${way}`, body)
    const seconds = (performance.now() - began) / 1_000
    console.log(`${way} of ${migrated} entities: ${Math.round(migrated / seconds)} a second`)
  }
}

async function send(method: string, to: string, body: object): Promise<any> {
  const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' }
  const url = `http://localhost:8787/~bench${to}`
  const answer = await service.fetch(url, { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${to}: ${await answer.text()}`)
  return answer.json()
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
