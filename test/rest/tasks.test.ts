import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { wireTo } from '@tildebase/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withProgress } from '../../packages/cli/src/output/task-progress.ts'
import { ROOT, type TestApp, testApp, testHost } from '../host.ts'

const EVENTS = 6_000
let app: TestApp

beforeAll(async () => {
  app = await testApp({}, { workers: '1' })
  const rows = Array.from({ length: EVENTS }, (_, i) => JSON.stringify({ name: `n${i}` }))
  await app.request('POST', '/~acme/import/Contact', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
})
afterAll(() => app.stop())

test.each([
  ['verify', 'GET', 'verify', undefined, 200],
  ['backup', 'GET', 'backup', undefined, 200],
  ['fork', 'POST', 'fork', { to: 'acme-fork' }, 201],
])('%s shows its steps and how far they are', async (task, method, path, body, status) => {
  let isOver = false
  const working = app.request(method, `/operator/tenants/acme/${path}`, body).finally(() => {
    isOver = true
  })
  const seen: any[] = []
  const inAll: any[] = []
  // A pause each time: the answer takes no turn of the event loop, and the work needs some.
  for (; !isOver; await pause(1)) {
    seen.push(...(await app.request('GET', '/operator/tenants/acme/tasks')).body.results)
    inAll.push(...(await app.request('GET', '/operator/tasks')).body.results)
  }
  const done = await working
  const after = await app.request('GET', '/operator/tenants/acme/tasks')

  expect([done.status, after.body.results]).toEqual([status, []])
  expect(seen.length).toBeGreaterThan(0)
  expect(inAll.map((one) => one.tenant)).toContain('acme')
  expect(seen.every((one) => one.tenant === 'acme' && one.task === task && !(one.done > one.of))).toBe(true)
  if (task === 'verify') expect(seen.some(({ step, of }) => step === 'verify' && of === EVENTS)).toBe(true)
})

test('tasks are for the operator alone', async () => {
  const key = await app.key('acme', 'admin')

  expect((await app.as(key)('GET', '/operator/tenants/acme/tasks')).status).toBe(403)
  expect((await app.as(key)('GET', '/operator/tasks')).status).toBe(403)
})

test('a backup that is not read ends, and leaves no file', async () => {
  const host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
  const headers = { authorization: `Bearer ${ROOT}` }

  const { status } = await host.fetch('/operator/tenants/acme/backup', { method: 'HEAD', headers })

  const tasks = async () => (await host.request('GET', '/operator/tenants/acme/tasks')).body.results
  await expect.poll(tasks).toEqual([])
  expect(status).toBe(200)
  expect(readdirSync(host.data, { recursive: true }).filter((name) => /\d+\.\d+\.db$/.test(String(name)))).toEqual([])
  await host.stop()
})

test('the command line shows them on a terminal, and nothing elsewhere', async () => {
  const fetch = (url: string, init: RequestInit) => app.fetch(url.slice('http://app'.length), init)
  const wire = wireTo({ baseUrl: 'http://app', apiKey: ROOT, fetch })
  const shown = async (isTTY: boolean) => {
    let text = ''
    const stderr = { isTTY, write: (chunk: string) => (text += chunk) } as unknown as NodeJS.WriteStream
    // As long as it takes until something was shown.
    const verify = async () => {
      for (let i = 0; i === 0 || (isTTY && !text.includes('verify: ') && i < 50); i++)
        await wire.json('/operator/tenants/acme/verify')
    }
    await withProgress(wire, 'acme', verify(), stderr)
    return text
  }

  expect(await shown(true)).toMatch(/verify: (?:copy|verify) /)
  expect(await shown(false)).toBe('')
})
