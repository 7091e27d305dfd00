import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { testApp } from './host.ts'

const PRISM = join(import.meta.dirname, 'node_modules/@stoplight/prism-cli/dist/index.js')
const LIMIT = 60_000

const folder = mkdtempSync(join(tmpdir(), 'tildebase-prism-'))
let prism: ChildProcess | undefined
afterAll(() => {
  prism?.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

// Prism resolves every reference in advance: types that refer to each other in circles never end.
test('Prism loads the whole OpenAPI document within a minute and answers from it', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const { text } = await app.request('GET', '/~acme/openapi.json')
  await app.stop()
  const file = join(folder, 'openapi.json')
  writeFileSync(file, text)
  const port = await freePort()

  prism = spawn(process.execPath, [PRISM, 'mock', '-p', String(port), file])

  expect(await listening(prism, LIMIT)).toBe(true)
  const answer = await fetch(`http://127.0.0.1:${port}/Contact/count`, { headers: { authorization: 'Bearer key' } })
  expect([answer.status, await answer.json()]).toEqual([200, { count: expect.any(Number) }])
})

/** Whether Prism says within so many milliseconds that it listens. */
async function listening(child: ChildProcess, limit: number): Promise<boolean> {
  const late = setTimeout(() => child.kill('SIGKILL'), limit)
  try {
    for await (const line of createInterface(child.stdout!)) if (line.includes('Prism is listening')) return true
    return false
  } finally {
    clearTimeout(late)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
