import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../machines/cluster.ts'
import { addressOf, DATABASES, type Machine } from '../machines/network.ts'
import type { Fault } from './fault.ts'

/** Longer than the lock of a primary in etcd lasts, so that Patroni chooses another one. */
const FAILOVER = 14_000

/** Failures of PostgreSQL, Patroni and etcd. */
export const DATABASE_FAULTS: readonly Fault[] = [
  {
    name: 'kill -9 of the primary and its Patroni',
    isSlow: true,
    async run({ cluster, note }) {
      const primary = await cluster.database.primary()
      await primary.kill()
      note(`${primary.machine} killed`)
      await newPrimary(cluster, primary.machine)
    },
  },
  {
    name: 'kill -9 of PostgreSQL alone, which Patroni starts again',
    isSlow: true,
    async run({ cluster, note }) {
      const primary = await cluster.database.primary()
      const pid = primary.postmaster()
      if (pid !== null) process.kill(pid, 'SIGKILL')
      note(`postmaster of ${primary.machine} killed`)
      await pause(3_000)
    },
  },
  {
    name: 'switchover',
    isSlow: true,
    async run({ cluster, note }) {
      const primary = await cluster.database.primary()
      const reply = await fetch(`http://${addressOf(primary.machine)}:8008/switchover`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ leader: primary.machine }),
        signal: AbortSignal.timeout(30_000),
      })
      note(`${primary.machine}: ${await reply.text()}`)
    },
  },
  {
    name: 'SIGSTOP of the machine of the primary, which wakes after the failover',
    isSlow: true,
    async run({ cluster, chance, note }) {
      const { machine } = await cluster.database.primary()
      const pids = cluster.network.pids(machine)
      for (const pid of pids) signal(pid, 'SIGSTOP')
      note(`${pids.length} processes of ${machine} stopped`)
      await newPrimary(cluster, machine)
      await pause(chance.between(0, 2_000))
      for (const pid of cluster.network.pids(machine)) signal(pid, 'SIGCONT')
      await pause(chance.between(1_000, 3_000))
    },
  },
  {
    name: 'the primary is cut off from the other databases, not from the nodes',
    isSlow: true,
    async run({ cluster, note }) {
      const { machine } = await cluster.database.primary()
      cluster.network.separate(
        [machine],
        DATABASES.filter((one) => one !== machine),
      )
      note(`${machine} alone`)
      await newPrimary(cluster, machine)
      cluster.network.heal()
    },
  },
  {
    name: 'loss of the synchronous standby',
    isSlow: true,
    async run({ cluster, chance, note }) {
      const standby = await cluster.database.standby(true)
      await standby.kill()
      note(`${standby.machine} killed`)
      await pause(chance.between(4_000, 7_000))
    },
  },
  {
    name: 'kill -9 of an etcd member',
    async run({ cluster, chance, note }) {
      const { machine, etcd } = chance.pick(cluster.database.machines)
      await etcd.end('SIGKILL')
      note(`etcd of ${machine} killed`)
      await pause(chance.between(1_000, 3_000))
    },
  },
  {
    name: 'connections to the database are ended',
    async run({ cluster, chance, note }) {
      for (let times = 0; times < 5; times++) {
        await cluster.database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tilde'")
        await pause(chance.between(50, 600))
      }
      note('all connections ended five times')
    },
  },
]

/** Waits until Patroni has made another machine the primary. */
async function newPrimary(cluster: Cluster, old: Machine): Promise<void> {
  const until = Date.now() + 60_000
  await pause(FAILOVER / 2)
  // The old one may still hold itself for the primary: a write to it would wait.
  const others = DATABASES.filter((one) => one !== old)
  while (Date.now() < until) {
    const leader = (await cluster.database.membersSeenBy(others)).find(({ role }) => role === 'leader')
    if (leader !== undefined && leader.name !== old && (await cluster.database.accepts(others))) return
    await pause(200)
  }
  throw new Error(`No other machine took over from ${old} within a minute.`)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
