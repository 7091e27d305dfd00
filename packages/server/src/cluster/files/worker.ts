import { parentPort, workerData } from 'node:worker_threads'
import type { ClusterSettings } from '../../host/settings/cluster-settings.ts'
import { log } from '../../node/log.ts'
import { readAddress } from '../postgres/hosts.ts'
import { PostgresLog } from '../postgres/postgres-log.ts'
import { Follower } from './follower.ts'
import { ReplicaFolder } from './replica-folder.ts'
import { ReplicaTasks } from './replica-tasks.ts'

/** What the thread is asked to do. */
export interface FileCall {
  readonly id: number
  readonly method: FileMethod
  readonly args: readonly never[]
}

export type FileMethod =
  | 'bring'
  | 'publish'
  | 'withdraw'
  | 'discard'
  | 'stateOfFile'
  | 'saveSnapshot'
  | 'create'
  | 'follow'
  | 'close'

export type FileAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string }
  /** How many changes the replicas here are behind the log, and how many there are. */
  | { readonly lag: number; readonly followed: number }

const { cluster, data } = workerData as { readonly cluster: ClusterSettings; readonly data: string }
const timeout = Math.max(cluster.lease, 5_000)
const postgres = new PostgresLog({
  address: readAddress(cluster.url),
  name: `tildebase ${cluster.nodeName} files`,
  timeout,
})
const folder = new ReplicaFolder(data)
const tasks = new ReplicaTasks(postgres, folder)
const follower = new Follower(postgres, tasks, {
  told: (lag, followed) => tell({ lag, followed }),
  report: (reason, doing) => log('warn', 'A replica is not brought forward', { doing, reason: String(reason) }),
})

function tell(answer: FileAnswer): void {
  parentPort!.postMessage(answer)
}

async function run({ method, args }: FileCall): Promise<unknown> {
  if (method === 'follow') return follower.follow(...(args as unknown as Parameters<Follower['follow']>))
  if (method === 'close') {
    follower.stop()
    folder.close()
    return postgres.close()
  }
  return (tasks[method] as (...args: readonly never[]) => unknown).apply(tasks, [...args])
}

parentPort!.on('message', (call: FileCall) => {
  run(call).then(
    (value) => tell({ id: call.id, value }),
    (reason) => tell({ id: call.id, error: reason instanceof Error ? reason.message : String(reason) }),
  )
})
