import { existsSync, readdirSync } from 'node:fs'
import { createServer, type Server, request as sent } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
/** Counts the logs that are read. */
let proxy: Server
let logsRead = 0
let tilde: Tilde
beforeAll(async () => {
  // Few tenants are kept open, so that asking one closes another.
  host = await testHost({ TILDE_OPEN_TENANTS: '3' })
  proxy = createServer((request, response) => {
    if (request.url!.includes('/log')) logsRead++
    const { method, headers } = request
    const passed = sent(`${host.url}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  const { port } = proxy.address() as AddressInfo
  tilde = tildeWith({ TILDE_URL: `http://127.0.0.1:${port}`, TILDE_ROOT_KEY: ROOT })
})
afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await host.stop()
})

test('one command saves every tenant into its own folder, and adds what is new', async () => {
  for (let i = 0; i < 8; i++) await write(`once-${i}`)

  const first = await tilde('backup', '--all', '--to', 'all', '--json')
  await write('once-3')
  const second = await tilde('backup', '--all', '--to', 'all', '--json')
  const restored = await tilde('restore', 'all/once-3', '--as', 'again-3', '--json')

  expect(
    rows(first.out)
      .map(({ tenant, events }) => `${tenant} ${events}`)
      .sort(),
  ).toEqual(Array.from({ length: 8 }, (_, i) => `once-${i} 1`))
  expect(rows(second.out)).toMatchObject([{ tenant: 'once-3', events: 1, seq: 2 }])
  expect(restored.json).toMatchObject({ events: 2 })
})

test('a tenant that cannot be saved is named, and the others are saved', async () => {
  await write('other')
  await tilde('backup', 'other', '--to', 'mixed/bad')
  await write('bad')
  await write('good')

  const ended = await tilde('backup', '--all', '--to', 'mixed')

  expect(ended.code).toBe(1)
  expect(ended.err).toContain('bad: mixed/bad holds a backup of other')
  expect(ended.err).toContain('1 of ')
  expect(existsSync(join(tilde.folder, 'mixed', 'good'))).toBe(true)
})

test('one process follows all tenants, new ones included, and asks only those that changed', async () => {
  await write('early')
  const child = tilde.start('backup', '--all', '--to', 'followed', '--follow', '--json')
  let out = ''
  child.stdout!.on('data', (chunk) => {
    out += chunk
  })
  const seqOf = (tenant: string) => rows(out).findLast((row) => row.tenant === tenant)?.seq
  await expect.poll(() => seqOf('early'), { timeout: 30_000 }).toBe(1)
  await write('early')
  await write('late')
  await expect.poll(() => [seqOf('early'), seqOf('late')], { timeout: 30_000 }).toEqual([2, 1])

  // Without writes, no log is read any more.
  let before = -1
  await expect
    .poll(
      () => {
        const isQuiet = before === logsRead
        before = logsRead
        return isQuiet
      },
      { timeout: 30_000, interval: 2_500 },
    )
    .toBe(true)
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')

  expect(await ended).toBe(0)
  expect(readdirSync(join(tilde.folder, 'followed'))).toEqual(expect.arrayContaining(['early', 'late']))
})

test('the list of tenants comes in pages that a cursor connects', async () => {
  for (let i = 0; i < 5; i++) await write(`page-${i}`)
  const seen: string[] = []
  let cursor = 'page'

  for (let next: string | null = cursor; next !== null; ) {
    const { body } = await host.request('GET', `/operator/tenants?limit=2&cursor=${cursor}`)
    expect(body.results.length).toBeLessThanOrEqual(2)
    seen.push(...body.results.map(({ tenant }: { tenant: string }) => tenant))
    next = body.cursor
    cursor = next ?? ''
    // A tenant of a page that was read moves no other one.
    await host.request('DELETE', `/operator/tenants/${body.results[0].tenant}`)
  }

  expect(seen).toEqual(['page-0', 'page-1', 'page-2', 'page-3', 'page-4'])
})

async function write(tenant: string): Promise<void> {
  await host.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })
}

function rows(out: string): { tenant: string; events: number; seq: number }[] {
  const lines = out.split('\n').filter((line) => line.endsWith('}'))
  return lines.map((line) => JSON.parse(line))
}
