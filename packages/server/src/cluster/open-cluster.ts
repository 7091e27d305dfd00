import { SettingError } from '../host/settings/setting-error.ts'
import type { Settings } from '../host/settings/settings.ts'
import { Cluster } from './cluster.ts'
import { readAddress } from './postgres/hosts.ts'
import { PostgresLog } from './postgres/postgres-log.ts'
import { sharedSettings } from './shared-settings.ts'

/** The version of the tables and messages that nodes share. */
const VERSION = 1

/** Reaches the log, and makes sure that this node may join. */
export async function openCluster(settings: Settings): Promise<Cluster> {
  const { url, nodeName, lease } = settings.cluster!
  const shared = sharedSettings(settings)
  const log = new PostgresLog({
    address: readAddress(url),
    name: `tildebase ${nodeName}`,
    timeout: Math.max(1_000, lease),
  })
  try {
    await log.prepare()
    const differing = await log.agree({ version: String(VERSION), ...shared })
    if (differing.length > 0)
      throw new SettingError(`This node differs from the cluster in ${differing.join(', ')}. All nodes need the same.`)
    return new Cluster(settings, log, addressOf(settings))
  } catch (reason) {
    await log.close()
    if (reason instanceof SettingError) throw reason
    throw new SettingError(`The log of the cluster cannot be reached: ${(reason as Error).message}`)
  }
}

/** Where other nodes reach this one. */
function addressOf({ cluster, host, port }: Settings): string {
  if (cluster!.advertise !== null) return cluster!.advertise
  if (port === 0 || ['0.0.0.0', '::'].includes(host))
    throw new SettingError('--advertise says where other nodes reach this one, such as http://10.0.0.1:8787.')
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
