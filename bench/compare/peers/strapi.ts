import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, shotsAt } from '../contender.ts'
import { answering, freePort, stopProcess } from '../process.ts'
import { environmentWith, installed, projectOf, writeFiles } from './install.ts'
import { insertPersons, SQLITE_DURABILITY, someOf } from './rows.ts'

const VERSION = '5.54.0'
const NODE = '26.10.0'
/** What its own starter installs next to it. */
const OTHERS = ['better-sqlite3@12.8.0', 'react@18', 'react-dom@18', 'react-router-dom@6', 'styled-components@6']
const SECRET = 'secret-of-the-bench-with-32-bytes'

/** Strapi on SQLite, as its own quick start runs it in production, without its console and without a log of requests. */
export const strapi: Contender = {
  name: `Strapi ${VERSION}`,
  durability: `${SQLITE_DURABILITY}; Node ${NODE}`,
  async start(rows, tenants) {
    const machine = await environmentWith(NODE)
    const program = await installed(machine, '@strapi/strapi', VERSION, ...OTHERS)
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-strapi-'))
    symlinkSync(join(projectOf(program), 'node_modules'), join(folder, 'node_modules'))
    const file = join(folder, 'data.db')
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    writeFiles(folder, project(file, port))
    const env = { ...machine, STRAPI_TELEMETRY_DISABLED: 'true' }
    const args = [join(program, 'bin', 'strapi.js'), 'start']
    const child = spawn('node', args, { env, cwd: folder, stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      rmSync(folder, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/_health`, child)
      const key = await createKey(url)
      const ids = Array.from({ length: rows }, () => randomUUID())
      const now = Date.now()
      const times = { created_at: now, updated_at: now, published_at: now }
      insertPersons(file, rows, tenants, (i) => ({ document_id: ids[i]!, ...times }))
      const items = '/api/persons'
      const door = {
        items,
        paths: someOf(rows).map((i) => `${items}/${ids[i]}`),
        headers: { Authorization: `Bearer ${key}` },
        update: 'PUT' as const,
        list: (field: string, value: string) =>
          `${items}?filters[${field}][$eq]=${value}&pagination[pageSize]=25&sort=id:desc`,
        body: (fields: object) => ({ data: fields }),
      }
      return { url, process: child, shots: shotsAt(door, tenants), stop }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

/** Registers the first person of its console, who creates a key with all rights. */
async function createKey(url: string): Promise<string> {
  const send = async (path: string, body: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} was refused: ${(await answer.text()).slice(0, 300)}`)
    return ((await answer.json()) as { data: any }).data
  }
  const admin = { email: 'admin@example.org', password: 'Password-1-of-the-bench', firstname: 'Ada' }
  const { token } = await send('/admin/register-admin', admin)
  const key = { name: 'bench', description: '', type: 'full-access', lifespan: null }
  return (await send('/admin/api-tokens', key, token)).accessKey
}

/** The files of a project with one type. */
function project(filename: string, port: number): { readonly [file: string]: string } {
  const core = (part: string) =>
    `module.exports = require('@strapi/strapi').factories.createCore${part}('api::person.person')`
  const config = (value: object) => `module.exports = ${JSON.stringify(value)}`
  const text = { type: 'string' }
  const indexed = ['email', 'source', 'tenant']
  return {
    'package.json': JSON.stringify({
      name: 'bench',
      private: true,
      strapi: { uuid: 'bench' },
      dependencies: { '@strapi/strapi': VERSION },
    }),
    'config/database.js': config({
      connection: { client: 'sqlite', connection: { filename }, useNullAsDefault: true },
    }),
    'config/server.js': config({ host: '127.0.0.1', port, app: { keys: [SECRET, `${SECRET}-2`] } }),
    'config/admin.js': config({
      auth: { secret: SECRET },
      apiToken: { salt: SECRET },
      transfer: { token: { salt: SECRET } },
      secrets: { encryptionKey: SECRET },
      serveAdminPanel: false,
    }),
    'config/middlewares.js': config(
      ['errors', 'security', 'cors', 'poweredBy', 'query', 'body', 'session', 'favicon', 'public'].map(
        (name) => `strapi::${name}`,
      ),
    ),
    'public/uploads/.gitkeep': '',
    'src/index.js': 'module.exports = { register() {}, bootstrap() {} }',
    'src/api/person/content-types/person/schema.json': JSON.stringify({
      kind: 'collectionType',
      collectionName: 'persons',
      info: { singularName: 'person', pluralName: 'persons', displayName: 'Person' },
      options: { draftAndPublish: false },
      attributes: {
        tenant: text,
        name: { ...text, required: true },
        email: { ...text, unique: true },
        source: text,
        score: { type: 'integer' },
        notes: { type: 'text' },
      },
      indexes: indexed.map((column) => ({ name: `persons_${column}`, columns: [column] })),
    }),
    'src/api/person/controllers/person.js': core('Controller'),
    'src/api/person/services/person.js': core('Service'),
    'src/api/person/routes/person.js': core('Router'),
  }
}
