import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { blobsOf, hashOf, send, until } from './content.ts'

const ORPHANS_MS = 700
const ACTORS = 8
const TUS = { 'tus-resumable': '1.0.0' }

let host: TestHost
beforeAll(async () => {
  host = await testHost({ TILDE_FILE_ORPHANS: `${ORPHANS_MS}ms` })
  await host.request('PUT', '/~attack/schema/Deal', { contract: 'file' })
})
afterAll(() => host.stop())

verifies(
  'file.orphans',
  'a collection at any moment keeps what events, proposals and forks need, and removes all else',
  async () => {
    /** Few contents for many actors: each is sent, named, forgotten and sent again. */
    const contents = Array.from({ length: 6 }, () => randomBytes(2_000))
    /** Paths of content that must be readable, with its hash. */
    const needed = new Map<string, string>()
    const proposals: { readonly id: string; readonly path: string; readonly hash: string }[] = []
    const store = async (bytes: Uint8Array) => {
      const { body } = await send(host, 'POST', '/~attack/files', bytes)
      return body.hash as string
    }
    const storeInParts = async (bytes: Uint8Array) => {
      const begun = await send(host, 'POST', '/~attack/uploads', null, { ...TUS, 'upload-length': `${bytes.length}` })
      const path = `/~attack/uploads/${begun.headers.get('location')!.split('/').at(-1)}`
      const part = (from: number, to: number) =>
        send(host, 'PATCH', path, bytes.subarray(from, to), {
          ...TUS,
          'content-type': 'application/offset+octet-stream',
          'upload-offset': `${from}`,
        })
      await part(0, 1_000)
      await pause(randomInt(ORPHANS_MS / 2))
      return (await part(1_000, 2_000)).headers.get('upload-hash')
    }
    const act = async (turn: number) => {
      const bytes = contents[randomInt(contents.length)]!
      const hash = turn % 3 === 0 ? await storeInParts(bytes) : await store(bytes)
      // About the moment at which nothing names it any more.
      await pause(randomInt(1_000))
      const { status, body } = await host.request('POST', '/~attack/Deal', { name: 'D', contract: { hash } })
      if (status !== 201) return
      const path = `Deal/${body.$id}/contract`
      if (turn % 4 === 0) {
        await host.request('POST', `/~attack/Deal/${body.$id}/erase`)
        return
      }
      needed.set(`/~attack/${path}`, hash!)
      if (turn % 4 !== 1) return
      const other = randomBytes(1_500)
      const proposed = await send(host, 'POST', `/~attack/${path}?propose=new`, other)
      if (proposed.status === 202) proposals.push({ id: proposed.body.$id, path, hash: hashOf(other) })
    }
    await Promise.all(
      Array.from({ length: ACTORS }, async (_, n) => {
        for (let turn = n; turn < n + 4; turn++) await act(turn)
      }),
    )
    const forked = await host.request('POST', '/operator/tenants/attack/fork', { to: 'attack-fork' })
    expect([forked.status, forked.text]).toEqual([201, expect.any(String)])
    const inFork = [...needed].map(([path, hash]) => [path.replace('~attack', '~attack-fork'), hash] as const)
    // In the origin, half of it goes: the fork has its own.
    for (const path of [...needed.keys()].filter((_, n) => n % 2 === 0)) {
      await host.request('POST', path.replace('/contract', '/erase'))
      needed.delete(path)
    }
    await pause(ORPHANS_MS * 2)
    const reviewer = host.as(await host.key('attack', 'write:all'))
    for (const { id, path, hash } of proposals) {
      const approved = await reviewer('POST', `/~attack/changesets/${id}/approve`)
      if (approved.status === 200) needed.set(`/~attack/${path}`, hash)
      else expect([...needed.keys()], approved.text).not.toContain(`/~attack/${path}`)
    }

    for (const [path, hash] of [...needed, ...inFork])
      expect([path, hashOf((await send(host, 'GET', path, null)).bytes)]).toEqual([path, hash])
    for (const tenant of ['attack', 'attack-fork']) {
      expect((await host.request('GET', `/operator/tenants/${tenant}/verify`)).body).toMatchObject({ ok: true })
      const log = (await send(host, 'GET', `/operator/tenants/${tenant}/log`, null)).text
      const named = new Set(log.matchAll(/sha256:[0-9a-f]{64}/g).map(([hash]) => hash))
      await until(async () => {
        await host.request('POST', `/~${tenant}/Contact`, { name: 'x' })
        await pause(200)
        return blobsOf(host.data, tenant).whole.length <= named.size
      }, 20_000)
      const folder = join(host.data, 'files', tenant.slice(0, 2), tenant)
      const stored = blobsOf(host.data, tenant).whole.map((key) => hashOf(readFileSync(join(folder, key))))
      expect(new Set(stored)).toEqual(named)
    }
  },
  60_000,
)
