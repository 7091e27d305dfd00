import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { command, freePort, stopProcess } from '../process.ts'

/** Our own PostgreSQL cluster, on loopback, in a folder that goes with it. */
export interface Postgres {
  readonly process: ChildProcess
  readonly port: number
  readonly user: string
  stop(): Promise<void>
}

/** What is changed of PostgreSQL's defaults: more memory. What it promises about the disk stays as it is. */
const SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'shared_buffers=1GB',
  'max_connections=200',
]

export const POSTGRES_DURABILITY = 'PostgreSQL, synced before every answer (fsync and synchronous_commit on)'

export async function startPostgres(): Promise<Postgres> {
  const programs = folderOfPrograms()
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-postgres-'))
  const as = serverUser()
  if (as) chownSync(folder, as.uid, as.gid)
  const data = join(folder, 'data')
  await command(join(programs, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], {
    cwd: folder,
    ...as,
  })
  const port = await freePort()
  const settings = [...SETTINGS, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap((one) => ['-c', one])],
    {
      cwd: folder,
      stdio: 'ignore',
      ...as,
    },
  )
  await ready(join(programs, 'pg_isready'), port)
  return {
    process: child,
    port,
    user: 'bench',
    async stop() {
      await stopProcess(child, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function ready(program: string, port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    try {
      return await command(program, ['-h', '127.0.0.1', '-p', String(port)])
    } catch {
      await new Promise((later) => setTimeout(later, 100))
    }
  }
  throw new Error('PostgreSQL did not come up within thirty seconds.')
}

function folderOfPrograms(): string {
  const root = '/usr/lib/postgresql'
  const version = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a))[0] : undefined
  if (version === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  return join(root, version, 'bin')
}

/** PostgreSQL refuses to run as root: it then runs as its own user. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString())
  return { uid: id('-u'), gid: id('-g') }
}
