import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, person, SOURCES } from '../contender.ts'
import { answering, freePort, stopProcess } from '../process.ts'
import { installed, PEER_ENV, peerNode } from './install.ts'
import { POSTGRES_DURABILITY, startPostgres } from './postgres.ts'

const VERSION = '9.10.0'
const KEYS = { appId: 'bench', masterKey: 'master-key-of-the-bench', restAPIKey: 'rest-key-of-the-bench' }
const SLICE = 50

/** Parse Server on PostgreSQL. */
export const parse: Contender = {
  name: `Parse Server ${VERSION}`,
  get durability() {
    return `${POSTGRES_DURABILITY}; on Node ${peerNode()}`
  },
  async start(rows) {
    const program = join(await installed('parse-server', VERSION), 'bin', 'parse-server')
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
    const env = PEER_ENV
    const child = spawn('node', [program, config], { env, stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/parse/health`, child)
      const ids = await load(url, rows)
      const headers = { 'X-Parse-Application-Id': KEYS.appId, 'X-Parse-REST-API-Key': KEYS.restAPIKey }
      const paths = ids.map((id) => `/parse/classes/Person/${id}`)
      const where = (source: string) => encodeURIComponent(JSON.stringify({ source }))
      const lists = SOURCES.map(
        (source) => `/parse/classes/Person?where=${where(source)}&limit=25&count=1&order=-createdAt`,
      )
      const body = JSON.stringify({ ...person(1), email: 'n{i}@example.org' })
      return {
        url,
        process: child,
        pids: () => [postgres.process.pid!],
        shots: {
          create: { method: 'POST', paths: ['/parse/classes/Person'], body, headers },
          get: { method: 'GET', paths, headers },
          list: { method: 'GET', paths: lists, headers },
          update: { method: 'PUT', paths, body: '{"score":{i}}', headers },
        },
        stop,
      }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

async function load(url: string, rows: number): Promise<string[]> {
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
    fields: { name: { ...text, required: true }, email: text, source: text, score: { type: 'Number' }, notes: text },
    indexes: { source: { source: 1, createdAt: -1 }, email: { email: 1 } },
  })
  const ids: string[] = []
  for (let from = 0; from < rows; from += SLICE) {
    const requests = Array.from({ length: Math.min(SLICE, rows - from) }, (_, i) => ({
      method: 'POST',
      path: '/parse/classes/Person',
      body: person(from + i),
    }))
    const made = (await send('/parse/batch', { requests })) as { success: { objectId: string } }[]
    if (from % 100 === 0) ids.push(made[0]!.success.objectId)
  }
  return ids
}
