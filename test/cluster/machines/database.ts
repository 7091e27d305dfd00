import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Conditions } from './conditions.ts'
import { addressOf, DATABASES, type Machine, type Network } from './network.ts'
import { Program } from './program.ts'

const run = promisify(execFile)
const BINARIES = '/usr/lib/postgresql/15/bin'
/** Seconds: how long a dead primary keeps its lock. The default of Patroni is 30. */
const TTL = 10
/**
 * Milliseconds until help comes as from an operator. Patroni 3.0 may keep a stale copy of the state in etcd: it then says
 * in every turn that the list of synchronous standbys was "updated by someone else", until it is started again. A standby
 * that has more than the new primary starts without end, until it is copied again.
 */
const STUCK = 40_000

/** What `patronictl list` says of one member. */
interface Member {
  readonly name: Machine
  readonly role: string
  readonly state: string
}

/** One machine with an etcd, a Patroni and its PostgreSQL. */
export class DatabaseMachine {
  readonly machine: Machine
  readonly conditions: Conditions
  readonly etcd: Program
  readonly patroni: Program
  readonly #folder: string

  constructor(network: Network, machine: Machine, folder: string, preload: string, patroni: string) {
    const here = addressOf(machine)
    const log = (name: string) => join(folder, `${machine}-${name}.log`)
    this.machine = machine
    this.#folder = join(folder, machine)
    mkdirSync(this.#folder, { recursive: true })
    const { uid, gid } = postgresUser()
    chownSync(this.#folder, uid, gid)
    this.conditions = new Conditions(join(folder, `${machine}.conditions`))
    const shared = { network, machine, user: 'postgres' }
    this.etcd = new Program({ ...shared, log: log('etcd'), command: etcdCommand(machine, this.#folder), env: {} })
    const config = join(folder, `${machine}-patroni.yml`)
    writeFileSync(config, JSON.stringify(patroniConfig(machine, join(this.#folder, 'postgres'), this.#folder), null, 2))
    this.patroni = new Program({
      ...shared,
      log: log('patroni'),
      command: [patroni, config],
      env: { LD_PRELOAD: preload, TEST_MACHINE: this.conditions.path, PGHOST: here },
    })
  }

  start(): void {
    if (!this.etcd.isRunning) this.etcd.start()
    if (!this.patroni.isRunning) this.patroni.start()
  }

  /** kill -9 of PostgreSQL and of the Patroni that would start it again. */
  async kill(): Promise<void> {
    const postmaster = this.postmaster()
    await this.patroni.end('SIGKILL')
    if (postmaster !== null) process.kill(postmaster, 'SIGKILL')
  }

  /** Ends Patroni and starts it again, as an operator does. PostgreSQL continues to run. */
  async restartPatroni(): Promise<void> {
    await this.patroni.end('SIGKILL')
    this.patroni.start()
  }

  /** The first process of PostgreSQL, or null when there is none. */
  postmaster(): number | null {
    try {
      const pid = Number(readFileSync(join(this.#folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
      process.kill(pid, 0)
      return pid
    } catch {
      return null
    }
  }
}

/** Three PostgreSQL with synchronous replication, kept by Patroni over etcd. */
export class Database {
  readonly machines: readonly DatabaseMachine[]

  constructor(network: Network, folder: string, preload: string, patroni: string) {
    this.machines = DATABASES.map((machine) => new DatabaseMachine(network, machine, folder, preload, patroni))
  }

  /** The address that nodes connect to: all hosts, of which the driver takes the one that accepts writes. */
  get url(): string {
    const hosts = DATABASES.map((machine) => `${addressOf(machine)}:5432`).join(',')
    return `postgres://tilde@${hosts}/tilde?target_session_attrs=read-write`
  }

  of(machine: Machine): DatabaseMachine {
    return this.machines.find((one) => one.machine === machine)!
  }

  async start(): Promise<void> {
    for (const machine of this.machines) machine.start()
    await this.whole()
    await this.query('CREATE ROLE tilde LOGIN', 'postgres')
    await this.query('CREATE DATABASE tilde OWNER tilde', 'postgres')
  }

  /** Waits until there is a primary and two standbys, one of which is synchronous. Says what had to be repaired. */
  async whole(note: (line: string) => void = () => undefined, seconds = 120): Promise<void> {
    const until = Date.now() + seconds * 1_000
    let stuckAt = Date.now() + STUCK
    let members: readonly Member[] = []
    while (Date.now() < until) {
      members = await this.members()
      const isStuck = Date.now() > stuckAt
      for (const { name, state } of members)
        if (state === 'start failed' || (isStuck && state === 'starting')) await reinitialize(name)
      const isUp = members.filter(({ state }) => state === 'running' || state === 'streaming').length === 3
      if (isUp && members.some(({ role }) => role === 'sync_standby') && (await this.accepts())) return
      const leader = members.find(({ role }) => role === 'leader')
      if (isUp && leader !== undefined && isStuck) {
        note(`Patroni of ${leader.name} chose no synchronous standby and was started again`)
        await this.of(leader.name).restartPatroni()
      }
      if (isStuck) stuckAt = Date.now() + STUCK
      await pause(250)
    }
    throw new Error(`The database is not whole after ${seconds} seconds: ${JSON.stringify(members)}`)
  }

  async members(): Promise<readonly Member[]> {
    return await this.membersSeenBy(DATABASES)
  }

  /** The members as the first of these machines that answers knows them. */
  async membersSeenBy(machines: readonly Machine[]): Promise<readonly Member[]> {
    for (const machine of machines) {
      try {
        const reply = await fetch(`http://${addressOf(machine)}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
        return ((await reply.json()) as { members: readonly Member[] }).members
      } catch {
        // The next machine is asked.
      }
    }
    return []
  }

  /** Whether a write is committed now, on the primary among these machines. */
  async accepts(machines: readonly Machine[] = DATABASES): Promise<boolean> {
    try {
      const probe = 'CREATE TABLE IF NOT EXISTS probe (n int); INSERT INTO probe VALUES (1)'
      await this.query(probe, 'postgres', 5_000, machines)
      return true
    } catch {
      return false
    }
  }

  async primary(): Promise<DatabaseMachine> {
    for (let tries = 0; tries < 200; tries++) {
      const leader = (await this.members()).find(({ role, state }) => role === 'leader' && state === 'running')
      if (leader !== undefined) return this.of(leader.name)
      await pause(250)
    }
    throw new Error('There is no primary.')
  }

  async standby(isSynchronous: boolean): Promise<DatabaseMachine> {
    const role = isSynchronous ? 'sync_standby' : 'replica'
    const found = (await this.members()).find((member) => member.role === role)
    return found === undefined ? this.machines[0]! : this.of(found.name)
  }

  /** Runs SQL on the primary. Rows come as lines, columns separated by `|`. */
  async query(
    sql: string,
    database = 'tilde',
    timeout = 20_000,
    machines: readonly Machine[] = DATABASES,
  ): Promise<string[]> {
    const hosts = machines.map(addressOf).join(',')
    const target = `host=${hosts} dbname=${database} user=postgres target_session_attrs=read-write connect_timeout=2`
    const until = Date.now() + timeout
    for (;;) {
      try {
        const { stdout } = await run('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', sql, target], { timeout })
        return stdout.split('\n').filter((line) => line !== '')
      } catch (error) {
        // Nothing was sent yet: there was no primary at this moment.
        if (!(error as Error).message.includes('psql: error: connection to server') || Date.now() > until) throw error
        await pause(250)
      }
    }
  }
}

/** Copies a standby from the primary again, as an operator does: a fault may have ended its pg_rewind half-way. */
async function reinitialize(machine: Machine): Promise<void> {
  const signal = AbortSignal.timeout(5_000)
  const body = JSON.stringify({ force: true })
  await fetch(`http://${addressOf(machine)}:8008/reinitialize`, { method: 'POST', body, signal }).catch(() => null)
  await pause(2_000)
}

function etcdCommand(machine: Machine, folder: string): string[] {
  const here = addressOf(machine)
  const all = DATABASES.map((one) => `${one}=http://${addressOf(one)}:2380`).join(',')
  return [
    'etcd',
    ...['--name', machine, '--data-dir', join(folder, 'etcd'), '--initial-cluster', all],
    ...['--listen-peer-urls', `http://${here}:2380`, '--initial-advertise-peer-urls', `http://${here}:2380`],
    ...['--listen-client-urls', `http://${here}:2379`, '--advertise-client-urls', `http://${here}:2379`],
    ...['--heartbeat-interval', '200', '--election-timeout', '2000', '--logger', 'zap', '--log-level', 'warn'],
  ]
}

function patroniConfig(machine: Machine, data: string, folder: string): object {
  const here = addressOf(machine)
  const user = (username: string) => ({ username, password: 'only-in-this-network' })
  return {
    scope: 'tilde',
    name: machine,
    restapi: { listen: `${here}:8008`, connect_address: `${here}:8008` },
    etcd3: { hosts: DATABASES.map((one) => `${addressOf(one)}:2379`) },
    bootstrap: {
      dcs: {
        ttl: TTL,
        loop_wait: 2,
        retry_timeout: 3,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, shared_buffers: '64MB', wal_keep_size: '256MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `${here}:5432`,
      connect_address: `${here}:5432`,
      data_dir: data,
      bin_dir: BINARIES,
      pgpass: join(folder, 'pgpass'),
      // A copy of a standby begins at once: by default it waits for a checkpoint of some minutes.
      basebackup: [{ checkpoint: 'fast' }],
      authentication: { replication: user('replicator'), superuser: user('postgres'), rewind: user('rewinder') },
      pg_hba: ['local all all trust', 'host all all 10.26.0.0/24 trust', 'host replication all 10.26.0.0/24 trust'],
      parameters: { unix_socket_directories: folder },
    },
  }
}

function postgresUser(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('postgres:'))!
  const [, , uid, gid] = line.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
