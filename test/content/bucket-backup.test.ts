import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Tilde, tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { TestBucket } from './bucket.ts'
import { hashOf, send, until } from './content.ts'

let host: TestHost
let bucket: TestBucket
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  bucket = await new TestBucket().start()
  const { TILDE_FILES, ...keys } = bucket.settings
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, ...keys })
})
afterAll(async () => {
  await host.stop()
  await bucket.stop()
})
beforeEach(() => {
  bucket.fault = () => null
  bucket.isUnlisted = () => false
})

const verdict = async (slug: string) => (await host.request('GET', `/operator/tenants/${slug}/verify`)).body

verifies(
  ['backup.bucket', 'backup.bucket.moment'],
  'a tenant is saved to a bucket with its files, and restored to any event',
  async () => {
    await host.request('PUT', '/~paper/schema/Deal', { contract: 'file' })
    const { body: deal } = await host.request('POST', '/~paper/Deal', { name: 'D' })
    const path = `Deal/${deal.$id}/contract`
    await send(host, 'POST', `/~paper/${path}`, 'first', { 'content-type': 'text/plain' })
    expect((await tilde('backup', 'paper', '--to', 's3://tilde/logs/paper', '--json')).json.seq).toBe(3)
    await send(host, 'POST', `/~paper/${path}`, 'second', { 'content-type': 'text/plain' })
    expect((await tilde('backup', 'paper', '--to', 's3://tilde/logs/paper', '--json')).json.events).toBe(1)

    const again = await tilde('restore', 's3://tilde/logs/paper', '--as', 'paper-2', '--json')
    const then = await tilde('restore', 's3://tilde/logs/paper', '--as', 'paper-3', '--as-of', '3', '--json')
    const checked = await tilde('verify', '--from', 's3://tilde/logs/paper', '--json')

    expect([again.err, then.err]).toEqual(['', ''])
    expect(await verdict('paper-2')).toMatchObject({ ok: true, head: (await verdict('paper')).head })
    expect(checked.json.head).toEqual((await verdict('paper')).head)
    expect((await send(host, 'GET', `/~paper-2/${path}`, null)).text).toBe('second')
    expect((await send(host, 'GET', `/~paper-3/${path}`, null)).text).toBe('first')
    const files = [...bucket.objects.keys()].filter((key) => key.includes('/files/'))
    expect(files.map((key) => `sha256:${key.split('/').at(-1)}`).toSorted()).toEqual(
      [hashOf('first'), hashOf('second')].toSorted(),
    )
    const other = await tilde('backup', 'paper-2', '--to', 's3://tilde/logs/paper')
    expect(other.err).toContain('holds a backup of paper, not of paper-2')
  },
)

verifies(
  'backup.bucket.follow',
  'a backup that follows saves each write within a second, also from a bucket that fails',
  async () => {
    let turn = 0
    bucket.fault = () => {
      turn++
      return turn % 5 === 0 ? 'error' : turn % 7 === 0 ? 'reset' : turn % 11 === 0 ? 'lost answer' : null
    }
    const following = tilde.start('backup', '--all', '--to', 's3://tilde/all', '--follow', '--json')
    let seen = ''
    following.stdout!.on('data', (chunk) => {
      seen += chunk
    })
    const acknowledged: { at: number; name: string }[] = []
    const write = async (name: string) => {
      await host.request('POST', '/~busy/Contact', { name })
      acknowledged.push({ at: Date.now(), name })
    }
    await write('first')
    await until(() => seen.includes('busy'), 30_000)
    bucket.fault = () => null
    await write('warm')
    await until(() => JSON.parse(`[${seen.trim().replaceAll('\n', ',')}]`).at(-1).seq >= 2, 30_000)
    for (const end = Date.now() + 2_500; Date.now() < end; ) await write(`n${acknowledged.length}`)
    const gone = Date.now()
    following.kill('SIGKILL')
    await once(following, 'exit')

    const restored = await tilde('restore', 's3://tilde/all/busy', '--as', 'busy-2', '--json')

    expect(restored.err).toBe('')
    const there = new Set<string>()
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await host.request('GET', `/~busy-2/Contact?limit=100&cursor=${cursor}`)
      for (const { name } of body.results) there.add(name)
      cursor = body.cursor
    }
    const lost = acknowledged.filter(({ name }) => !there.has(name))
    expect(lost.filter(({ at }) => at < gone - 1_000)).toEqual([])
    expect(acknowledged.length - lost.length).toBeGreaterThan(2)
  },
  60_000,
)

verifies('backup.bucket', 'a backup that sees an old list of its bucket loses and repeats nothing', async () => {
  const text = 'x'.repeat(300_000)
  const write = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await host.request('POST', '/~stale/Contact', { name: `${n}`, note: `${n}${text}` })
  }
  const save = () => tilde('backup', 'stale', '--to', 's3://tilde/stale', '--json')
  await write(0, 6)
  await save()
  const early = new Set(bucket.objects.keys())
  await write(6, 13)
  await save()
  bucket.isUnlisted = (key) => !early.has(key)
  await write(13, 15)

  expect((await save()).code).toBe(0)
  bucket.isUnlisted = () => false
  const restored = await tilde('restore', 's3://tilde/stale', '--as', 'stale-2', '--json')

  expect(restored.err).toBe('')
  expect((await verdict('stale-2')).head).toEqual((await verdict('stale')).head)
})

test('a damaged tenant is repaired from its backup in a bucket', async () => {
  const create = (name: string) => host.request('POST', '/~broken/Contact', { name })
  for (const name of ['Ada', 'Bob']) await create(name)
  await tilde('backup', 'broken', '--to', 's3://tilde/broken', '--json')
  await create('Cyd')
  const { head } = await verdict('broken')
  await host.restart()
  const path = join(host.data, 'tenants', 'br', 'broken.db')
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf('Bob'); at !== -1; at = bytes.indexOf('Bob', at + 1)) bytes.write('B0b', at)
  writeFileSync(path, bytes)
  const { TILDE_FILES, ...keys } = bucket.settings
  const again = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, ...keys })

  const refused = await host.request('GET', '/~broken/Contact')
  const repaired = await again('repair', 'broken', '--from', 's3://tilde/broken', '--json')

  expect([refused.status, repaired.err]).toEqual([503, ''])
  expect(repaired.json).toMatchObject({ tenant: 'broken', recovered: 1, lost: 0, head: head.hash })
  expect(await verdict('broken')).toMatchObject({ ok: true, head })
})
