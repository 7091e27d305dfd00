import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

const SEED = Buffer.alloc(32, 8).toString('base64')
const env = { TILDE_SIGNING_KEY: SEED, TILDE_BASE_URL: 'https://tilde.example' }
let host: TestHost
beforeAll(async () => {
  host = await testHost(env)
})
afterAll(() => host.stop())

const write = async (to: TestHost, tenant: string, count: number) => {
  const rows = Array.from({ length: count }, (_, i) => ({ name: `Person ${i}` }))
  await to.request('POST', `/~${tenant}/import/Contact`, rows)
}
const tildeOf = (to: TestHost, tenant: string) =>
  tildeWith({ TILDE_URL: to.url, TILDE_TENANT: tenant, TILDE_ROOT_KEY: ROOT })

describe('tilde prove', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-prove-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  verifies('proof.prove', 'checks the proof of an event and saves it, with the checkpoint', async () => {
    await write(host, 'prove', 7)
    const tilde = tildeWith({ TILDE_URL: host.url, TILDE_KEY: await host.key('prove', 'read:all') })
    const { results } = (await host.request('GET', '/~prove/events')).body
    const [json, html, checkpoint] = ['a.json', 'a.html', 'c.txt'].map((name) => join(folder, name))

    const ended = await tilde('prove', results[2].id, '-o', json!, '--checkpoint', checkpoint!, '--json')
    const page = await tilde('prove', '3', '-o', html!)
    const later = await tilde('verify', '--against', checkpoint!, '--json')

    expect(ended.json).toMatchObject({ event: results[2].id, ok: true, seq: 3, size: 8, values: 'proved' })
    expect(JSON.parse(readFileSync(json!, 'utf8'))).toMatchObject({ event: results[2].id })
    expect([page.code, readFileSync(html!, 'utf8').slice(0, 15)]).toEqual([0, '<!doctype html>'])
    expect(later.json).toMatchObject({ ok: true, origin: 'tilde.example/~prove', events: 8, since: 0 })
    expect((await tilde('prove', '99')).code).toBe(1)
  })

  test('trusts the keys of a file, and no others', async () => {
    await write(host, 'keys', 2)
    const tilde = tildeOf(host, 'keys')
    const other = join(folder, 'other.json')
    writeFileSync(other, JSON.stringify({ keys: [{ publicKey: Buffer.alloc(32, 2).toString('base64') }] }))

    const { code, err } = await tilde('prove', '1', '--keys', other)

    expect([code, err]).toEqual([1, expect.stringContaining('is not signed by a known key')])
  })
})

describe('tilde verify --against', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-against-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  verifies('proof.verify', 'accepts a history that continues, and finds one that was rewritten or cut', async () => {
    await write(host, 'history', 9)
    const saved = join(folder, 'checkpoint.txt')
    writeFileSync(saved, (await host.request('GET', '/~history/checkpoint')).text)
    await write(host, 'history', 4)
    // Other services under the same name and key: what an operator can show who rewrites or cuts the log.
    const rewritten = await testHost(env)
    const cut = await testHost(env)
    await write(rewritten, 'history', 13)
    await write(cut, 'history', 3)

    const [whole, other, shorter] = await Promise.all(
      [host, rewritten, cut].map((one) => tildeOf(one, 'history')('verify', '--against', saved)),
    )
    await rewritten.stop()
    await cut.stop()

    expect([whole!.code, whole!.out]).toEqual([0, expect.stringContaining('since\t4')])
    expect([other!.code, other!.err]).toEqual([1, expect.stringContaining('the history was rewritten')])
    expect([shorter!.code, shorter!.err]).toEqual([1, expect.stringContaining('The log has 3 events, but had 9')])
  })

  test('checks a backup against the checkpoint that was saved with it, or any other', async () => {
    await write(host, 'kept', 5)
    const tilde = tildeOf(host, 'kept')
    const backup = join(folder, 'kept')
    await tilde('backup', 'kept', '--to', backup)
    const saved = join(backup, 'checkpoint.txt')

    const whole = await tilde('verify', '--from', backup, '--against', saved, '--json')
    await write(host, 'kept', 2)
    writeFileSync(join(folder, 'later.txt'), (await host.request('GET', '/~kept/checkpoint')).text)
    const short = await tilde('verify', '--from', backup, '--against', join(folder, 'later.txt'))
    writeFileSync(join(folder, 'forged.txt'), readFileSync(saved, 'utf8').replace('\n5\n', '\n4\n'))
    const forged = await tilde('verify', '--from', backup, '--against', join(folder, 'forged.txt'))

    expect(whole.json).toMatchObject({ ok: true, origin: 'tilde.example/~kept', events: 5 })
    expect(short.err).toContain('has 5 events, and')
    expect(forged.err).toContain('has an invalid signature')
    expect(readdirSync(backup).toSorted()).toEqual(['000000000000001.ndjson', 'checkpoint.txt', 'secrets.ndjson'])
  })

  test('finds a tenant that was restored to an earlier time under its own name, which says so itself', async () => {
    await write(host, 'again', 6)
    const tilde = tildeOf(host, 'again')
    const backup = join(folder, 'again')
    const saved = join(backup, 'checkpoint.txt')
    await tilde('backup', 'again', '--to', backup)

    await host.request('DELETE', '/operator/tenants/again')
    const restored = await tilde('restore', backup, '--as', 'again', '--as-of', '4')
    await write(host, 'again', 3)
    const { code, err } = await tilde('verify', '--against', saved)
    const checkpoint = await tildebase({ baseUrl: host.url, tenant: 'again', apiKey: ROOT }).proof.checkpoint()

    expect(restored.code).toBe(0)
    expect([code, err]).toEqual([1, expect.stringContaining('the history was rewritten')])
    expect(checkpoint.lineage).toMatchObject([{ origin: 'tilde.example/~again', size: 4 }])
  })
})

test('the client reads checkpoints and proofs', async () => {
  await write(host, 'client', 5)
  const $ = tildebase({ baseUrl: host.url, tenant: 'client', apiKey: ROOT })

  const checkpoint = await $.proof.checkpoint()
  const proof = await $.proof.event(2)

  expect(checkpoint).toMatchObject({ origin: 'tilde.example/~client', size: 5 })
  expect(proof).toMatchObject({ seq: 2, size: 5, checkpoint: checkpoint.note })
  expect(await $.proof.consistency(2)).toMatchObject({ from: 2, to: 5 })
  expect(await $.proof.event(2, { size: 3 })).toMatchObject({ size: 3, checkpoint: null })
  expect(await $.proof.page(2)).toContain('<h1>Proof of an event</h1>')
})
