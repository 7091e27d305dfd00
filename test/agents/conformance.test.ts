import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { EXCEPTIONS } from './conformance-exceptions.ts'

const SUITE = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const REVISIONS = ['2026-07-28', '2025-11-25'] as const

let host: TestHost
let proxy: Server

beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
  proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${ROOT}` }
    const sent = request(`${host.url}/~acme/mcp`, { method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode!, got.headers)
      got.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    asked.pipe(sent)
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await host.stop()
})

/** One check of the suite. */
interface Check {
  readonly scenario: string
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Runs all scenarios for servers of a revision. The suite sends no key: a proxy adds it, and passes on all else. */
async function runSuite(revision: string): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`
  const args = [SUITE, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', folder]
  const program = spawn(process.execPath, args, { stdio: 'ignore' })
  await new Promise((done) => program.on('close', done))
  const checks = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('checks.json'))
    .flatMap((path) => {
      const scenario = path.replace(/^.*?server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
      const found = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Omit<Check, 'scenario'>[]
      return found.map((check) => ({ ...check, scenario }))
    })
  rmSync(folder, { recursive: true })
  return checks
}

verifies(
  'mcp.conformance',
  'the official suite finds nothing but what needs a fixture of its own',
  async () => {
    const checks = (await Promise.all(REVISIONS.map(runSuite))).flat()
    const failed = checks.filter(({ status }) => status === 'FAILURE')
    const unexpected = failed.filter(({ scenario, id }) => !EXCEPTIONS.has(`${scenario}:${id}`))
    const needless = [...EXCEPTIONS.keys()].filter(
      (name) => !failed.some(({ scenario, id }) => name === `${scenario}:${id}`),
    )

    expect(unexpected.map(({ scenario, id, errorMessage }) => `${scenario}:${id}: ${errorMessage}`)).toEqual([])
    expect(needless).toEqual([])
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length
    console.log(`${passed} checks pass, ${failed.length} need a fixture.`)
    expect(passed).toBeGreaterThan(50)
  },
  120_000,
)
