import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, person, type Running, shotsAt } from '../contender.ts'
import { answering, command, freePort, stopProcess } from '../process.ts'
import { installed, PEER_ENV, peerNode } from './install.ts'
import { POSTGRES_DURABILITY, startPostgres } from './postgres.ts'

const VERSION = '12.4.0'
const TOKEN = 'token-of-the-bench'
const SLICE = 1_000

/** The database of an instance: its settings, its processes, and how to stop it. */
interface Database {
  readonly settings: Record<string, string>
  readonly pids: () => number[]
  stop(): Promise<void>
}

/** Directus on PostgreSQL. */
export const directus = directusOn('', POSTGRES_DURABILITY, async () => {
  const { port, user, process: child, stop } = await startPostgres()
  const address = { DB_HOST: '127.0.0.1', DB_PORT: String(port), DB_DATABASE: 'postgres', DB_USER: user }
  return { settings: { DB_CLIENT: 'pg', ...address, DB_PASSWORD: 'unused' }, pids: () => [child.pid!], stop }
})

/** Directus on SQLite, as its own quick start runs it. */
export const directusSqlite = directusOn(
  ' on SQLite',
  'SQLite with its defaults: a rollback journal, synced before every answer',
  async (folder) => ({
    settings: { DB_CLIENT: 'sqlite3', DB_FILENAME: join(folder, 'data.db') },
    pids: () => [],
    stop: async () => {},
  }),
)

function directusOn(on: string, durability: string, open: (folder: string) => Promise<Database>): Contender {
  return {
    name: `Directus ${VERSION}${on}`,
    get durability() {
      return `${durability}; on Node ${peerNode()}`
    },
    start: (rows) => start(rows, open),
  }
}

async function start(rows: number, open: (folder: string) => Promise<Database>): Promise<Running> {
  const program = join(await installed('directus', VERSION, 'sqlite3'), 'cli.js')
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-directus-'))
  const database = await open(folder)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { ...PEER_ENV, ...settings(port), ...database.settings }
  const stopAll = async () => {
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await command('node', [program, 'bootstrap'], { env, cwd: folder })
  } catch (reason) {
    await stopAll()
    throw reason
  }
  const child = spawn('node', [program, 'start'], { env, cwd: folder, stdio: 'ignore' })
  const stop = async () => {
    await stopProcess(child)
    await stopAll()
  }
  try {
    await answering(`${url}/server/ping`, child)
    const ids = await load(url, rows)
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const items = '/items/persons'
    const paths = ids.map((id) => `${items}/${id}`)
    const list = (source: string) => `${items}?filter[source][_eq]=${source}&limit=25&sort=-id&meta=filter_count`
    return {
      url,
      process: child,
      pids: database.pids,
      shots: shotsAt(items, paths, list, headers),
      stop,
    }
  } catch (reason) {
    await stop()
    throw reason
  }
}

/** Its guard against load is off: it would refuse what is to be measured. */
function settings(port: number): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    SECRET: 'secret-of-the-bench',
    ADMIN_EMAIL: 'admin@example.org',
    ADMIN_PASSWORD: 'password-of-the-bench',
    ADMIN_TOKEN: TOKEN,
    LOG_LEVEL: 'error',
    TELEMETRY: 'false',
    PRESSURE_LIMITER_ENABLED: 'false',
  }
}

async function load(url: string, rows: number): Promise<number[]> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const send = async (path: string, body: unknown) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`Loading failed: ${(await answer.text()).slice(0, 300)}`)
    return answer.json() as Promise<{ data: { id: number }[] }>
  }
  const text = (field: string, schema = {}) => ({ field, type: 'string', schema, meta: {} })
  await send('/collections', {
    collection: 'persons',
    schema: {},
    meta: {},
    fields: [
      {
        field: 'id',
        type: 'integer',
        schema: { is_primary_key: true, has_auto_increment: true },
        meta: { hidden: true },
      },
      text('name', { is_nullable: false }),
      text('email', { is_indexed: true, is_unique: true }),
      text('source', { is_indexed: true }),
      { field: 'score', type: 'integer', schema: {}, meta: {} },
      { field: 'notes', type: 'text', schema: {}, meta: {} },
    ],
  })
  const ids: number[] = []
  for (let from = 0; from < rows; from += SLICE) {
    const slice = Array.from({ length: Math.min(SLICE, rows - from) }, (_, i) => person(from + i))
    const { data } = await send('/items/persons', slice)
    ids.push(...data.filter((_, i) => i % 100 === 0).map(({ id }) => id))
  }
  return ids
}
