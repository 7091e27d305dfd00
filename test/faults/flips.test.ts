import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chance } from '../chance.ts'
import { type Reply, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const PAGE = 2_048
const HEADER = 100
const LOG_HEADER = 32
const SEED = Number(process.env.FLIP_SEED ?? 46)
const FLIPS = Number(process.env.FLIPS ?? 120)

let folder: string
const fileOf = (slug: string) => join(folder, 'tenants', slug.slice(0, 2), `${slug}.db`)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-flips-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The files of a tenant that is open: its own, its log, and its checksum. */
const SUFFIXES = ['', '-wal', '-sum']
const read = (path: string) => (existsSync(path) ? readFileSync(path) : null)

/** Makes a tenant of the files of another, with one flipped bit in the first. */
function place(slug: string, files: readonly (Buffer | null)[], bit?: number): void {
  mkdirSync(dirname(fileOf(slug)), { recursive: true })
  for (const [i, bytes] of files.entries()) if (bytes) writeFileSync(`${fileOf(slug)}${SUFFIXES[i]}`, bytes)
  if (bit === undefined) return
  const flipped = Buffer.from(files[0]!)
  flipped[bit >> 3]! ^= 1 << (bit & 7)
  writeFileSync(fileOf(slug), flipped)
}

/** A tenant with rows on many pages, with indexes, deleted rows and free pages, and nothing running. */
async function stock(slug = 'whole'): Promise<string> {
  const app = await testApp({}, { data: folder })
  let id = ''
  for (let i = 0; i < 60; i++) {
    const draft = { name: `Name ${i}`, email: `n${i}@example.org`, notes: `word${i % 5} ${'x'.repeat(300)}` }
    const { body } = await app.request('POST', `/~${slug}/Contact`, draft)
    if (i === 30) id = body.$id
    if (i % 9 === 0) await app.request('PATCH', `/~${slug}/Contact/${body.$id}`, { stage: 'Qualified' })
    if (i % 20 === 7) await app.request('DELETE', `/~${slug}/Contact/${body.$id}`)
  }
  await app.request('GET', `/~${slug}/Contact?filter={"$text":"word1"}`)
  await app.stop()
  return id
}

const questions = (slug: string, id: string) => [
  `/~${slug}/Contact?limit=100`,
  `/~${slug}/Contact?limit=1`,
  `/~${slug}/Contact/${id}`,
  `/~${slug}/Contact?limit=100&sort=-email`,
  `/~${slug}/Contact?limit=100&filter={"stage":"Qualified"}`,
  `/~${slug}/Contact?limit=100&filter={"$text":"word1"}`,
  `/~${slug}/Contact/aggregate?group=stage`,
  `/~${slug}/export/Contact?format=ndjson`,
  `/~${slug}/events?limit=1000`,
]

/** The answers of a tenant, without what differs from tenant to tenant. */
async function answersOf(app: TestApp, slug: string, id: string): Promise<{ status: number; text: string }[]> {
  const plain = ({ status, text, body }: Reply) => {
    const said = body?.results ? JSON.stringify([body.total, body.results]) : text
    return { status, text: said.replaceAll(slug, '') }
  }
  const answers = []
  for (const path of questions(slug, id)) answers.push(plain(await app.request('GET', path)))
  return answers
}

verifies('files.damaged', `${FLIPS} files with one flipped bit each answer 503 or in full (seed ${SEED})`, async () => {
  const id = await stock()
  const bytes = readFileSync(fileOf('whole'))
  const chance = new Chance(SEED)
  const below = (most: number) => Math.floor(chance.between(0, most))
  const flips = Array.from({ length: FLIPS }, (_, i) => (i < 10 ? below(HEADER * 8) : below(bytes.length * 8)))
  mkdirSync(dirname(fileOf('flip')), { recursive: true })
  for (const [i, bit] of flips.entries()) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    writeFileSync(fileOf(`flip-${i}`), flipped)
  }

  const app = await testApp({}, { data: folder })
  const whole = await answersOf(app, 'whole', id)
  const wrong: string[] = []
  for (const [i, bit] of flips.entries()) {
    const answers = await answersOf(app, `flip-${i}`, id)
    const bad = answers.flatMap(({ status, text }, n) =>
      status === 503 || (status === whole[n]!.status && text === whole[n]!.text) ? [] : [`${n}:${status}`],
    )
    if (bad.length > 0) wrong.push(`bit ${bit} (page ${Math.floor((bit >> 3) / PAGE) + 1}): ${bad.join(' ')}`)
  }
  const verdicts = await Promise.all(
    flips.slice(10, 20).map((_, i) => app.request('GET', `/operator/tenants/flip-${i + 10}/verify`)),
  )
  await app.stop()

  expect(whole.map(({ status }) => status)).toEqual(whole.map(() => 200))
  expect(wrong).toEqual([])
  expect(verdicts.filter(({ status }) => status === 500)).toEqual([])
})

verifies(
  'files.damaged',
  `${FLIPS} write-ahead logs with one flipped bit each, or truncated, answer 503 or in full (seed ${SEED})`,
  async () => {
    const chance = new Chance(SEED)
    const below = (most: number) => Math.floor(chance.between(0, most))
    const live = await testApp({}, { data: folder })
    const made: string[] = []
    let markBefore = Buffer.alloc(0)
    for (let i = 0; i < 20; i++) {
      if (i === 19) markBefore = readFileSync(`${fileOf('logged')}-mark`)
      const { body } = await live.request('POST', '/~logged/Contact', { name: `Name ${i}`, notes: 'x'.repeat(300) })
      made.push(body.$id)
    }
    // As kill -9 leaves them: all rows are in the log.
    const [file, log, mark] = ['', '-wal', '-mark'].map((suffix) => readFileSync(`${fileOf('logged')}${suffix}`))
    await live.stop()
    const flips = Array.from({ length: FLIPS }, (_, i) => below((i < 10 ? LOG_HEADER : log!.length) * 8))
    mkdirSync(dirname(fileOf('wal')), { recursive: true })
    const left = (slug: string, log: Buffer | null, itsMark: Buffer = mark!) => {
      writeFileSync(fileOf(slug), file!)
      // The log was not copied into it since the last commit.
      utimesSync(fileOf(slug), 1_700_000_000, 1_700_000_000)
      if (log) writeFileSync(`${fileOf(slug)}-wal`, log)
      writeFileSync(`${fileOf(slug)}-mark`, itsMark)
    }
    for (const [i, bit] of flips.entries()) {
      const flipped = Buffer.from(log!)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      left(`wal-${i}`, flipped)
    }
    left('wal-whole', log!)
    const lengths = [0, 10, LOG_HEADER, ...Array.from({ length: 10 }, () => below(log!.length - PAGE))]
    for (const [i, length] of lengths.entries()) left(`wal-cut-${i}`, log!.subarray(0, length))
    left('wal-deleted', null)
    left('wal-zeros', Buffer.concat([log!.subarray(0, LOG_HEADER), Buffer.alloc(log!.length - LOG_HEADER)]))
    // Lost power leaves half of a commit that was not acknowledged. The tenant continues without it.
    left('wal-torn', Buffer.concat([log!.subarray(0, -PAGE / 2), Buffer.alloc(PAGE / 2)]), markBefore)
    // Lost power may take the mark, too.
    left('wal-unmarked', log!, Buffer.alloc(16))

    const app = await testApp({}, { data: folder })
    const told = async (slug: string) => {
      const { status, body } = await app.request('GET', `/~${slug}/Contact?limit=100`)
      return status === 200 ? body.total : status
    }
    const answers: (number | string)[] = []
    for (let i = 0; i < flips.length; i++) answers.push(await told(`wal-${i}`))
    const lost: (number | string)[] = [await told('wal-deleted'), await told('wal-zeros')]
    for (let i = 0; i < lengths.length; i++) lost.push(await told(`wal-cut-${i}`))
    const [whole, unmarked, torn] = [await told('wal-whole'), await told('wal-unmarked'), await told('wal-torn')]
    await app.stop()

    expect([whole, unmarked]).toEqual([made.length, made.length])
    expect(torn).toBe(made.length - 1)
    expect(lost).toEqual(lost.map(() => 503))
    expect(flips.filter((_, i) => answers[i] !== 503 && answers[i] !== made.length)).toEqual([])
    expect(answers.filter((answer) => answer === 503).length).toBeGreaterThan(FLIPS / 2)
  },
)

verifies(
  'files.damaged',
  `${FLIPS / 2} files with one flipped bit each that kill -9 has left answer 503 or in full (seed ${SEED})`,
  async () => {
    const chance = new Chance(SEED)
    const below = (most: number) => Math.floor(chance.between(0, most))
    const id = await stock('killed')
    const live = await testApp({}, { data: folder })
    // One has read, one has written, and one has copied its log into its file since.
    const snapshot = (slug: string) => [SUFFIXES.map((suffix) => read(`${fileOf(slug)}${suffix}`)), slug] as const
    await live.request('GET', `/~killed/Contact/${id}`)
    const left = [snapshot('killed')]
    await live.request('PATCH', `/~killed/Contact/${id}`, { title: 'Head' })
    left.push(snapshot('killed'))
    await live.request('POST', `/~killed/Contact/${id}/erase`)
    left.push(snapshot('killed'))
    await live.stop()
    const flips = Array.from({ length: FLIPS / 2 }, (_, i) => {
      const files = left[i % left.length]![0]
      const bit = below((i < 12 ? HEADER : files[0]!.length) * 8)
      place(`kill-${i}`, files, bit)
      return bit
    })
    for (const [i, [files]] of left.entries()) place(`kill-whole-${i}`, files)

    const app = await testApp({}, { data: folder })
    const whole = []
    for (let i = 0; i < left.length; i++) whole.push(await answersOf(app, `kill-whole-${i}`, id))
    const wrong: string[] = []
    let refused = 0
    for (const [i, bit] of flips.entries()) {
      const expected = whole[i % left.length]!
      const answers = await answersOf(app, `kill-${i}`, id)
      if (answers.every(({ status }) => status === 503)) refused++
      const bad = answers.flatMap(({ status, text }, n) =>
        status === 503 || (status === expected[n]!.status && text === expected[n]!.text) ? [] : [`${n}:${status}`],
      )
      if (bad.length > 0) wrong.push(`bit ${bit} of ${i % left.length}: ${bad.join(' ')}`)
    }
    await app.stop()

    expect(whole.map((answers) => answers.filter(({ status }) => status === 503))).toEqual([[], [], []])
    expect(wrong).toEqual([])
    expect(refused).toBe(flips.length)
  },
)

verifies(
  'files.damaged',
  `large files with one flipped bit each answer 503, closed or left by kill -9 (seed ${SEED})`,
  async () => {
    const chance = new Chance(SEED)
    const write = (app: TestApp, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          app.request('POST', '/~large/Contact', { name: `Name ${i}`, notes: `${i} `.padEnd(900_000, 'x') }),
        ),
      )
    const first = await testApp({}, { data: folder })
    await write(first, 40)
    await first.stop()
    const closed = [readFileSync(fileOf('large'))]
    const live = await testApp({}, { data: folder })
    // Enough for the log to be copied into the file, and some more that stays in the log.
    await write(live, 12)
    const { body } = await live.request('POST', '/~large/Contact', { name: 'last' })
    const killed = SUFFIXES.map((suffix) => read(`${fileOf('large')}${suffix}`))
    await live.stop()
    const flips = Array.from({ length: 6 }, (_, i) => {
      const files = i % 2 === 0 ? closed : killed
      place(`large-${i}`, files, Math.floor(chance.next() * (files[0]!.length - PAGE) * 8))
      return `large-${i}`
    })
    place('large-closed', closed)
    place('large-killed', killed)

    const app = await testApp({}, { data: folder })
    const statuses: number[] = []
    for (const slug of flips) statuses.push((await app.request('GET', `/~${slug}/Contact?limit=1`)).status)
    const totals = []
    for (const slug of ['large-closed', 'large-killed'])
      totals.push((await app.request('GET', `/~${slug}/Contact?limit=1`)).body.total)
    const last = await app.request('GET', `/~large-killed/Contact/${body.$id}`)
    await app.stop()

    expect(closed[0]!.length).toBeGreaterThan(32 * 1024 * 1024)
    expect(killed[0]!.length).toBeGreaterThan(closed[0]!.length)
    expect(statuses).toEqual(flips.map(() => 503))
    expect([totals, last.status]).toEqual([[40, 53], 200])
  },
)

test('a file that an older version has closed is whole, and with a flipped bit it is refused', async () => {
  const pages = readFileSync(fileOf('whole')).subarray(0, -16)
  const seal = Buffer.alloc(16, 'tilde crc32 ', 'latin1')
  seal.writeUInt32BE(crc32(pages), 12)
  const closed = [Buffer.concat([pages, seal])]
  place('older', closed)
  place('older-flipped', closed, pages.length * 4)

  const app = await testApp({}, { data: folder })
  const whole = await app.request('GET', '/~older/Contact?limit=1')
  const flipped = await app.request('GET', '/~older-flipped/Contact?limit=1')
  await app.stop()

  expect([whole.body.total, flipped.status]).toEqual([57, 503])
})

test('a file that was copied away and back is whole', async () => {
  copyFileSync(fileOf('whole'), join(folder, 'copy.db'))
  copyFileSync(join(folder, 'copy.db'), fileOf('flip-again'))

  const app = await testApp({}, { data: folder })
  const { body } = await app.request('GET', '/~flip-again/Contact?limit=1')
  await app.stop()

  expect(body.total).toBe(57)
})
