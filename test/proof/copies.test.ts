import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromBase64, isConsistent, parseCheckpoint, parseNote, validSignatures } from '@tildebase/nouns'
import { afterEach, describe, expect, test } from 'vitest'
import { ROOT, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { ed25519, sha256 } from './crypto.ts'

const operator = { authorization: `Bearer ${ROOT}` }
const apps: TestApp[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop()
})

async function start(host: string, env: Record<string, string> = {}, workers = '0'): Promise<TestApp> {
  const app = await testApp({ TILDE_BASE_URL: `https://${host}`, ...env }, { workers })
  apps.push(app)
  return app
}

async function write(app: TestApp, tenant: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => ({ name: `Person ${i}` }))
  await app.request('POST', `/~${tenant}/import/Contact`, rows)
}

async function checkpointOf(app: TestApp, tenant: string) {
  const { body } = await app.request('GET', `/~${tenant}/checkpoint`, undefined, { accept: 'application/json' })
  return { ...body, head: parseCheckpoint(parseNote(body.note)!.text)! }
}

/** Whether the tree of a tenant continues an earlier one. */
async function continues(app: TestApp, tenant: string, old: { size: number; root: Uint8Array }): Promise<boolean> {
  const { head } = await checkpointOf(app, tenant)
  const { body } = await app.request('GET', `/~${tenant}/consistency?from=${old.size}&to=${head.size}`)
  return isConsistent(sha256, old, head, (body.proof ?? []).map(fromBase64))
}

describe('the tree of a copy', () => {
  verifies('proof.copies', 'continues that of the original in a fork, a backup and a move, and names it', async () => {
    const here = await start('here.example')
    const there = await start('there.example')
    await write(here, 'acme', 20)
    const { head } = await checkpointOf(here, 'acme')
    const backup = await here.fetch('/operator/tenants/acme/backup', { headers: operator })
    const file = new Uint8Array(await backup.arrayBuffer())
    const { text } = await here.request('GET', '/operator/tenants/acme/log')

    await here.request('POST', '/operator/tenants/acme/fork', { to: 'copy' })
    await there.request('PUT', '/operator/tenants/acme/restore', file)
    await there.request('PUT', '/operator/tenants/moved/log', text)

    const lineage = [{ origin: 'here.example/~acme', size: 20, root: expect.any(String) }]
    for (const [app, tenant, origin] of [
      [here, 'copy', 'here.example/~copy'],
      [there, 'acme', 'there.example/~acme'],
      [there, 'moved', 'there.example/~moved'],
    ] as const) {
      await write(app, tenant, 3)
      expect(await checkpointOf(app, tenant)).toMatchObject({ origin, size: 23, lineage })
      expect(await continues(app, tenant, head)).toBe(true)
    }
    expect(await checkpointOf(here, 'acme')).toMatchObject({ size: 20, lineage: [] })
    expect(text).toContain('"beside":"proof"')
  })

  test('as of an earlier time is its own tree from there on', async () => {
    const app = await start('here.example')
    await write(app, 'acme', 20)
    const { head } = await checkpointOf(app, 'acme')
    await new Promise((done) => setTimeout(done, 5))
    const asOf = new Date().toISOString()
    await new Promise((done) => setTimeout(done, 5))
    await write(app, 'acme', 5)
    await checkpointOf(app, 'acme')

    await app.request('POST', '/operator/tenants/acme/fork', { to: 'before', asOf })
    await write(app, 'before', 1)

    const lineage = [{ origin: 'here.example/~acme', size: 20 }]
    expect(await checkpointOf(app, 'before')).toMatchObject({ size: 21, lineage })
    expect(await continues(app, 'before', head)).toBe(true)
  })

  test('that took the place of a longer log is found by those who have its checkpoint', async () => {
    const app = await start('here.example')
    await write(app, 'acme', 10)
    const { text } = await app.request('GET', '/operator/tenants/acme/log')
    await write(app, 'acme', 10)
    const { head } = await checkpointOf(app, 'acme')

    await app.request('DELETE', '/operator/tenants/acme')
    await app.request('PUT', '/operator/tenants/acme/log', text)
    await write(app, 'acme', 15)

    expect(await continues(app, 'acme', head)).toBe(false)
  })
})

describe('the key of the service', () => {
  verifies(
    'proof.rotation',
    'can be replaced: the new one signs, the old one endorses it and stays listed',
    async () => {
      // The key is made in the thread of the gateway, and used in those of the tenants.
      const app = await start('here.example', {}, '2')
      await write(app, 'acme', 3)
      const old = parseNote((await app.request('GET', '/~acme/checkpoint')).text)!
      const keys = async () => (await app.request('GET', '/.well-known/tilde-keys')).body.keys
      const [first] = await keys()

      const { status, body } = await app.request('POST', '/operator/signing-key')
      const now = parseNote((await app.request('GET', '/~acme/checkpoint')).text)!
      const listed = await keys()

      const signedWith = async (note: typeof old, base64: string) => {
        const key = { name: 'here.example/~acme', use: 'note', publicKey: fromBase64(base64)! } as const
        return (await validSignatures(sha256, ed25519, note, [key]))?.length
      }
      expect([status, body.publicKey]).toEqual([201, listed[0].publicKey])
      expect(listed).toMatchObject([{ until: null }, { publicKey: first.publicKey, until: expect.any(String) }])
      expect(await signedWith(now, listed[0].publicKey)).toBe(1)
      expect(await signedWith(now, first.publicKey)).toBe(0)
      expect(await signedWith(old, first.publicKey)).toBe(1)
      const { endorsement, from, publicKey } = listed[0]
      const text = `tilde-key/v1\n${publicKey}\n${from}\n`
      expect(await ed25519(fromBase64(first.publicKey)!, text, fromBase64(endorsement)!)).toBe(true)
      const { results } = (await app.request('GET', '/operator/log')).body
      expect(results[0]).toMatchObject({ action: 'rotate' })
    },
  )

  test('is kept in a file that only the service can read, and is the same after a restart', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-key-'))
    const open = () => testApp({}, { data })
    const first = await open()
    const before = (await first.request('GET', '/.well-known/tilde-keys')).text
    await first.stop()

    const again = await open()
    const after = (await again.request('GET', '/.well-known/tilde-keys')).text
    await again.stop()

    expect(statSync(join(data, 'signing.key')).mode & 0o777).toBe(0o600)
    expect(after).toBe(before)
    rmSync(data, { recursive: true })
  })

  test('can be set, with those that were used before', async () => {
    const retired = Buffer.alloc(32, 5).toString('base64')
    const env = { TILDE_SIGNING_KEY: Buffer.alloc(32, 9).toString('base64'), TILDE_SIGNING_KEYS_RETIRED: retired }
    const app = await start('here.example', env)
    await write(app, 'acme', 1)

    const { keys } = (await app.request('GET', '/.well-known/tilde-keys')).body
    const note = parseNote((await app.request('GET', '/~acme/checkpoint')).text)!

    expect(keys).toMatchObject([{ publicKey: expect.any(String) }, { publicKey: retired }])
    const key = { name: 'here.example/~acme', use: 'note', publicKey: fromBase64(keys[0].publicKey)! } as const
    expect(await validSignatures(sha256, ed25519, note, [key])).toHaveLength(1)
    expect((await app.request('POST', '/operator/signing-key')).status).toBe(501)
    await expect(testApp({ TILDE_SIGNING_KEY: 'short' })).rejects.toThrow('TILDE_SIGNING_KEY needs 32 bytes')
  })
})
