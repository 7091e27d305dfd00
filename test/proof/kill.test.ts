import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Checkpoint, fromBase64, isConsistent, parseCheckpoint, parseNote } from '@tildebase/nouns'
import { expect } from 'vitest'
import { ask, startServer } from '../faults/server.ts'
import { verifies } from '../verifies.ts'
import { sha256 } from './crypto.ts'

const ROUNDS = Number(process.env.TILDE_ROUNDS ?? 4)
const JSON_ONLY = { accept: 'application/json' }

verifies(
  'proof.crash',
  'a checkpoint that was given out before a kill -9 is the beginning of the log after it',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-kill-'))
    const start = () => startServer(data, { TILDE_BASE_URL: 'https://tilde.example' })
    let server = await start()
    let last: Checkpoint | null = null
    let seen = 0
    for (let round = 0; round < ROUNDS; round++) {
      let isOver = false
      const { url } = server
      const writers = Array.from({ length: 6 }, async () => {
        while (!isOver && (await ask(url, 'POST', '/~acme/Contact', { name: 'Ada' })));
      })
      const reader = (async () => {
        while (!isOver) {
          const reply = await ask(url, 'GET', '/~acme/checkpoint', undefined, JSON_ONLY)
          if (!reply) break
          last = parseCheckpoint(parseNote(reply.body.note)!.text)!
          seen++
        }
      })()
      await pause(300 + 137 * round)
      while (seen === 0) await pause(10)
      await server.kill()
      isOver = true
      await Promise.all([...writers, reader])

      server = await start()
      const now = (await ask(server.url, 'GET', '/~acme/checkpoint', undefined, JSON_ONLY))!
      const head = parseCheckpoint(parseNote(now.body.note)!.text)!
      const { proof } = (await ask(server.url, 'GET', `/~acme/consistency?from=${last!.size}`))!.body
      expect(isConsistent(sha256, last!, head, proof.map(fromBase64))).toBe(true)
      expect((await ask(server.url, 'GET', '/operator/tenants/acme/verify'))!.body).toMatchObject({ ok: true })
    }
    await server.kill()
    rmSync(data, { recursive: true })

    expect(seen).toBeGreaterThan(ROUNDS)
  },
  300_000,
)
