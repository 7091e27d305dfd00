import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { sha256 } from './crypto.ts'

/** The bits of each byte that are changed: one of them in turns, unless all are asked for. */
const BITS = process.env.TILDE_BITS === 'all' ? [0, 1, 2, 3, 4, 5, 6, 7] : []
const VERIFIER = join(import.meta.dirname, '../../docs/verify.py')
const ATTACKS = join(import.meta.dirname, 'attacks.py')
const RUNS = Number(process.env.TILDE_ATTACKS ?? 150)

interface Row {
  [field: string]: unknown
  seq: number
  data: string | null
  previous: string | null
  args: string | null
  salt: string | null
  digest: string
  hash: string
}

let app: TestApp
let log: string[]
let checkpoint: string
let keys: string

beforeAll(async () => {
  app = await testApp({ TILDE_BASE_URL: 'https://tilde.example' })
  await app.request('POST', '/~acme/import/history', [
    { type: 'Deal', source: 'd:1', verb: 'create', timestamp: '2024-05-01T09:00:00Z', data: { name: 'Old' } },
    { type: 'Deal', source: 'd:1', verb: 'update', timestamp: '2024-06-01T09:00:00Z', data: { value: 7 } },
  ])
  const create = async (fields: object) => (await app.request('POST', '/~acme/Contact', fields)).body.$id
  const ada = await create({ name: 'Ada\n“Lovelace”\u0001 \u{1f30a}', email: 'ada@example.org' })
  const eve = await create({ name: 'Eve', tags: 'a,b' })
  await app.request('PUT', `/~acme/Contact/${ada}`, { name: 'Ada King', score: 1.5 })
  await app.request('POST', '/~acme/events', { name: 'signed_up', type: 'track' })
  const { body } = await app.request('PUT', `/~acme/Contact/${eve}?propose=Tags`, { tags: 'c' })
  await app.as(await app.key('acme', 'admin:all'))('POST', `/~acme/changesets/${body.$id}/approve`)
  await app.request('POST', `/~acme/Contact/${eve}/erase`, { reason: 'asked for it' })
  await app.request('POST', `/~acme/Contact/${ada}/qualify`)
  await app.request('DELETE', `/~acme/Contact/${ada}`)
  checkpoint = (await app.request('GET', '/~acme/checkpoint')).text
  keys = (await app.request('GET', '/.well-known/tilde-keys')).text
  await create({ name: 'Later' })
  log = (await app.request('GET', '/operator/tenants/acme/log')).text.trimEnd().split('\n')
})
afterAll(() => app.stop())

/** What the verifier says of each log. */
function verdicts(logs: readonly (readonly string[])[]): string[] {
  return run(logs.map((lines) => ({ log: lines, checkpoint, keys })))
}

function run(cases: readonly object[]): any[] {
  const { stdout, stderr, status } = spawnSync('python3', [ATTACKS], {
    input: cases.map((one) => `${JSON.stringify(one)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const isEvent = (line: string) => line.startsWith('{"seq"')
const rowsOf = (lines: readonly string[]): Row[] => lines.filter(isEvent).map((line) => JSON.parse(line))

/** What the digest of an event covers in addition to its salt. */
function valuesOf({ data, previous, args }: { data: string | null; previous: string | null; args: string | null }) {
  return [data ?? '', previous ?? '', ...(args === null ? [] : [args])].join('\n')
}

/** What an operator does who rewrites a log: numbers, digests and the chain are computed again. */
function resealed(rows: readonly Row[]): string[] {
  let before: Uint8Array = new Uint8Array(32)
  const lines = rows.map((row, i) => {
    const seq = i + 1
    const digest =
      row.salt === null ? Buffer.from(row.digest, 'hex') : sha256(Buffer.from(row.salt, 'hex'), valuesOf(row))
    const { id, at, type, entity, verb, event, version, actor, correlation, createdAt, createdBy } = row
    const header = [seq, id, at, type, entity, verb, event, version, actor, correlation, createdAt, createdBy]
    if (row.onBehalfOf) header.push(row.onBehalfOf as string)
    if (row.recordedAt) header.push(row.recordedAt as number)
    before = sha256(before, JSON.stringify(header), digest)
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
    return JSON.stringify({ ...row, seq, digest: hex(digest), hash: hex(before) })
  })
  return [log[0]!, ...lines, JSON.stringify({ end: true, seq: rows.length, hash: Buffer.from(before).toString('hex') })]
}

describe('the verifier of docs/verify.py', () => {
  test('has less than 200 lines and imports the standard library only', () => {
    const text = readFileSync(VERIFIER, 'utf8')

    expect(text.split('\n').length).toBeLessThan(200)
    expect(text.match(/^(?:import|from) .*/gm)).toEqual(['import argparse, base64, gzip, hashlib, json, pathlib, sys'])
  })

  verifies('proof.erasure', 'accepts the log as it is, with its erasure and what came after the checkpoint', () => {
    const rows = rowsOf(log)

    expect(rows.filter(({ salt }) => salt === null)).not.toEqual([])
    expect(verdicts([log, resealed(rows)])).toEqual(['ok', 'ok'])
  })

  verifies(
    'proof.verifier',
    'finds a change of any byte of any event; in the long run, of any bit',
    () => {
      const [{ count, missed }] = run([{ log, checkpoint, keys, everyByte: true, bits: BITS }])

      expect(missed).toEqual([])
      expect(count).toBeGreaterThan(1_000 * Math.max(1, BITS.length))
    },
    600_000,
  )

  const index = fc.nat(1_000)
  const attack = fc.oneof(
    fc.record({ kind: fc.constant('change' as const), at: index, field: index, place: index, letter: fc.nat(25) }),
    fc.record({ kind: fc.constant('swap' as const), at: index, with: index }),
    fc.record({ kind: fc.constant('delete' as const), at: index }),
    fc.record({ kind: fc.constant('insert' as const), at: index, copy: index }),
    fc.record({ kind: fc.constant('truncate' as const), at: index }),
    fc.record({ kind: fc.constant('erase' as const), at: index }),
    fc.record({ kind: fc.constant('refill' as const), at: index }),
  )
  const FIELDS = [
    'id',
    'at',
    'type',
    'entity',
    'verb',
    'event',
    'version',
    'actor',
    'createdAt',
    'data',
    'previous',
    'args',
    'salt',
  ]

  /** The log after an attack on the events that the checkpoint covers; null when it changes nothing. */
  function attacked(how: typeof attack extends fc.Arbitrary<infer T> ? T : never): string[] | null {
    const rows = rowsOf(log)
    const covered = Number(checkpoint.split('\n')[1])
    const at = how.at % covered
    const row = rows[at]!
    switch (how.kind) {
      case 'change': {
        const field = FIELDS[how.field % FIELDS.length]!
        const value = row[field]
        if (value === null) return null
        if (typeof value === 'number') row[field] = value + 1
        else {
          const text = String(value)
          const place = how.place % text.length
          const letter = field === 'salt' ? '0123456789abcdef'[how.letter % 16]! : String.fromCharCode(97 + how.letter)
          if (text[place] === letter) return null
          row[field] = text.slice(0, place) + letter + text.slice(place + 1)
        }
        break
      }
      case 'swap': {
        const other = how.with % covered
        if (at === other) return null
        ;[rows[at], rows[other]] = [rows[other]!, row]
        break
      }
      case 'delete':
        rows.splice(at, 1)
        break
      case 'insert':
        rows.splice(at, 0, { ...rows[how.copy % rows.length]!, id: 'event_0000000000000000000000' })
        break
      case 'truncate':
        rows.length = at
        break
      case 'erase':
        if (row.salt === null || row.type === 'Erasure') return null
        Object.assign(row, { salt: null, data: null, previous: null, args: null })
        break
      case 'refill':
        if (row.salt !== null) return null
        Object.assign(row, { salt: '00'.repeat(16), data: '{"name":"Made up"}' })
        break
    }
    // Times that go back would be found without a checkpoint: a careful operator mends them too.
    for (const [i, one] of rows.entries()) one.at = Math.max(Number(one.at), Number(rows[i - 1]?.at ?? 0))
    return resealed(rows)
  }

  verifies(
    'proof.verifier',
    'finds every change, reordering, deletion, insertion and truncation by an operator who computes all hashes again',
    () => {
      const attacks = fc.sample(attack, RUNS).flatMap((how) => {
        const lines = attacked(how)
        return lines === null || lines.join() === log.filter((line) => !line.includes('"beside"')).join()
          ? []
          : [{ how, lines }]
      })

      const found = verdicts(attacks.map(({ lines }) => lines))

      expect(attacks.filter((_, i) => found[i] === 'ok').map(({ how }) => how)).toEqual([])
      expect(new Set(attacks.map(({ how }) => how.kind)).size).toBe(7)
    },
    600_000,
  )

  test('is not content with a checkpoint that another key signed', () => {
    const other = JSON.stringify({ keys: [{ publicKey: Buffer.alloc(32, 1).toString('base64') }] })

    expect(run([{ log, checkpoint, keys: other }])).toEqual(['rejected: No known key signed the checkpoint.'])
    const forged = checkpoint.replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) - 1}\n`)
    expect(run([{ log, checkpoint: forged, keys }])[0]).toMatch(/^rejected: A signature of/)
  })

  test('runs from the command line, over a log and over the proof of one event', async () => {
    const file = (name: string, text: string) => {
      writeFileSync(join(app.data, name), text)
      return join(app.data, name)
    }
    const proof = (await app.request('GET', '/~acme/proof/3')).text
    const start = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('python3', [VERIFIER, ...args], { encoding: 'utf8' })
      return { status, said: stdout + stderr }
    }
    const known = file('keys.json', keys)
    const whole = file('log.ndjson', `${log.join('\n')}\n`)

    expect(start('log', file('checkpoint.txt', checkpoint), known, whole)).toMatchObject({ status: 0 })
    expect(start('event', file('proof.json', proof), known)).toMatchObject({ status: 0 })
    expect(start('event', file('proof.json', proof), JSON.parse(proof).key)).toMatchObject({ status: 0 })
    const changed = file('proof.json', proof.replace('ada@example.org', 'eve@example.org'))
    expect(start('event', changed, known)).toEqual({ status: 1, said: 'REJECTED: The values changed.\n' })
    const cut = file('cut.ndjson', `${log.slice(0, 4).join('\n')}\n`)
    expect(start('log', file('checkpoint.txt', checkpoint), known, cut).said).toContain('it was cut off')
  })
})
