import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SettingError } from '../host/settings/setting-error.ts'
import type { Settings } from '../host/settings/settings.ts'
import { type Host, type Start, startHost as startNode } from '../node/host.ts'

const MARK = 'cluster'

/** Starts a host: alone, or as a node of a cluster. */
export async function startHost(settings: Settings, start: Omit<Start, 'cluster'> = {}): Promise<Host> {
  const mark = join(settings.data, MARK)
  if (settings.cluster === null) {
    if (existsSync(mark))
      throw new SettingError(
        `The data folder ${settings.data} belongs to a cluster. Start with --cluster, or choose another.`,
      )
    return startNode(settings, start)
  }
  if (!existsSync(mark) && hasTenants(settings.data))
    throw new SettingError(
      `The data folder ${settings.data} has tenants of a single node. Choose an empty folder, and bring them in with tilde backup and tilde restore.`,
    )
  // Loaded here: most hosts are alone.
  const { openCluster } = await import('./open-cluster.ts')
  const cluster = await openCluster(settings)
  mkdirSync(settings.data, { recursive: true, mode: 0o700 })
  writeFileSync(mark, `${settings.cluster.nodeName}\n`)
  try {
    return await startNode(settings, { ...start, cluster })
  } catch (reason) {
    await cluster.leave().catch(() => {})
    throw reason
  }
}

function hasTenants(data: string): boolean {
  const folder = join(data, 'tenants')
  return existsSync(folder) && readdirSync(folder).length > 0
}
