import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Database } from '../../../packages/server/src/cluster/postgres/database.ts'
import { readAddress } from '../../../packages/server/src/cluster/postgres/hosts.ts'
import { libraryPath } from '../../prepare/apt.ts'
import { FOLDER, hasName, NSS_WRAPPER } from '../../prepare/unpacked.ts'

/** Its own PostgreSQL, on a port of loopback and in a folder that goes with it. */
export interface TestPostgres {
  readonly url: string
  /** The certificate of the server, which it has signed itself, when it uses TLS. */
  readonly certificate: string
  query(text: string): Promise<readonly Record<string, unknown>[]>
  /** Ends it at once, as a crash does, and starts it again. */
  restart(): void
  /** Copies all that it has stored; returns the folder of the copy. */
  copy(): string
  /** Continues with what was stored in a copy, as another machine does after a bad failover. The state it had is kept as a copy. */
  goTo(copy: string, how?: { readonly promote: boolean }): string
  stop(): Promise<void>
}

const PLACES = [
  '/usr/lib/postgresql/*/bin',
  join(FOLDER, 'root/usr/lib/postgresql/*/bin'),
  '/opt/homebrew/opt/postgresql*/bin',
]

/** A certificate for 127.0.0.1 and no other name. */
const SELF_SIGNED = [
  ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=tildebase test'],
  ...['-addext', 'subjectAltName=IP:127.0.0.1'],
]

/** With `tls` it takes encrypted connections only. */
export async function startPostgres({ tls = false } = {}): Promise<TestPostgres> {
  const bin = globSync(PLACES)
    .sort()
    .find((folder) => existsSync(join(folder, 'initdb')))
  if (bin === undefined) throw new Error('There is no PostgreSQL. npm test installs it.')
  const folder = mkdtempSync('/tmp/tildebase-postgres-')
  const isRoot = process.getuid!() === 0
  // PostgreSQL does not run as root.
  const uid = isRoot ? Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' })) : process.getuid!()
  const env = { ...process.env, ...librariesFor(bin), ...(hasName() ? {} : inventName(uid, folder)) }
  if (isRoot) chownSync(folder, uid, uid)
  const isOwn = (program: string) => !['openssl', 'cp', 'touch'].includes(program)
  const run = (program: string, ...args: string[]) =>
    execFileSync(isOwn(program) ? join(bin, program) : program, args, {
      stdio: 'ignore',
      cwd: folder,
      env: isOwn(program) ? env : process.env,
      ...(isRoot && { uid, gid: uid }),
    })
  const data = join(folder, 'data')
  const port = await freePort()
  run('initdb', '-D', data, '-A', 'trust', '-U', 'tilde', '--no-sync')
  const certificate = join(folder, 'server.pem')
  if (tls) {
    run('openssl', ...SELF_SIGNED, '-keyout', join(folder, 'server.key'), '-out', certificate)
    writeFileSync(join(data, 'pg_hba.conf'), 'local all all trust\nhostssl all all 127.0.0.1/32 trust\n')
  }
  const encryption = `-c ssl=on -c ssl_cert_file=${certificate} -c ssl_key_file=${join(folder, 'server.key')}`
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=100 ${tls ? encryption : ''}`
  const start = () => run('pg_ctl', '-D', data, '-o', options, '-l', join(folder, 'log'), '-w', 'start')
  const end = () => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
  let copies = 0
  start()
  run('createdb', '-h', folder, '-p', String(port), '-U', 'tilde', 'tilde')
  const url = `postgres://tilde@127.0.0.1:${port}/tilde${tls ? '?sslmode=require' : ''}`
  const database = new Database(readAddress(url), 'test', 10_000)
  return {
    url,
    certificate,
    query: (text) => database.query(text),
    restart() {
      end()
      start()
    },
    copy() {
      end()
      const copy = join(folder, `copy-${copies++}`)
      run('cp', '-a', data, copy)
      start()
      return copy
    },
    goTo(copy, { promote } = { promote: false }) {
      end()
      const kept = join(folder, `copy-${copies++}`)
      renameSync(data, kept)
      run('cp', '-a', copy, data)
      if (promote) run('touch', join(data, 'standby.signal'))
      start()
      if (promote) run('pg_ctl', '-D', data, '-w', 'promote')
      return kept
    },
    async stop() {
      await database.close()
      end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Lets a PostgreSQL that was unpacked find its libraries. */
function librariesFor(bin: string): NodeJS.ProcessEnv {
  return bin.startsWith(FOLDER) ? { LD_LIBRARY_PATH: libraryPath(join(FOLDER, 'root')) } : {}
}

/** Gives the user id a name, without which initdb refuses to run. */
function inventName(uid: number, folder: string): NodeJS.ProcessEnv {
  const [library] = globSync(NSS_WRAPPER)
  if (library === undefined) throw new Error('There is no libnss-wrapper. npm test installs it.')
  const [users, groups] = [join(folder, 'passwd'), join(folder, 'group')]
  writeFileSync(users, `tilde:x:${uid}:${process.getgid!()}::${folder}:/bin/sh\n`)
  writeFileSync(groups, `tilde:x:${process.getgid!()}:\n`)
  return { LD_PRELOAD: library, NSS_WRAPPER_PASSWD: users, NSS_WRAPPER_GROUP: groups }
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => done(port))
    })
  })
}
