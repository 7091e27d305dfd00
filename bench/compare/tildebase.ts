import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../test/host.ts'
import { SERVICE, startWorkerd } from '../../test/hosts/workerd.ts'
import { type Contender, LEAST_ROWS, person, type Running, SOURCES } from './contender.ts'
import { addressOf, stopProcess } from './process.ts'

const SLICE = 20_000

/** Us, on Node, with so many worker threads; or another checkout of us, to compare two commits in one run. */
export function tildebase(workers: number, checkout?: string): Contender {
  const threads = workers === 0 ? '' : `, ${workers} workers`
  return {
    name: `${checkout === undefined ? 'tildebase' : 'before'}${threads}`,
    durability: 'synced before every answer; history and text index on',
    async start(rows) {
      const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
      const root = checkout ?? fileURLToPath(new URL('../..', import.meta.url))
      const program = join(root, 'packages/cli/src/main.ts')
      const args = [program, 'serve', '--port', '0', '--data', folder, '--workers', String(workers)]
      const env = { ...process.env, TILDE_ROOT_KEY: ROOT }
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
      return loaded(await addressOf(child), child, rows, async () => {
        await stopProcess(child)
        rmSync(folder, { recursive: true, force: true })
      })
    },
  }
}

/** Us, in workerd. */
export const workerd: Contender = {
  name: 'tildebase in workerd',
  durability: 'what workerd promises for the storage of a Durable Object; history and text index on',
  async start(rows) {
    const running = await startWorkerd(SERVICE)
    return loaded(running.url, running.process, rows, () => running.stop())
  },
}

/** A server of ours with the data in it, and how each operation is asked of it. */
async function loaded(url: string, child: ChildProcess, rows: number, stop: () => Promise<void>): Promise<Running> {
  try {
    await describe(url)
    await load(url, 0, rows)
    const at = new Date().toISOString()
    const { secret } = await send(url, 'POST', '/~bench/api-keys', { name: 'bench', scopes: 'admin:all' })
    const ids = await someIds(url)
    await send(url, 'GET', `/~bench/Person?limit=1&filter=${WORDS}`)
    const shots = shotsOf(ids, at, rows >= LEAST_ROWS, { Authorization: `Bearer ${secret}` })
    return { url, process: child, shots, stop }
  } catch (reason) {
    await stop()
    throw reason
  }
}

const WORDS = encodeURIComponent(JSON.stringify({ $text: 'grace alan' }))

async function describe(url: string): Promise<void> {
  await send(url, 'PUT', '/~bench/schema/Person', {
    name: 'string!',
    email: 'string##',
    source: 'string#',
    score: 'number',
    state: 'New | Seen = New',
    see: { set: { state: 'Seen' } },
  })
}

/** Loads the persons from one number up to another. */
export async function load(url: string, first: number, end: number): Promise<void> {
  for (let from = first; from < end; from += SLICE) {
    const lines = Array.from({ length: Math.min(SLICE, end - from) }, (_, i) => JSON.stringify(person(from + i)))
    const report = await send(url, 'POST', '/~bench/import/Person', lines.join('\n'), 'application/x-ndjson')
    if (report.imported !== lines.length) throw new Error(`Loading failed: ${JSON.stringify(report).slice(0, 300)}`)
  }
}

/** The ids of every hundredth person. */
async function someIds(url: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null && ids.length < 1_000; ) {
    const query = `source=${SOURCES[0]}&limit=100&total=false${cursor && `&cursor=${cursor}`}`
    const page = await send(url, 'GET', `/~bench/Person?${query}`)
    ids.push(...page.results.map(({ $id }: { $id: string }) => $id))
    cursor = page.cursor
  }
  return ids
}

function shotsOf(
  ids: readonly string[],
  at: string,
  listsAreFull: boolean,
  headers: Record<string, string>,
): Running['shots'] {
  const paths = ids.map((id) => `/~bench/Person/${id}`)
  const lists = SOURCES.map((source) => `/~bench/Person?source=${source}`)
  const fresh = JSON.stringify({ ...person(1), email: 'n{i}@example.org' })
  const operations = Array.from({ length: 100 }, (_, i) => ({
    id: `o${i}`,
    method: 'POST',
    path: '/Person',
    body: { ...person(i), email: `b{i}-${i}@example.org` },
  }))
  return {
    create: { method: 'POST', paths: ['/~bench/Person'], body: fresh, headers, persons: 1 },
    get: { method: 'GET', paths, headers, persons: 1 },
    list: { method: 'GET', paths: lists, headers, ...(listsAreFull && { persons: 25 }) },
    update: { method: 'PUT', paths, body: '{"score":{i}}', headers, persons: 1 },
    verb: { method: 'POST', paths: paths.map((path) => `${path}/see`), headers },
    text: { method: 'GET', paths: [`/~bench/Person?filter=${WORDS}`], headers },
    asOf: { method: 'GET', paths: lists.map((path) => `${path}&asOf=${at}`), headers },
    batch: { method: 'POST', paths: ['/~bench/batch'], body: JSON.stringify({ operations }), headers },
  }
}

async function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<any> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ROOT}`, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}
