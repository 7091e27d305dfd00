import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, personOf, type Running, shotsAt } from '../contender.ts'
import { answering, freePort, stopProcess } from '../process.ts'
import { environmentWith, installed } from './install.ts'
import { POSTGRES_DURABILITY, startPostgres } from './postgres.ts'

const VERSION = '9.10.0'
const NODE = '22.23.3'
const KEYS = { appId: 'bench', masterKey: 'master-key-of-the-bench', restAPIKey: 'rest-key-of-the-bench' }
const SLICE = 50

/** Parse Server on PostgreSQL. */
export const parse: Contender = {
  name: `Parse Server ${VERSION}`,
  durability: `${POSTGRES_DURABILITY}; Node ${NODE}`,
  async start(rows, tenants) {
    const env = await environmentWith(NODE)
    const program = join(await installed(env, 'parse-server', VERSION), 'bin', 'parse-server')
    const postgres = await startPostgres()
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-parse-'))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const config = join(folder, 'config.json')
    writeFileSync(
      config,
      JSON.stringify({
        ...KEYS,
        port,
        host: '127.0.0.1',
        serverURL: `${url}/parse`,
        databaseURI: `postgres://${postgres.user}@127.0.0.1:${postgres.port}/postgres`,
        allowClientClassCreation: false,
        directAccess: true,
        logLevel: 'error',
        logsFolder: folder,
      }),
    )
    const child = spawn('node', [program, config], { env, stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/parse/health`, child)
      const ids = await load(url, rows, tenants)
      const items = '/parse/classes/Person'
      const where = (field: string, value: string) => encodeURIComponent(JSON.stringify({ [field]: value }))
      const door = {
        items,
        paths: ids.map((id) => `${items}/${id}`),
        headers: { 'X-Parse-Application-Id': KEYS.appId, 'X-Parse-REST-API-Key': KEYS.restAPIKey },
        update: 'PUT' as const,
        list: (field: string, value: string) =>
          `${items}?where=${where(field, value)}&limit=25&count=1&order=-createdAt`,
      }
      const shots = withoutPersons(shotsAt(door, tenants))
      return { url, process: child, pids: () => [postgres.process.pid!], shots, stop }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

/** Its answers to writes contain an id or a time only. */
function withoutPersons({ create, update, ...reads }: Running['shots']): Running['shots'] {
  const { persons: _, ...created } = create!
  const { persons: __, ...updated } = update!
  return { ...reads, create: created, update: updated }
}

async function load(url: string, rows: number, tenants?: number): Promise<string[]> {
  const headers = {
    'X-Parse-Application-Id': KEYS.appId,
    'X-Parse-Master-Key': KEYS.masterKey,
    'content-type': 'application/json',
  }
  const send = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`Loading failed: ${(await answer.text()).slice(0, 300)}`)
    return answer.json()
  }
  const text = { type: 'String' }
  await send('/parse/schemas/Person', {
    className: 'Person',
    fields: {
      tenant: text,
      name: { ...text, required: true },
      email: text,
      source: text,
      score: { type: 'Number' },
      notes: text,
    },
    indexes: {
      source: { source: 1, createdAt: -1 },
      tenant: { tenant: 1, createdAt: -1 },
      email: { email: 1 },
    },
  })
  const ids: string[] = []
  for (let from = 0; from < rows; from += SLICE) {
    const requests = Array.from({ length: Math.min(SLICE, rows - from) }, (_, i) => ({
      method: 'POST',
      path: '/parse/classes/Person',
      body: personOf(from + i, tenants),
    }))
    const made = (await send('/parse/batch', { requests })) as { success: { objectId: string } }[]
    ids.push(...made.filter((_, i) => (from + i) % 7 === 0).map(({ success }) => success.objectId))
  }
  return ids
}
