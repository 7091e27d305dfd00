import { join } from 'node:path'
import { SettingError } from '../host/settings/setting-error.ts'
import type { Settings } from '../host/settings/settings.ts'
import { log as writeLog } from '../node/log.ts'
import { Cluster } from './cluster.ts'
import { readAddress } from './postgres/hosts.ts'
import { MarkFile } from './postgres/mark-file.ts'
import { PostgresLog } from './postgres/postgres-log.ts'
import { LogGuard } from './protocol/log-guard.ts'
import { sharedSettings } from './shared-settings.ts'

/** The version of the tables and messages that nodes share. */
const VERSION = 1

/** Reaches the log, and makes sure that this node may join. */
export async function openCluster(settings: Settings): Promise<Cluster> {
  const { url, nodeName, lease } = settings.cluster!
  const shared = sharedSettings(settings)
  const guard = guardOf(settings)
  const log = new PostgresLog({
    address: readAddress(url),
    name: `tildebase ${nodeName}`,
    timeout: Math.max(1_000, lease),
    guard,
  })
  try {
    await log.prepare()
    const differing = await log.agree({ version: String(VERSION), ...shared })
    if (differing.length > 0)
      throw new SettingError(`This node differs from the cluster in ${differing.join(', ')}. All nodes need the same.`)
    return new Cluster(settings, log, guard, addressOf(settings))
  } catch (reason) {
    await log.close()
    if (reason instanceof SettingError) throw reason
    throw new SettingError(`The log of the cluster cannot be reached: ${(reason as Error).message}`)
  }
}

/** Notices that the database has gone back, also while this node was stopped. */
function guardOf({ data }: Settings): LogGuard {
  const file = new MarkFile(join(data, 'cluster-log.json'))
  return new LogGuard({
    newest: file.read(),
    keep: (mark) => file.write(mark),
    report: ({ message, missing }) =>
      writeLog('error', 'The database of the cluster lacks acknowledged writes. This node does not use it.', {
        reason: message,
        missing,
        next: `Bring back the primary that has them. To continue without them, stop all nodes, copy their data, remove ${file.path} and start again.`,
      }),
  })
}

/** Where other nodes reach this one. */
function addressOf({ cluster, host, port }: Settings): string {
  if (cluster!.advertise !== null) return cluster!.advertise
  if (port === 0 || ['0.0.0.0', '::'].includes(host))
    throw new SettingError('--advertise says where other nodes reach this one, such as http://10.0.0.1:8787.')
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
