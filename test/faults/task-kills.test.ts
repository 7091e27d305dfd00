import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { KEY, type Server, startServer } from './server.ts'

const CARS = 6_000
const data = mkdtempSync(join(tmpdir(), 'tilde-task-kills-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

const ask = async ({ url }: Server, method: string, path: string, body?: unknown): Promise<any> => {
  const answer = await fetch(`${url}/~acme${path}`, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json',
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return answer.json()
}
const start = () => startServer(data, { TILDE_QUERY_TIMEOUT: '300ms' }, ['--workers', '1'])
const type = async (server: Server) => (await ask(server, 'GET', '/schema/Car')).own.size
/** How many cars have a size that is text, and that is a number. */
const kinds = async (server: Server) => {
  const lines = await (
    await fetch(`${server.url}/~acme/export/Car?format=ndjson`, {
      headers: { authorization: `Bearer ${KEY}`, accept: 'application/x-ndjson' },
    })
  ).text()
  const sizes = lines
    .trim()
    .split('\n')
    .map((line) => typeof JSON.parse(line).size)
  return {
    string: sizes.filter((kind) => kind === 'string').length,
    number: sizes.filter((kind) => kind === 'number').length,
  }
}

test('a task that is cut off by kill -9 leaves the old state or the new one', { timeout: 180_000 }, async () => {
  let server = await startServer(data, {}, ['--workers', '1'])
  try {
    await ask(server, 'PUT', '/schema/Car', { name: 'string!', size: 'string' })
    const rows = Array.from({ length: CARS }, (_, i) => JSON.stringify({ name: `car ${i}`, size: `${i}` }))
    await ask(server, 'POST', '/import/Car', rows.join('\n'))
    await server.kill()
    server = await start()
    const states: string[] = []
    // The first is killed at once, the others ever later, until one was done before.
    for (let share = 0; share <= 1; share += 0.34) {
      const to = (await type(server)) === 'string' ? 'number' : 'string'
      const begun = await ask(server, 'POST', '/schema/Car/retype', { field: 'size', to })
      for (let task = begun; task.state === 'running' && task.progress < share * CARS; await pause(5)) {
        task = await ask(server, 'GET', `/tasks/${begun.id}`)
      }
      await server.kill()
      server = await start()
      const [now, found, task] = [
        await type(server),
        await kinds(server),
        await ask(server, 'GET', `/tasks/${begun.id}`),
      ]
      const late = await ask(server, 'POST', '/Car', { name: 'late', size: now === 'number' ? 7 : '7' })

      expect(found).toEqual(
        now === 'number' ? { string: 0, number: CARS + states.length } : { string: CARS + states.length, number: 0 },
      )
      expect(task.state).toBe(now === to ? 'done' : 'failed')
      expect(late.$version).toBe(1)
      states.push(task.state)
    }
    const verified = await fetch(`${server.url}/operator/tenants/acme/verify`, {
      headers: { authorization: `Bearer ${KEY}` },
    })

    expect(states).toContain('failed')
    expect(await verified.json()).toMatchObject({ ok: true })
  } finally {
    await server.kill()
  }
})
