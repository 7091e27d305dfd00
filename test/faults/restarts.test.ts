import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { restartUnderLoad } from './restarts.ts'
import { ask, startServer } from './server.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

test('no request fails in restarts under load with a socket of systemd', { timeout: 600_000 }, async () => {
  const { requests, long, reconnects, faults } = await restartUnderLoad(2)

  expect(faults).toEqual([])
  expect(requests).toBeGreaterThan(100)
  // The streams of both tenants were ended at each restart, and long requests continued.
  expect(reconnects).toBeGreaterThanOrEqual(4)
  expect(long).toBeGreaterThan(0)
})

test('a second service on a folder is refused, and one can start after the first was killed', {
  timeout: 300_000,
}, async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-second-'))
  const server = await startServer(data)

  const second = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--data', data], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [said, [code]] = await Promise.all([text(second.stderr!), once(second, 'exit')])
  const alive = await ask(server.url, 'POST', '/~acme/Contact', { name: 'Ada' })
  await server.kill()
  // What a killed service leaves behind does not look like a running one.
  const next = await startServer(data)
  const found = await ask(next.url, 'GET', '/~acme/Contact')
  await next.kill()
  rmSync(data, { recursive: true, force: true })

  expect([code, alive!.status, found!.body.total]).toEqual([2, 201, 1])
  expect(said).toContain('Another service runs on this data folder. Stop it first')
})
