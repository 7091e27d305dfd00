import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../test/host.ts'
import { type Contender, person, TENANTS } from '../compare/contender.ts'
import { addressOf, concurrently, stopProcess } from '../compare/process.ts'

/** Us, with the rows in 200 tenants. */
export function manyTenants(workers: number): Contender {
  return {
    name: workers === 0 ? 'Tildebase, one thread' : `Tildebase, ${workers} worker`,
    durability: 'synced before every answer; history and text index on',
    async start(rows) {
      const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
      const program = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
      const args = [program, 'serve', '--port', '0', '--data', folder, '--workers', String(workers)]
      const env = { ...process.env, TILDE_ROOT_KEY: ROOT }
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const url = await addressOf(child)
      const paths: string[] = []
      await concurrently(TENANTS, 8, async (tenant) => {
        const ids = await load(`${url}/~t${tenant}`, Math.floor(rows / TENANTS))
        paths.push(...ids.map((id) => `/~t${tenant}/Person/${id}`))
      })
      const headers = { Authorization: `Bearer ${ROOT}` }
      const all = Array.from({ length: TENANTS }, (_, tenant) => `/~t${tenant}/Person`)
      const body = JSON.stringify({ ...person(1), email: 'n{i}@example.org' })
      return {
        url,
        process: child,
        shots: {
          get: { method: 'GET', paths, headers, persons: 1 },
          list: { method: 'GET', paths: all, headers, persons: 25 },
          update: { method: 'PUT', paths, body: '{"score":{i}}', headers, persons: 1 },
          create: { method: 'POST', paths: all, body, headers, persons: 1 },
        },
        async stop() {
          await stopProcess(child)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}

/** Describes the type in a tenant, loads so many persons, and gives the ids of some. */
async function load(tenant: string, rows: number): Promise<string[]> {
  const send = async (method: string, path: string, body?: string, type = 'application/json') => {
    const headers = { authorization: `Bearer ${ROOT}`, ...(body !== undefined && { 'content-type': type }) }
    const answer = await fetch(`${tenant}${path}`, { method, headers, ...(body !== undefined && { body }) })
    if (!answer.ok) throw new Error(`Loading failed: ${(await answer.text()).slice(0, 300)}`)
    return answer.json() as Promise<any>
  }
  const fields = { name: 'string!', email: 'string##', source: 'string#', score: 'number' }
  await send('PUT', '/schema/Person', JSON.stringify(fields))
  const lines = Array.from({ length: rows }, (_, i) => JSON.stringify(person(i)))
  await send('POST', '/import/Person', lines.join('\n'), 'application/x-ndjson')
  const { results } = await send('GET', '/Person?limit=20&total=false')
  return results.map(({ $id }: { $id: string }) => $id)
}
