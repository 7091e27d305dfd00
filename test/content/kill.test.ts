import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { ask, KEY, startServer } from '../faults/server.ts'
import { verifies } from '../verifies.ts'
import { blobsOf, hashOf, until } from './content.ts'

/** How often the service is killed: `TILDE_ROUNDS=1000 npx vitest run test/content/kill.test.ts`. */
const ROUNDS = Number(process.env.TILDE_ROUNDS ?? 4)
const WRITERS = 4
const SETTINGS = { TILDE_FILE_ORPHANS: '1s' }

/** Sends bytes; null when the service was gone. */
async function send(url: string, path: string, method: string, bytes: Uint8Array | null, headers = {}) {
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/octet-stream', ...headers },
      ...(bytes && { body: bytes as BodyInit }),
    })
    return { status: answer.status, bytes: await answer.bytes(), headers: answer.headers }
  } catch {
    return null
  }
}

verifies(
  'file.durable',
  'kill -9 during uploads, erasures and collections: no acknowledged content is lost, no other is left',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-file-kill-'))
    let server = await startServer(data, SETTINGS)
    await ask(server.url, 'PUT', '/~acme/schema/Deal', { contract: 'file' })
    /** The content of each deal that the service acknowledged last; null after an erasure. */
    const acknowledged = new Map<string, string | null>()
    for (let round = 0; round < ROUNDS; round++) {
      const { url } = server
      let isOver = false
      const writers = Array.from({ length: WRITERS }, async (_, n) => {
        for (let turn = 0; !isOver; turn++) {
          const id = (await ask(url, 'POST', '/~acme/Deal', { name: 'D' }))?.body.$id
          if (id === undefined) return
          const bytes = randomBytes(turn % 3 === 0 ? 3_000_000 : 10_000 + n)
          const sent = await send(url, `/~acme/Deal/${id}/contract`, 'POST', bytes)
          if (sent?.status === 200) acknowledged.set(id, hashOf(bytes))
          // An orphan, for the collection.
          await send(url, '/~acme/files', 'POST', randomBytes(5_000))
          if (turn % 4 !== 3 || sent?.status !== 200) continue
          // Whether an erasure without an answer was done is not known.
          acknowledged.delete(id)
          const erased = await send(url, `/~acme/Deal/${id}/erase`, 'POST', null, {
            'content-type': 'application/json',
          })
          if (erased?.status === 200) acknowledged.set(id, null)
        }
      })
      await pause(400 + ((round * 137) % 900))
      await server.kill()
      isOver = true
      await Promise.all(writers)

      server = await startServer(data, SETTINGS)
      for (const [id, hash] of acknowledged) {
        const read = await send(server.url, `/~acme/Deal/${id}/contract`, 'GET', null)
        if (hash === null) expect([id, read?.status]).toEqual([id, 404])
        else expect([id, read && hashOf(read.bytes)]).toEqual([id, hash])
      }
      // What is read in full once need not be read in every round.
      for (const [id] of [...acknowledged].slice(0, -40)) acknowledged.delete(id)
    }
    const { ok, faults } = (await ask(server.url, 'GET', '/operator/tenants/acme/verify'))!.body
    expect([ok, faults]).toEqual([true, []])
    const needed = async () => {
      const log = await send(server.url, '/operator/tenants/acme/log', 'GET', null)
      const text = new TextDecoder().decode(log!.bytes)
      return new Set(text.matchAll(/sha256:[0-9a-f]{64}/g).map(([hash]) => hash))
    }
    const names = await needed()
    const stored = () => {
      const { whole, parts } = blobsOf(data, 'acme')
      const folder = join(data, 'files', 'ac', 'acme')
      return { hashes: new Set(whole.map((key) => hashOf(readFileSync(join(folder, key))))), whole, parts }
    }
    // The collection runs with requests, and removes what nothing names.
    await until(async () => {
      await ask(server.url, 'POST', '/~acme/Contact', { name: 'x' })
      await pause(500)
      const { whole, parts } = blobsOf(data, 'acme')
      return whole.length <= names.size && parts.length === 0
    }, 60_000)
    expect(stored().hashes).toEqual(names)
    await server.kill()
    rmSync(data, { recursive: true })
  },
  Math.max(180_000, ROUNDS * 10_000),
)
