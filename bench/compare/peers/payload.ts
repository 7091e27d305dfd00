import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, shotsAt } from '../contender.ts'
import { answering, command, freePort, stopProcess } from '../process.ts'
import { environmentWith, installed, projectOf, writeFiles } from './install.ts'
import { insertPersons, SQLITE_DURABILITY, someOf } from './rows.ts'

const VERSION = '3.90.2'
const NODE = '26.10.0'
const NEXT = '16.4.6'
const OTHERS = ['@payloadcms/next', '@payloadcms/db-sqlite']
  .map((name) => `${name}@${VERSION}`)
  .concat(`next@${NEXT}`, 'react@19', 'react-dom@19', 'graphql@16')

/** Payload on SQLite: a build of Next.js, as its own starter makes it, without the pages of its console. */
export const payload: Contender = {
  name: `Payload ${VERSION}`,
  durability: `${SQLITE_DURABILITY}; Next.js ${NEXT}, Node ${NODE}`,
  async start(rows, tenants) {
    const machine = await environmentWith(NODE)
    const folder = projectOf(await installed(machine, 'payload', VERSION, ...OTHERS))
    const empty = await built(folder, machine)
    const data = mkdtempSync(join(tmpdir(), 'tildebase-payload-'))
    const file = join(data, 'data.db')
    copyFileSync(empty, file)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const args = [join(folder, NEXT_PROGRAM), 'start', '--hostname', '127.0.0.1', '--port', String(port)]
    const child = spawn('node', args, { env: environment(machine, file), cwd: folder, stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      rmSync(data, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/api/access`, child)
      const key = await createKey(url)
      insertPersons(file, rows, tenants, (i) => ({ id: i + 1 }))
      const items = '/api/persons'
      const door = {
        items,
        paths: someOf(rows).map((i) => `${items}/${i + 1}`),
        headers: { Authorization: `users API-Key ${key}` },
        update: 'PATCH' as const,
        list: (field: string, value: string) => `${items}?where[${field}][equals]=${value}&limit=25&sort=-id`,
      }
      return { url, process: child, shots: shotsAt(door, tenants), stop }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

const NEXT_PROGRAM = 'node_modules/next/dist/bin/next'

/** Builds the project once, and gives its empty database, which its migrations have created. */
async function built(folder: string, machine: NodeJS.ProcessEnv): Promise<string> {
  const empty = join(folder, 'empty.db')
  if (existsSync(empty)) return empty
  writeFiles(folder, PROJECT)
  const file = join(folder, 'new.db')
  const options = { env: environment(machine, file), cwd: folder }
  rmSync(file, { force: true })
  rmSync(join(folder, 'migrations'), { recursive: true, force: true })
  await command('node', [NEXT_PROGRAM, 'build'], options)
  for (const step of [['migrate:create', 'first'], ['migrate']])
    await command('node', ['node_modules/payload/bin.js', ...step], options)
  renameSync(file, empty)
  return empty
}

function environment(machine: NodeJS.ProcessEnv, file: string): NodeJS.ProcessEnv {
  return {
    ...machine,
    DATABASE_URL: `file:${file}`,
    PAYLOAD_SECRET: 'secret-of-the-bench',
    PAYLOAD_CONFIG_PATH: 'payload.config.js',
    NEXT_TELEMETRY_DISABLED: '1',
  }
}

/** Registers the first user and gives them a key. */
async function createKey(url: string): Promise<string> {
  const send = async (method: string, path: string, body: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `JWT ${token}` }) }
    const answer = await fetch(`${url}/api/users${path}`, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} was refused: ${(await answer.text()).slice(0, 300)}`)
    return answer.json() as Promise<any>
  }
  const user = { email: 'admin@example.org', password: 'password-of-the-bench' }
  const registered = await send('POST', '/first-register', user)
  const apiKey = randomUUID()
  await send('PATCH', `/${registered.user.id}`, { enableAPIKey: true, apiKey }, registered.token)
  return apiKey
}

const PROJECT = {
  'package.json': '{"name":"bench","private":true,"type":"module"}',
  'jsconfig.json': '{"compilerOptions":{"paths":{"@payload-config":["./payload.config.js"]}}}',
  'next.config.js': `
    import { withPayload } from '@payloadcms/next/withPayload'
    export default withPayload({})`,
  'payload.config.js': `
    import { sqliteAdapter } from '@payloadcms/db-sqlite'
    import { buildConfig } from 'payload'
    export default buildConfig({
      secret: process.env.PAYLOAD_SECRET,
      telemetry: false,
      db: sqliteAdapter({ client: { url: process.env.DATABASE_URL } }),
      collections: [
        { slug: 'users', auth: { useAPIKey: true }, fields: [] },
        {
          slug: 'persons',
          fields: [
            { name: 'tenant', type: 'text', index: true },
            { name: 'name', type: 'text', required: true },
            { name: 'email', type: 'text', unique: true },
            { name: 'source', type: 'text', index: true },
            { name: 'score', type: 'number' },
            { name: 'notes', type: 'textarea' },
          ],
        },
      ],
    })`,
  'app/api/[...slug]/route.js': `
    import config from '@payload-config'
    import { REST_DELETE, REST_GET, REST_PATCH, REST_POST, REST_PUT } from '@payloadcms/next/routes'
    export const GET = REST_GET(config)
    export const POST = REST_POST(config)
    export const DELETE = REST_DELETE(config)
    export const PATCH = REST_PATCH(config)
    export const PUT = REST_PUT(config)`,
}
