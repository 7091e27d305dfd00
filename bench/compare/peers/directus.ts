import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, shotsAt } from '../contender.ts'
import { answering, command, freePort, stopProcess } from '../process.ts'
import { environmentWith, installed } from './install.ts'
import { insertPersons, SQLITE_DURABILITY, someOf } from './rows.ts'

const VERSION = '12.4.0'
/** Its sandbox for scripts cannot be built for a newer Node. */
const NODE = '22.23.3'
const TOKEN = 'token-of-the-bench'

/** Directus on SQLite, as its own quick start runs it. */
export const directus: Contender = {
  name: `Directus ${VERSION}`,
  durability: `${SQLITE_DURABILITY}; Node ${NODE}`,
  async start(rows, tenants) {
    const machine = await environmentWith(NODE)
    const program = join(await installed(machine, 'directus', VERSION, 'sqlite3'), 'cli.js')
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-directus-'))
    const file = join(folder, 'data.db')
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = { ...machine, ...settings(port, file) }
    await command('node', [program, 'bootstrap'], { env, cwd: folder })
    const child = spawn('node', [program, 'start'], { env, cwd: folder, stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      rmSync(folder, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/server/ping`, child)
      await createCollection(url)
      insertPersons(file, rows, tenants, (i) => ({ id: i + 1 }))
      const items = '/items/persons'
      const door = {
        items,
        paths: someOf(rows).map((i) => `${items}/${i + 1}`),
        headers: { Authorization: `Bearer ${TOKEN}` },
        update: 'PATCH' as const,
        list: (field: string, value: string) =>
          `${items}?filter[${field}][_eq]=${value}&limit=25&sort=-id&meta=filter_count`,
      }
      return { url, process: child, shots: shotsAt(door, tenants), stop }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

/** Its guard against load is off: it would refuse what is to be measured. */
function settings(port: number, file: string): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    DB_CLIENT: 'sqlite3',
    DB_FILENAME: file,
    SECRET: 'secret-of-the-bench',
    ADMIN_EMAIL: 'admin@example.org',
    ADMIN_PASSWORD: 'password-of-the-bench',
    ADMIN_TOKEN: TOKEN,
    LOG_LEVEL: 'error',
    TELEMETRY: 'false',
    PRESSURE_LIMITER_ENABLED: 'false',
  }
}

async function createCollection(url: string): Promise<void> {
  const text = (field: string, schema = {}) => ({ field, type: 'string', schema, meta: {} })
  const id = { is_primary_key: true, has_auto_increment: true }
  const answer = await fetch(`${url}/collections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      collection: 'persons',
      schema: {},
      meta: {},
      fields: [
        { field: 'id', type: 'integer', schema: id, meta: { hidden: true } },
        text('name', { is_nullable: false }),
        text('email', { is_indexed: true, is_unique: true }),
        text('source', { is_indexed: true }),
        text('tenant', { is_indexed: true }),
        { field: 'score', type: 'integer', schema: {}, meta: {} },
        { field: 'notes', type: 'text', schema: {}, meta: {} },
      ],
    }),
  })
  if (!answer.ok) throw new Error(`The collection was not created: ${(await answer.text()).slice(0, 300)}`)
}
