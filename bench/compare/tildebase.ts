import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contender, person } from './contender.ts'
import { addressOf, stopProcess } from './process.ts'

const KEY = 'root-key-of-the-bench'
const SLICE = 20_000

/** Us, on Node, with so many worker threads. */
export function tildebase(workers: number): Contender {
  return {
    name: workers === 0 ? 'tildebase' : `tildebase, ${workers} workers`,
    durability: 'synced before every answer; history and text index on',
    async start(rows) {
      const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
      const program = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
      const child = spawn(
        process.execPath,
        [program, 'serve', '--port', '0', '--data', folder, '--workers', String(workers)],
        {
          env: { ...process.env, TILDE_ROOT_KEY: KEY },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const url = await addressOf(child)
      const operator = { authorization: `Bearer ${KEY}` }
      const send = (method: string, path: string, body: unknown, more = {}) =>
        fetch(`${url}${path}`, {
          method,
          headers: { ...operator, ...more },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        })
      await send('PUT', '/~bench/schema/Person', {
        name: 'string!',
        email: 'string##',
        source: 'string#',
        score: 'number',
        state: 'New | Seen = New',
        see: { set: { state: 'Seen' } },
      })
      for (let from = 0; from < rows; from += SLICE) {
        const lines = Array.from({ length: Math.min(SLICE, rows - from) }, (_, i) => JSON.stringify(person(from + i)))
        const answer = await send('POST', '/~bench/import/Person', lines.join('\n'), {
          'content-type': 'application/x-ndjson',
        })
        const report = (await answer.json()) as { imported: number }
        if (report.imported !== lines.length) throw new Error(`Loading failed: ${JSON.stringify(report).slice(0, 300)}`)
      }
      const loaded = new Date().toISOString()
      const { secret } = (await (
        await send('POST', '/~bench/api-keys', { name: 'bench', scopes: 'admin:all' })
      ).json()) as { secret: string }
      const headers = { Authorization: `Bearer ${secret}` }
      const ids: string[] = []
      for (let cursor: string | null = ''; cursor !== null && ids.length < 1_000; ) {
        const answer: Response = await fetch(
          `${url}/~bench/Person?source=source-0&limit=100&total=false${cursor && `&cursor=${cursor}`}`,
          { headers },
        )
        const page = (await answer.json()) as { results: { $id: string }[]; cursor: string | null }
        ids.push(...page.results.map(({ $id }) => $id))
        cursor = page.cursor
      }
      const paths = ids.map((id) => `/~bench/Person/${id}`)
      const lists = Array.from({ length: 100 }, (_, i) => `/~bench/Person?source=source-${i}`)
      const words = encodeURIComponent(JSON.stringify({ $text: 'grace conference' }))
      const fresh = JSON.stringify({ ...person(1), email: 'n{i}@example.org' })
      const hundred = Array.from({ length: 100 }, (_, i) => ({
        id: `o${i}`,
        method: 'POST',
        path: '/Person',
        body: { ...person(i), email: `b{i}-${i}@example.org` },
      }))
      await fetch(`${url}/~bench/Person?limit=1&filter=${words}`, { headers })
      return {
        url,
        process: child,
        shots: {
          create: { method: 'POST', paths: ['/~bench/Person'], body: fresh, headers },
          get: { method: 'GET', paths, headers },
          list: { method: 'GET', paths: lists, headers },
          update: { method: 'PUT', paths, body: '{"score":{i}}', headers },
          verb: { method: 'POST', paths: paths.map((path) => `${path}/see`), headers },
          text: { method: 'GET', paths: [`/~bench/Person?filter=${words}`], headers },
          asOf: { method: 'GET', paths: lists.map((path) => `${path}&asOf=${loaded}`), headers },
          batch: { method: 'POST', paths: ['/~bench/batch'], body: JSON.stringify({ operations: hundred }), headers },
        },
        async stop() {
          await stopProcess(child)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}
